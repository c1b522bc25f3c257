"""Fakes at the captain's ports: a clock that stands still, ids that count, and a loop that does what a test says."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from clankie_captain.core.activity import ToolState
from clankie_captain.core.children import Calls, ForkOutcome
from clankie_captain.core.compaction import CompactionOutcome, Digest
from clankie_captain.core.run import Answered, Broken, Draft, Finish, Order, UpdateOutcome, Usage, Words
from clankie_captain.ports import Loop, RunLine, SettledRun, Vitals
from clankie_settings.wire.failure import FailureCode
from clankie_stage.discord.changes import Changes


class StillClock:
    """Time passes only when a test says so; whoever sleeps wakes when it has."""

    def __init__(self) -> None:
        self._now = datetime(2026, 1, 1, tzinfo=UTC)
        self._elapsed = timedelta(hours=1)
        self._sleepers: list[tuple[timedelta, asyncio.Event]] = []

    def now(self) -> datetime:
        return self._now

    def elapsed(self) -> timedelta:
        return self._elapsed

    async def sleep(self, duration: timedelta) -> None:
        woken = asyncio.Event()
        sleeper = (self._elapsed + duration, woken)
        self._sleepers.append(sleeper)
        try:
            await woken.wait()
        finally:
            if sleeper in self._sleepers:
                self._sleepers.remove(sleeper)

    @property
    def sleeping(self) -> int:
        return len(self._sleepers)

    def turn_to(self, change: timedelta) -> None:
        """Set the wall clock, as somebody may; what has elapsed is not touched by it."""
        self._now += change

    def advance(self, duration: timedelta) -> None:
        """Let time pass at once."""
        self._elapsed += duration
        self._now += duration
        for sleeper in [each for each in self._sleepers if each[0] <= self._elapsed]:
            self._sleepers.remove(sleeper)
            sleeper[1].set()


class CountedIds:
    """Ids that count; no two tests that run at once share one."""

    def __init__(self) -> None:
        self._count = 0

    def new(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count:012d}"


@dataclass(frozen=True)
class Say:
    """Answer with this text."""

    text: str | None


@dataclass(frozen=True)
class Fail:
    """End as broken; ``words`` are the provider's."""

    code: FailureCode
    words: str = ""


class Boundary:
    """Go to the next model request."""


class Explode:
    """Raise what no loop should."""


class Write:
    """Stream words without ending the response."""

    def __init__(self, text: str) -> None:
        self.text = text


class Update:
    """Call the update tool."""

    def __init__(self, text: str) -> None:
        self.text = text


@dataclass(frozen=True)
class Tool:
    """A tool call begins or ends."""

    name: str
    state: ToolState


@dataclass(frozen=True)
class Ask:
    """Ask whether a tool may be called; what is said against it becomes the outcome."""

    name: str


@dataclass(frozen=True)
class Fork:
    """Move work to the background by the call of this id; what came of it becomes the outcome."""

    task: str
    call: str = "call_1"


class Deaf:
    """Ignore cancellation until ``let_go`` is set."""

    def __init__(self) -> None:
        self.let_go = asyncio.Event()


Command = Say | Fail | Boundary | Explode | Write | Update | Tool | Ask | Fork | Deaf


@dataclass
class Thought:
    """One stretch of a run that waits for a test's word; ``requests`` holds the texts of each of its requests."""

    order: Order
    line: RunLine
    requests: list[list[str]] = field(default_factory=list[list[str]])
    heard: list[list[Words]] = field(default_factory=list[list[Words]])
    commands: "asyncio.Queue[tuple[Command, asyncio.Future[object]]]" = field(default_factory=lambda: asyncio.Queue(8))
    ended: bool = False

    async def do(self, command: Command) -> object:
        """Give a command and wait until it is done."""
        done: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        await self.commands.put((command, done))
        return await done

    def begin(self, command: Command) -> "asyncio.Future[object]":
        """Give a command without waiting."""
        done: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self.commands.put_nowait((command, done))
        return done


@dataclass
class Writing:
    """Notes that wait for a test's word."""

    digest: Digest
    vitals: Vitals
    written: "asyncio.Future[str | Broken]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class ToldLoop(Loop):
    """A loop at the port that does what a test tells it. ``thoughts`` gives each stretch as it begins."""

    def __init__(self, begin_gate: asyncio.Event | None = None) -> None:
        self.thoughts: asyncio.Queue[Thought] = asyncio.Queue(1000)
        self.writings: asyncio.Queue[Writing] = asyncio.Queue(1000)
        self.live: dict[str, list[Thought]] = {}
        self._begin_gate = begin_gate

    async def think(self, order: Order, line: RunLine) -> Finish:
        thought = Thought(order, line)
        lane = self.live.setdefault(order.lane, [])
        lane.append(thought)
        try:
            if self._begin_gate is not None:
                await self._begin_gate.wait()
            await self._request(thought, [*order.words, *await line.boundary()])
            self.thoughts.put_nowait(thought)
            return await self._follow(thought)
        finally:
            thought.ended = True
            lane.remove(thought)

    @property
    def window(self) -> int | None:
        return None

    @property
    def searcher(self) -> None:
        return None

    async def put_together(self, digest: Digest, vitals: Vitals) -> str | Broken:
        writing = Writing(digest, vitals)
        self.writings.put_nowait(writing)
        return await writing.written

    async def aclose(self) -> None:
        """Nothing to close."""

    async def _follow(self, thought: Thought) -> Finish:
        while True:
            command, done = await thought.commands.get()
            try:
                match command:
                    case Say(text):
                        await thought.line.record([Draft("response", json.dumps(text))])
                        thought.line.spent(Usage(10, 5, 0, 1, 0))
                        done.set_result(None)
                        return Answered(text)
                    case Fail(code, words):
                        done.set_result(None)
                        return Broken(code, "Told", words)
                    case Boundary():
                        await self._request(thought, await thought.line.boundary())
                        done.set_result(None)
                    case Explode():
                        done.set_result(None)
                        _explode()
                    case Deaf():
                        done.set_result(None)
                        await _held(command.let_go)
                    case Update() | Write() | Tool() | Ask() | Fork():
                        done.set_result(await _told(thought.line, command))
            except asyncio.CancelledError:
                done.cancel()
                raise
            except Exception as error:
                if not done.done():
                    done.set_exception(error)
                raise

    async def _request(self, thought: Thought, words: Sequence[Words]) -> None:
        thought.line.requesting()
        texts = [each.text for each in words]
        await thought.line.record([Draft("request", json.dumps(texts))])
        thought.requests.append(texts)
        thought.heard.append([*words])


async def _told(line: RunLine, command: Update | Write | Tool | Ask | Fork) -> UpdateOutcome | ForkOutcome | str | None:
    match command:
        case Ask(name):
            return await line.refusal(name)
        case Fork(task, call):
            return await line.fork(task, Calls(call, f"told {call}", ((call, f"read {call}"),)))
        case Update():
            return await line.update(command.text)
        case Write():
            line.wrote(command.text)
        case Tool(name, state):
            line.tool(name, state)
    return None


async def _held(let_go: asyncio.Event) -> None:
    while not let_go.is_set():
        try:
            await let_go.wait()
        except asyncio.CancelledError:
            continue


def _explode() -> None:
    raise RuntimeError("told to")


class KeptTurnLog:
    """Keeps what would be written down."""

    def __init__(self) -> None:
        self.records: list[SettledRun] = []

    async def settled(self, record: SettledRun) -> None:
        self.records.append(record)


class KeptCompactions:
    """Keeps how compactions ended."""

    def __init__(self) -> None:
        self.outcomes: list[str] = []
        self.changes = Changes()

    def compacted(self, outcome: CompactionOutcome, usage: Usage) -> None:
        self.outcomes.append(outcome)
        self.changes.announce()


__all__ = [
    "Ask", "Boundary", "CountedIds", "Deaf", "Explode", "Fail", "Fork", "KeptCompactions", "KeptTurnLog", "Say",
    "StillClock", "Thought", "ToldLoop", "Tool", "Update", "UpdateOutcome", "Write", "Writing",
]  # fmt: skip
