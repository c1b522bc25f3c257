"""A lane as the loop sees it: entries as text, and a line whose every call is written down."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from clankie_captain.core.activity import ToolState
from clankie_captain.core.children import Calls, Forked, ForkOutcome
from clankie_captain.core.run import (
    CallEnd,
    CallResult,
    Draft,
    Entry,
    Finish,
    Order,
    UpdateOutcome,
    Usage,
    Words,
)
from clankie_captain.core.servers import ServerTool
from clankie_captain.core.stand_ins import without
from clankie_captain.ports import Hands, Loop, NoServers, RunLine, Servers, Web
from clankie_settings.ids import DeliveryId, LaneId, RunId
from tests.captain.making import ToldMachine, ToldWorkshop

INSTRUCTIONS = "You are Clankie."

TOOLS = ("send_text_update",)


def words(*texts: str) -> tuple[Words, ...]:
    return tuple(Words(DeliveryId(f"d-{text[:20]}"), text) for text in texts)


@dataclass
class Lane:
    """Entries as they are stored; a cut takes the older ones away from the model."""

    entries: list[Entry] = field(default_factory=list[Entry])
    finished: dict[str, CallEnd] = field(default_factory=dict[str, CallEnd])
    pictures: dict[str, bytes] = field(default_factory=dict[str, bytes])
    runs: int = 0
    instructions: str = INSTRUCTIONS
    tools: tuple[str, ...] = TOOLS
    served: tuple[ServerTool, ...] = ()

    def order(self, *texts: str) -> Order:
        """What a new run starts with."""
        self.runs += 1
        run = RunId(f"run_{self.runs}")
        history, heard = tuple(self.entries), words(*texts)
        return Order(LaneId("rooms/1"), run, self.instructions, history, heard, self.tools, self.served)

    async def run(self, loop: Loop, *texts: str, line: "Line | None" = None) -> Finish:
        """One run of a loop in this lane."""
        return await self.hear(loop, *words(*texts), line=line)

    async def hear(self, loop: Loop, *heard: Words, line: "Line | None" = None) -> Finish:
        """One run that starts with these words."""
        order = replace(self.order(), words=heard)
        line = line or Line()
        line.lane, line.run = self, order.run
        return await loop.think(order, line)


class Line(RunLine):
    """Writes down what the loop says; steered words and hindrances are put in by tests."""

    def __init__(self) -> None:
        self.lane = Lane()
        self.run = RunId("run_0")
        self.calls: list[str] = []
        self.steered: list[Words] = []
        self.texts: list[str] = []
        self.usage = Usage()
        self.tools: list[tuple[str, ToolState]] = []
        self.updates: list[str] = []
        self.cuts: list[int] = []
        self.unseen: list[str] = []
        self.outcome: UpdateOutcome = UpdateOutcome("posted")
        self.forking: ForkOutcome = Forked(None)
        self.children: list[tuple[str, Lane]] = []
        self.withheld: dict[str, str] = {}
        self.making = ToldWorkshop()
        self.web: Web | None = None
        self.machine = ToldMachine()
        self.servers: Servers = NoServers()
        self.within = timedelta(minutes=4)
        self.while_updating: Callable[[], Awaitable[None]] | None = None
        self.on: Callable[[str], None] = lambda name: None
        self._told = asyncio.Event()

    def _call(self, name: str) -> None:
        self.calls.append(name)
        self._told.set()
        self.on(name)

    async def heard(self, name: str, times: int = 1) -> None:
        """Wait until the loop has said this so often."""
        async with asyncio.timeout(60):
            while self.calls.count(name) < times:
                self._told.clear()
                await self._told.wait()

    async def boundary(self) -> Sequence[Words]:
        self._call("boundary")
        taken, self.steered = self.steered, []
        return taken

    async def record(self, drafts: Sequence[Draft]) -> None:
        self._call("record " + " ".join(draft.kind for draft in drafts))
        for draft in drafts:
            self.lane.entries.append(Entry(len(self.lane.entries), self.run, draft.kind, draft.payload))

    async def picture(self, digest: str) -> bytes | None:
        self._call("picture")
        return self.lane.pictures.get(digest)

    async def unsee(self, gone: Sequence[str]) -> None:
        self._call("unsee")
        self.unseen.extend(gone)
        for at, each in enumerate(self.lane.entries):
            self.lane.entries[at] = replace(each, payload=without(each.payload, gone) or each.payload)

    async def cut(self, kept: int) -> None:
        self._call("cut")
        self.cuts.append(kept)
        del self.lane.entries[: len(self.lane.entries) - kept]

    def event(self) -> None:
        self._call("event")

    def received(self) -> None:
        self._call("received")

    def requesting(self) -> None:
        self._call("requesting")

    def wrote(self, text: str) -> None:
        self._call("wrote")
        self.texts.append(text)

    def tool(self, name: str, state: ToolState) -> None:
        self._call(f"tool {state}")
        self.tools.append((name, state))

    def spent(self, usage: Usage, *, aside: bool = False) -> None:
        self._call("spent aside" if aside else "spent")
        self.usage = self.usage.plus(usage)

    async def refusal(self, tool: str) -> str | None:
        self._call(f"refusal {tool}")
        return self.withheld.get(tool)

    @property
    def hands(self) -> Hands:
        return Hands(self.making, self.machine, servers=self.servers, web=self.web, within=self.within)

    async def fork(self, task: str, calls: Calls) -> ForkOutcome:
        self._call("fork")
        if isinstance(self.forking, Forked):
            child = Lane([*self.lane.entries], {call: CallResult(kept) for call, kept in calls.child})
            self.children.append((task, replace(child, tools=self.lane.tools)))
            self.lane.finished.setdefault(calls.call, CallResult(calls.told))
        return self.forking

    async def finish(self, call: str, payload: str) -> None:
        self._call("finish")
        self.lane.finished[call] = CallResult(payload)

    async def finished(self, call: str) -> CallEnd | None:
        self._call("finished")
        return self.lane.finished.get(call)

    async def update(self, text: str, call: str | None = None) -> UpdateOutcome:
        self._call("update")
        self.updates.append(text)
        if self.while_updating is not None:
            await self.while_updating()
        return self.outcome


class StillClock:
    """Time that passes only by being slept away."""

    def __init__(self) -> None:
        self.slept: list[timedelta] = []

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + self.elapsed()

    def elapsed(self) -> timedelta:
        return sum(self.slept, timedelta())

    async def sleep(self, duration: timedelta) -> None:
        self.slept.append(duration)
