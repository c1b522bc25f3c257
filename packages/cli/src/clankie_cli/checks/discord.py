"""Discord's REST interface, read once with one bot's token."""

import email.utils
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final, Self, cast

import httpx
from pydantic import SecretStr

REST: Final = "https://discord.com/api/v10"
"""The REST root of the real Discord."""

PORTAL: Final = "https://discord.com/developers/applications"
"""Where a bot is made and its switches are."""

PERMISSIONS: Final = 274878024768
"""What an invitation asks for: the permissions of ``permissions.py``, needed and useful."""

_AGENT: Final = "DiscordBot (https://clankie.invalid, 0.1.0)"
_TIMEOUT_S: Final = 15.0

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What Discord answered; status 0 where nothing came.

    Attributes:
        status: The HTTP status.
        body: The JSON of the answer.
        date: Discord's own time.
        fault: Why nothing came.
    """

    status: int
    body: object = None
    date: datetime | None = None
    fault: str = ""

    @property
    def ok(self) -> bool:
        """Whether it is what was asked for."""
        return self.status == HTTPStatus.OK

    @property
    def fields(self) -> Json:
        """The body as an object; empty where it is none."""
        body: Any = self.body
        return cast("Json", body) if isinstance(body, dict) else {}

    @property
    def items(self) -> list[Json]:
        """The objects of a body that is a list."""
        body: Any = self.body
        listed = cast("list[Any]", body) if isinstance(body, list) else []
        return [cast("Json", each) for each in listed if isinstance(each, dict)]

    @property
    def trouble(self) -> str:
        """What is the matter with an answer that is not the one asked for, and what to do."""
        match self.status:
            case 0:
                return f"Discord does not answer ({self.fault}): check this machine's network"
            case 401:
                return f"Discord refuses the token: make another one at {PORTAL}, Bot, Reset Token"
            case 403 | 404:
                return f"Discord does not let him see it ({self.status})"
            case 429:
                return "Discord limits this machine just now: wait a minute and ask again"
            case _:
                return f"Discord answers {self.status}: see https://discordstatus.com, and ask again"


class Discord:
    """Reads, and changes nothing."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    @classmethod
    @asynccontextmanager
    async def opened(cls, token: SecretStr, root: str | None) -> AsyncGenerator[Self]:
        """Discord, or what stands at ``root`` in its place."""
        # As bytes, since a token that was pasted wrong may hold any letter.
        authorization = f"Bot {token.get_secret_value().strip()}".encode()
        headers = {b"Authorization": authorization, b"User-Agent": _AGENT.encode()}
        async with httpx.AsyncClient(
            base_url=root or REST, headers=headers, timeout=_TIMEOUT_S, trust_env=False
        ) as client:
            yield cls(client)

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> Reply:
        """What is there; never raises."""
        try:
            answer = await self._client.get(path, params=query)
        except httpx.HTTPError as error:
            return Reply(0, fault=_cause(error))
        try:
            body: Any = answer.json() if answer.content else None
        except ValueError:
            body = None
        return Reply(answer.status_code, body, _date(answer.headers.get("Date")))


def invitation(application: str) -> str:
    """The address that invites the bot to a server."""
    return f"https://discord.com/oauth2/authorize?client_id={application}&scope=bot&permissions={PERMISSIONS}"


def _cause(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "no answer in time"
    return "no connection" if isinstance(error, httpx.ConnectError) else "the connection broke"


def _date(header: str | None) -> datetime | None:
    try:
        return email.utils.parsedate_to_datetime(header) if header else None
    except ValueError:
        return None
