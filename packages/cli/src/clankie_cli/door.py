"""The captain's door, as the operator uses it. Source: SEC-1."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final, Self, cast

import httpx
from httpx_sse import ServerSentEvent, SSEError, aconnect_sse

from clankie_cli.errors import NotReachable, RefusedError
from clankie_cli.tokens import bearer
from clankie_settings import bounds
from clankie_settings.schema import LaunchSettings
from clankie_settings.wire.version import WIRE_HEADER, WIRE_VERSION

ANSWER_WITHIN: Final = timedelta(seconds=15)
"""How long the captain may take to answer what it need not wait for."""

PIECE_WITHIN: Final = timedelta(minutes=2)
"""How long the next piece of a backup may take."""

SILENCE: Final = 3 * bounds.SSE_COMMENT_EVERY
"""A stream that is silent for so long is dead, since the captain comments more often."""

ANOTHERS: Final = (
    "the captain there does not take this operator's token, so it runs with another state folder: "
    "set CLANKIE_STATE or CLANKIE_OPERATOR_TOKEN as it has them"
)

Json = dict[str, Any]


class Door:
    """The operator's requests to one captain."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    @classmethod
    @asynccontextmanager
    async def opened(cls, settings: LaunchSettings) -> AsyncGenerator[Self]:
        """The door of the captain that is configured.

        Raises:
            NotReachable: Nothing answers there; then no token is made either.
            TokenFileError: The state folder can neither hold nor give the operator's token.
        """
        timeout = httpx.Timeout(ANSWER_WITHIN.total_seconds(), connect=5)
        headers = {WIRE_HEADER: str(WIRE_VERSION)}
        async with httpx.AsyncClient(
            base_url=settings.captain_url, headers=headers, timeout=timeout, trust_env=False
        ) as client:
            try:
                await client.get("/healthz")
            except httpx.HTTPError:
                raise _nothing_at(settings.captain_url) from None
            client.headers.update(bearer(settings, "operator"))
            yield cls(client)

    async def get(self, path: str, query: Mapping[str, str | int] | None = None) -> httpx.Response:
        """What is there.

        Raises:
            NotReachable: There was no answer.
            RefusedError: It was a problem.
        """
        return await self._call("GET", path, params=query)

    async def post(self, path: str, document: Json | None = None) -> Json:
        """What comes of it.

        Raises:
            NotReachable: There was no answer; it may have been done all the same.
            RefusedError: It was a problem.
        """
        return document_of(await self._call("POST", path, json=document))

    async def ask(self, path: str, document: Json) -> Json:
        """What comes of something that may take long.

        Raises:
            NotReachable: The connection broke; it may have been done all the same.
            RefusedError: It was a problem.
        """
        limits = httpx.Timeout(None, connect=5)
        return document_of(await self._call("POST", path, json=document, timeout=limits))

    async def download(self, path: str, take: Callable[[bytes], None]) -> None:
        """Everything that is there, piece by piece.

        Raises:
            NotReachable: It broke off before its end.
            RefusedError: It was a problem.
        """
        limits = httpx.Timeout(PIECE_WITHIN.total_seconds(), connect=5)
        try:
            async with self._client.stream("GET", path, timeout=limits) as answer:
                if not answer.is_success:
                    await answer.aread()
                    raise _refused(answer)
                async for chunk in answer.aiter_raw():
                    take(chunk)
        except httpx.HTTPError:
            raise NotReachable("it broke off before its end; the captain's log says why. Try again") from None

    async def turn(self, delivery: str, wait: timedelta) -> Json | None:
        """The result of a turn, waited for so long (at most a minute); None while there is none.

        Raises:
            NotReachable: There was no answer.
            RefusedError: It was a problem.
        """
        seconds = int(min(wait.total_seconds(), bounds.WAIT_SECONDS))
        answer = await self._call(
            "GET",
            f"/v1/turns/{delivery}",
            headers={"Prefer": f"wait={seconds}"},
            timeout=seconds + bounds.READ_MARGIN.total_seconds(),
        )
        return None if answer.status_code == HTTPStatus.ACCEPTED else document_of(answer)

    async def follow(self, path: str, after: str | None) -> AsyncGenerator[ServerSentEvent | None]:
        """The events of a stream after one of them, until it ends; first None, once the stream is open.

        Raises:
            NotReachable: The connection could not be made, or broke.
            RefusedError: It was a problem.
        """
        headers = {} if after is None else {"Last-Event-ID": after}
        limits = httpx.Timeout(SILENCE.total_seconds(), connect=5)
        try:
            async with aconnect_sse(self._client, "GET", path, headers=headers, timeout=limits) as source:
                if source.response.status_code != HTTPStatus.OK:
                    await source.response.aread()
                    raise _refused(source.response)
                yield None
                async for event in source.aiter_sse():
                    # A comment that keeps the stream alive ends as an empty event that repeats the last id.
                    if event.data:
                        yield event
        except (httpx.HTTPError, SSEError):
            raise _nothing_at(str(self._client.base_url)) from None

    async def _call(self, method: str, path: str, **request: Any) -> httpx.Response:
        try:
            answer = await self._client.request(method, path, **request)
        except httpx.HTTPError:
            raise _nothing_at(str(self._client.base_url)) from None
        if not answer.is_success:
            raise _refused(answer)
        return answer


def document_of(answer: httpx.Response) -> Json:
    """The JSON object of an answer; empty where it is none."""
    try:
        said: Any = answer.json()
    except ValueError:
        return {}
    return cast("Json", said) if isinstance(said, dict) else {}


def _nothing_at(url: str) -> NotReachable:
    return NotReachable(f"nothing answers at {url.rstrip('/')}; start it with: clankie up")


def _refused(answer: httpx.Response) -> RefusedError:
    said = document_of(answer)
    if answer.status_code == HTTPStatus.UNAUTHORIZED:
        return RefusedError(answer.status_code, "token_unknown", ANOTHERS)
    strange = f"it answers {answer.status_code}, which is no captain's answer; is the port right?"
    return RefusedError(answer.status_code, str(said.get("code", "strange")), str(said.get("detail", strange)))
