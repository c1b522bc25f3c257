"""The real captain, whose steps stop at named places until a test lets them go: ``python held_captain.py PORT``.

At each place it asks whoever listens at the port, and goes on with the answer: ``go``, or ``deaf`` for a captain from
which the check at that place was taken away.

    think     a run was accepted, and has not looked for steered words yet
    request   steered words were looked for, and the request is not on disk yet
    update    the tool runs, and its action is not on disk yet
    settle    the model has finished, and the run is not settled yet
    settled   the run is settled, and its runner has not ended yet
"""

import asyncio
import sys
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from types import ModuleType
from typing import Any, cast

from clankie_captain import __main__ as entry
from clankie_captain import app as composition
from clankie_captain.agent.model import build_loop
from clankie_captain.app import assembly
from clankie_captain.core.compaction import EMPTY, Digest, Fill
from clankie_captain.core.reply import Reply
from clankie_captain.core.run import Broken, Draft, Finish, Order, Usage, Words
from clankie_captain.core.settlement import RunOn, RunTurn, Settlement, settlement
from clankie_captain.core.turns import LiveRun, Numbered, Settling
from clankie_captain.ports import Loop, RunLine, Searcher, Vitals
from clankie_captain.store import runs
from clankie_captain.store.actions import ActionStore
from clankie_captain.store.runs import RunStore
from clankie_settings.clock import Clock
from clankie_settings.ids import RunId
from clankie_settings.schema import CaptainSettings
from clankie_settings.wire.action import StoredAction

PORT = int(sys.argv[1])


async def passed(place: str) -> str:
    """Ask the test at this place; its answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    try:
        writer.write(f"{place}\n".encode())
        return (await reader.readline()).decode().strip()
    finally:
        writer.close()


class HeldLine:
    """A run's line that stops before a request is on disk; a deaf one hears nothing at its first boundary."""

    def __init__(self, line: RunLine, *, deaf: bool) -> None:
        self._line = line
        self._deaf = deaf

    def __getattr__(self, name: str) -> Any:
        return getattr(self._line, name)

    async def boundary(self) -> Sequence[Words]:
        deaf, self._deaf = self._deaf, False
        return () if deaf else await self._line.boundary()

    async def record(self, drafts: Sequence[Draft]) -> None:
        if any(each.kind == "request" for each in drafts):
            await passed("request")
        await self._line.record(drafts)


class HeldLoop(Loop):
    """The real loop, stopped before it begins."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    async def think(self, order: Order, line: RunLine) -> Finish:
        deaf = await passed("think") == "deaf"
        return await self._loop.think(order, cast("RunLine", HeldLine(line, deaf=deaf)))

    @property
    def window(self) -> int | None:
        return self._loop.window

    @property
    def searcher(self) -> Searcher | None:
        return self._loop.searcher

    async def put_together(self, digest: Digest, vitals: Vitals) -> str | Broken:
        return await self._loop.put_together(digest, vitals)

    async def aclose(self) -> None:
        await self._loop.aclose()


class HeldRuns(RunStore):
    """The real runs, stopped around a settlement."""

    async def settle(
        self, run: LiveRun, ending: Reply | Broken, usage: Usage, follower: RunId, at: datetime, fill: Fill = EMPTY
    ) -> Settling:
        deaf = await passed("settle") == "deaf"
        put(runs, "settlement", deaf_settlement if deaf else settlement)
        settled = await super().settle(run, ending, usage, follower, at, fill)
        await passed("settled")
        return settled


class HeldActions(ActionStore):
    """The real actions, stopped before one is kept."""

    async def add(
        self, run: LiveRun, action: StoredAction, at: datetime, most: int, call: str | None = None
    ) -> Numbered | None:
        await passed("update")
        return await super().add(run, action, at, most, call)


def deaf_settlement(
    run: RunId, ending: Reply | Broken, turns: Sequence[RunTurn], after_action: int | None = None
) -> RunOn | Settlement:
    """The settlement without its look at what was steered and not heard."""
    return settlement(run, ending, [each for each in turns if each.hearing != "unheard"], after_action)


def put(module: ModuleType, name: str, held: object) -> None:
    """Let a module use something held under one of its names."""
    assert hasattr(module, name), f"nothing reads {name} there any more"
    setattr(module, name, held)


def held_loop(settings: CaptainSettings, clock: Clock) -> Loop:
    """The configured loop, held."""
    return HeldLoop(build_loop(settings, clock))


def main() -> int:
    """Be the captain."""
    build = composition.build
    composition.build = partial(build, make_loop=held_loop)
    put(assembly, "RunStore", HeldRuns)
    put(assembly, "ActionStore", HeldActions)
    return entry.main()


if __name__ == "__main__":
    sys.exit(main())
