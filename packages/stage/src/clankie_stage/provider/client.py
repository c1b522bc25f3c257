"""Steers a provider that runs in another process."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Self, cast

import aiohttp

from clankie_stage.provider.beats import Step
from clankie_stage.provider.brain import WITHIN_S
from clankie_stage.provider.notation import encode_step
from clankie_stage.provider.records import Record, decode_record
from clankie_stage.provider.shapes import JsonObject, mapping, sequence

_GRACE_S = 30.0


class ControlError(Exception):
    """The provider refused a control request; the message is its reason."""


class ProviderClient:
    """The same verbs as ``Brain`` over HTTP; ``url`` is the provider's root, ``…/provider`` when mounted there."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url.rstrip("/")

    @classmethod
    @asynccontextmanager
    async def connected(cls, url: str) -> AsyncGenerator[Self]:
        """A client with its own HTTP session, closed when the block is left."""
        async with aiohttp.ClientSession() as session:
            yield cls(session, url)

    async def script(self, *steps: Step) -> None:
        """Append steps; a request takes the first one that fits it.

        Raises:
            ControlError: The provider does not take them.
        """
        await self._ask("POST", "script", {"steps": [encode_step(step) for step in steps]})

    async def unused(self) -> int:
        """How many steps still wait for a request."""
        return cast("int", (await self._ask("GET", "habits"))["unused"])

    async def habits(self, **changes: object) -> JsonObject:
        """Change habits by name, ``limits`` as a mapping of what changes; answers all of them."""
        return await self._ask("PATCH", "habits", changes)

    async def open(self, barrier: str) -> None:
        """Let every answer pass that waits at the barrier, now and later."""
        await self._ask("POST", f"barriers/{barrier}/open")

    async def arrived(self, barrier: str, count: int = 1, within_s: float = WITHIN_S) -> None:
        """Return when so many answers have come to the barrier.

        Raises:
            TimeoutError: They did not within ``within_s`` seconds, at most 60.
        """
        await self._ask("GET", f"barriers/{barrier}?count={count}&wait={within_s}", within_s=within_s)

    async def wait_requests(self, count: int, within_s: float = WITHIN_S) -> list[Record]:
        """All records, once so many requests have arrived, whether answered or not.

        Raises:
            TimeoutError: They did not within ``within_s`` seconds, at most 60.
        """
        return await self._records(f"requests?count={count}&wait={within_s}", within_s)

    async def wait_ended(self, count: int, within_s: float = WITHIN_S) -> list[Record]:
        """All records, once so many requests have ended: answered, refused, cut or left by the client.

        Raises:
            TimeoutError: They did not within ``within_s`` seconds, at most 60.
        """
        return await self._records(f"requests?ended=1&count={count}&wait={within_s}", within_s)

    async def records(self, first: int = 0) -> list[Record]:
        """All records so far, oldest first, from the one with the index ``first`` on."""
        return await self._records(f"requests?from={first}", 0)

    async def reset(self) -> None:
        """Back to the beginning: nothing scripted, recorded, cached, held back or in flight."""
        await self._ask("POST", "reset")

    async def _records(self, path: str, within_s: float) -> list[Record]:
        answer = await self._ask("GET", path, within_s=within_s)
        return [decode_record(mapping(item) or {}) for item in sequence(answer["requests"]) or []]

    async def _ask(self, method: str, path: str, body: JsonObject | None = None, within_s: float = 0) -> JsonObject:
        timeout = aiohttp.ClientTimeout(total=within_s + _GRACE_S)
        url = f"{self._url}/_control/{path}"
        async with self._session.request(method, url, json=body, timeout=timeout) as response:
            answer = mapping(cast("object", await response.json())) or {}
            if response.status == 408:
                raise TimeoutError(str(answer.get("error")))
            if response.status != 200:
                raise ControlError(str(answer.get("error")))
            return answer
