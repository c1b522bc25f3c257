"""The few REST calls that the bridge makes, one attempt each.

hikari's own client is not used for these: it repeats a refused request without a pause where Discord names no bucket
(a global limit, for one), repeats a POST by itself before our sender can judge it, and loses a stored message
whose answer it cannot read. Who waits, and for how long, is decided in one place here: ``send.py``.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Self

import httpx

from clankie_bridge.discord.caution import Caution
from clankie_bridge.discord.payloads import NO_OBJECT, Json, json_object
from clankie_bridge.errors import DiscordAway

DISCORD: Final = "https://discord.com/api/v10"
"""The REST root of the real Discord."""

_AGENT: Final = "DiscordBot (https://clankie.invalid, 0.1.0)"
_WHOLE_CALL_S: Final = 30.0
_SLOWEST_LINE: Final = 512 * 1024
"""Bytes a second that an upload is expected to make at least."""

_UNNAMED_WAIT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What Discord answered. ``wait_s`` is set on a 429; ``everywhere`` says that it holds for every route."""

    status: int
    body: Any = None
    wait_s: float = 0.0
    everywhere: bool = False

    @property
    def ok(self) -> bool:
        """Whether it was done."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES

    @property
    def fields(self) -> Json:
        """The body as an object; empty where it is none."""
        return json_object(self.body)

    @property
    def code(self) -> int:
        """Discord's own error code, 0 where it gave none."""
        code = self.fields.get("code")
        return code if isinstance(code, int) else 0


@dataclass(frozen=True, slots=True)
class Upload:
    """A file of a request."""

    filename: str
    data: bytes
    media_type: str


class Rest:
    """Discord's REST interface with one bot's token; use as an async context."""

    def __init__(
        self,
        token: str,
        root: str = DISCORD,
        transport: httpx.AsyncBaseTransport | None = None,
        caution: Caution | None = None,
    ) -> None:
        self._caution = caution
        self._client = httpx.AsyncClient(
            base_url=root,
            headers={"Authorization": f"Bot {token}", "User-Agent": _AGENT},
            timeout=httpx.Timeout(15.0, connect=5.0),
            limits=httpx.Limits(max_connections=64, max_keepalive_connections=16),
            transport=transport,
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> Answer:
        """Read something.

        Raises:
            DiscordAway: There was no answer.
        """
        return await self._call("GET", path, params=query)

    async def post(self, path: str, json: Json | None = None, files: Sequence[Upload] = ()) -> Answer:
        """Make something; with files the JSON goes along as a form's part, and a slow line is given more time.

        Raises:
            DiscordAway: There was no answer; it may have been done all the same.
        """
        if not files:
            return await self._call("POST", path, json=json)
        form: dict[str, tuple[str | None, bytes, str]] = {
            "payload_json": (None, httpx.Request("POST", "http://x", json=json).content, "application/json")
        }
        for index, each in enumerate(files):
            form[f"files[{index}]"] = (each.filename, each.data, each.media_type)
        within = _WHOLE_CALL_S + sum(len(each.data) for each in files) / _SLOWEST_LINE
        return await self._call("POST", path, within=within, files=form)

    async def patch(self, path: str, json: Json) -> Answer:
        """Change something.

        Raises:
            DiscordAway: There was no answer; it may have been done all the same.
        """
        return await self._call("PATCH", path, json=json)

    async def call(self, method: str, path: str, json: Json | None = None) -> Answer:
        """Any call without a file.

        Raises:
            DiscordAway: There was no answer; it may have been done all the same.
        """
        return await self._call(method, path, json=json)

    async def _call(self, method: str, path: str, within: float = _WHOLE_CALL_S, **request: Any) -> Answer:
        if self._caution is not None:
            self._caution.check()
        try:
            async with asyncio.timeout(within):
                response = await self._client.request(method, path, **request)
        except (httpx.HTTPError, TimeoutError) as error:
            # From None: the library's words hold the address.
            raise DiscordAway(_cause(error)) from None
        if self._caution is not None:
            self._caution.judge(response.status_code, response.headers.get("X-RateLimit-Scope"))
        return _answer(response)


def _cause(error: Exception) -> str:
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return "timeout"
    return "no_connection" if isinstance(error, httpx.ConnectError) else "connection_lost"


def _answer(response: httpx.Response) -> Answer:
    try:
        body: Any = response.json() if response.content else None
    except ValueError:
        body = None
    if response.status_code != HTTPStatus.TOO_MANY_REQUESTS:
        return Answer(response.status_code, body)
    # A 429 that is no JSON comes from the shield before Discord and means the whole address.
    named = json_object(body)
    wait = _seconds(named.get("retry_after"))
    if wait is None:
        wait = _seconds(response.headers.get("Retry-After"))
    everywhere = named is NO_OBJECT or named.get("global") is True
    return Answer(response.status_code, body, _UNNAMED_WAIT_S if wait is None else wait, everywhere)


def _seconds(value: object) -> float | None:
    if not isinstance(value, str | int | float):
        return None
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if 0 <= seconds < 1e6 else None
