"""The control of a stage in another process."""

from types import TracebackType
from typing import Any, Self

import aiohttp

Json = dict[str, Any]

SLACK_S = 30.0
"""Seconds on top of a verb's own wait before the connection is given up."""


class StageError(Exception):
    """The stage refused a verb.

    Attributes:
        status: 404 something named is not there, 422 wrong arguments, 504 a wait ran out.
    """

    def __init__(self, verb: str, status: int, detail: str) -> None:
        super().__init__(f"{verb}: {detail}")
        self.status = status


class StageClient:
    """Calls the verbs of `clankie_stage.discord.control.Control` over HTTP.

    Use it as ``async with StageClient("http://127.0.0.1:4320") as stage: await stage.say("Ann", "hello")``.
    Every verb takes the keyword arguments of the method of the same name.
    """

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url.rstrip("/")
        self._http: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._http = aiohttp.ClientSession(trust_env=False)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._http is not None:
            await self._http.close()

    async def call(self, verb: str, /, **arguments: Any) -> Any:
        """Call any verb.

        Raises:
            StageError: the stage refused it.
            TimeoutError: a wait ran out.
        """
        if self._http is None:
            raise RuntimeError("enter the client first: async with StageClient(...) as stage")
        timeout = aiohttp.ClientTimeout(total=float(arguments.get("within_s", 60.0)) + SLACK_S)
        async with self._http.post(f"{self.base_url}/_stage/{verb}", json=arguments, timeout=timeout) as response:
            answer: Json = await response.json(content_type=None)
        if response.status == 504:
            raise TimeoutError(f"{verb}: {answer['detail']}")
        if response.status >= 400:
            raise StageError(verb, response.status, str(answer.get("detail")))
        return answer["value"]

    async def say(self, user: str, content: str = "", **how: Any) -> Json:
        """Post a message as somebody; see `Control.say`."""
        return await self.call("say", user=user, content=content, **how)

    async def edit(self, message: str, content: str) -> Json:
        """Edit a message as its author."""
        return await self.call("edit", message=message, content=content)

    async def delete(self, message: str) -> None:
        """Delete a message."""
        await self.call("delete", message=message)

    async def unfurl(self, message: str, embeds: list[Json]) -> Json:
        """Let link previews arrive late."""
        return await self.call("unfurl", message=message, embeds=embeds)

    async def fault(self, **order: Any) -> str:
        """Order a fault; see `Control.fault`."""
        return await self.call("fault", **order)

    async def release(self, hold: str) -> None:
        """Let held requests go on."""
        await self.call("release", hold=hold)

    async def behave(self, **settings: Any) -> None:
        """Change how the stage behaves; see `Behaviour`."""
        await self.call("behave", **settings)

    async def mark(self) -> int:
        """The index of the newest recorded entry."""
        return await self.call("mark")

    async def messages(self, room: str = "general") -> list[Json]:
        """The messages of a room, oldest first."""
        return await self.call("messages", room=room)

    async def recorded(self, match: Json | None = None, *, after: int = 0) -> list[Json]:
        """Recorded entries that fit."""
        return await self.call("recorded", match=match or {}, after=after)

    async def typings(self, room: str = "general", *, after: int = 0) -> list[Json]:
        """The bot's typing calls in a room."""
        return await self.call("typings", room=room, after=after)

    async def wait(self, match: Json, *, count: int = 1, after: int = 0, within_s: float = 10.0) -> list[Json]:
        """Recorded entries that fit, once there are enough.

        Raises:
            TimeoutError: there were fewer in time.
        """
        return await self.call("wait", match=match, count=count, after=after, within_s=within_s)

    async def wait_messages(
        self, room: str = "general", *, match: Json | None = None, count: int = 1, within_s: float = 10.0
    ) -> list[Json]:
        """Messages of a room that fit, once there are enough.

        Raises:
            TimeoutError: there were fewer in time.
        """
        return await self.call("wait_messages", room=room, match=match, count=count, within_s=within_s)

    async def wait_connected(self, *, count: int = 1, within_s: float = 10.0) -> int:
        """How many bots are connected, once there are enough.

        Raises:
            TimeoutError: there were fewer in time.
        """
        return await self.call("wait_connected", count=count, within_s=within_s)

    async def reset(self) -> None:
        """Start over."""
        await self.call("reset")
