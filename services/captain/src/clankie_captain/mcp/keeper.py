"""One server: connected, looked after, connected again, and asked. Source: GRANT-1, FAIL-1."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Literal, Never, cast

import structlog
from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED

from clankie_captain.core.servers import Told
from clankie_captain.mcp.answers import Words, words
from clankie_captain.mcp.connection import Connection, connected
from clankie_captain.ports.servers import NotServedError, ServerLog
from clankie_captain.ports.workshop import Progress
from clankie_settings import bounds
from clankie_settings.clock import Clock
from clankie_settings.servers import Server

REMEDY: Final = "run clankie doctor; docs/mcp.md says what a server needs"
"""What to do about a server that is down."""

AWAITED: Final = timedelta(seconds=10)
"""How long a call waits for a server that is just being started."""

SETTLED: Final = timedelta(minutes=1)
"""A server that was there for so long is started again without the pauses that its earlier ends had earned."""

State = Literal["starting", "up", "down"]
"""Being connected; there; gone, or not to be had, until the pause is over."""

Learn = Callable[[Sequence[Told]], Awaitable[None]]
"""Told what tools a server has."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things take: between two looks, the first pause, and one call at most."""

    look: timedelta = bounds.SERVER_LOOK
    pause: timedelta = bounds.SERVER_PAUSE
    call: timedelta = bounds.SERVER_CALL_TIME


class Keeper:
    """Keeps one server; ``run`` is a task of its own, calls come from the tasks of runs."""

    def __init__(self, name: str, server: Server, learn: Learn, clock: Clock, log: ServerLog, pace: Pace) -> None:
        self._name = name
        self._server = server
        self._learn = learn
        self._clock = clock
        self._log = log
        self._pace = pace
        self._turns = asyncio.Semaphore(bounds.SERVER_CALLS)
        self._stirred = asyncio.Event()
        self._known = asyncio.Event()
        self._connection: Connection | None = None
        self.state: State = "starting"

    async def run(self) -> Never:
        """Keep it until cancelled; then it is ended."""
        pause = self._pace.pause
        while True:
            self._stand("starting")
            began = self._clock.elapsed()
            cause = await self._ended()
            self._stand("down")
            if self._clock.elapsed() - began > SETTLED:
                pause = self._pace.pause
            _log.warning("server.down", server=self._name, cause=cause, remedy=REMEDY)
            await self._clock.sleep(pause)
            pause = min(2 * pause, bounds.SERVER_PAUSE_LONGEST)

    async def call(self, tool: str, arguments: Mapping[str, Any], progress: Progress) -> Words:
        """What a tool of it answers.

        Raises:
            NotServedError: It is down, too slow, or answers with what cannot be read.
        """
        if (connection := await self._reached()) is None:
            self._log.called("down")
            raise NotServedError(f"the server {self._name} does not answer now")
        try:
            async with asyncio.timeout(self._pace.call.total_seconds()), self._turns:
                said = await self._asked(connection, tool, arguments, progress)
        except TimeoutError:
            self._log.called("late")
            seconds = round(self._pace.call.total_seconds())
            raise NotServedError(
                f"the server {self._name} gave no answer within {seconds} s; whether it did it is not known"
            ) from None
        self._log.called("failed" if said.failed else "answered")
        return said

    async def _reached(self) -> Connection | None:
        with suppress(TimeoutError):
            async with asyncio.timeout(AWAITED.total_seconds()):
                await self._known.wait()
        return self._connection

    async def _asked(
        self, connection: Connection, tool: str, arguments: Mapping[str, Any], progress: Progress
    ) -> Words:
        try:
            return words(await connection.call(tool, arguments, progress))
        except MCPError as error:
            # It may be its word, or all that is left of it.
            self._stirred.set()
            if error.code != CONNECTION_CLOSED:
                return Words(error.message, failed=True)
        except TimeoutError:
            raise
        except Exception as error:  # noqa: BLE001 -- what a server sends may fail anywhere in the client
            _log.warning("server.unread", server=self._name, cause=type(error).__name__)
        self._stirred.set()
        self._log.called("unread")
        raise NotServedError(
            f"the server {self._name} broke off, or answered with what cannot be read; whether it did it is not known"
        )

    async def _ended(self) -> str:
        """Be connected until that ends; the name of what ended it."""
        try:
            async with connected(self._server, self._stirred.set) as connection:
                await self._attended(connection)
        except asyncio.CancelledError:
            if _called_off():
                raise
            return "Closed"
        except Exception as error:  # noqa: BLE001 -- whatever a server does costs this connection and nothing else
            if _called_off():
                # A farewell that hangs or fails would otherwise take the place of the word that all is over.
                raise asyncio.CancelledError from None
            return type(leaf(error)).__name__
        else:
            return "Closed"
        finally:
            self._connection = None

    async def _attended(self, connection: Connection) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(connection.heed(self._stirred.set))
            while True:
                self._stirred.clear()
                async with asyncio.timeout(bounds.SERVER_LOOK_TIME.total_seconds()):
                    told = await connection.tools()
                await self._learn(told)
                self._connection = connection
                self._stand("up")
                # However often it says that they have changed, it is not asked all the time.
                await self._clock.sleep(self._pace.pause)
                try:
                    async with asyncio.timeout(self._pace.look.total_seconds()):
                        await self._stirred.wait()
                except TimeoutError:
                    continue

    def _stand(self, state: State) -> None:
        if state == "up" and self.state != "up":
            _log.info("server.up", server=self._name)
        self.state = state
        if state == "starting":
            self._known.clear()
        else:
            self._known.set()


def _called_off() -> bool:
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def leaf(error: BaseException) -> BaseException:
    """The first fault of those that came together."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
