"""A live run's line to its lane: what the loop says and takes. Source: LANE-3, LANE-9, LANE-10, ROOM-2, ROOM-3."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import reduce
from typing import Final, TypeVar

from pydantic import ValidationError

from clankie_captain.core import children, crash_points
from clankie_captain.core.activity import Activity, ToolState, after
from clankie_captain.core.children import Fork, Forked, ForkOutcome, Unforked
from clankie_captain.core.exhibits import PictureCounts
from clankie_captain.core.reply import Said, read_reply
from clankie_captain.core.run import CallEnd, CallResult, Draft, UpdateOutcome, Usage, Words, room_refused
from clankie_captain.core.silence import Gate
from clankie_captain.core.turns import Heard, LiveRun, Pending, Underway
from clankie_captain.errors import FencedError
from clankie_captain.lanes.framing import framed
from clankie_captain.lanes.gallery import Gallery
from clankie_captain.lanes.grants import Grants
from clankie_captain.lanes.patience import kept
from clankie_captain.lanes.signals import Nudge, Requesting, Sign, Signals, Token, ToolUse
from clankie_captain.lanes.waiters import Waiters
from clankie_captain.lanes.watchdog import Watchdog
from clankie_captain.ports import Actions, Calls, Children, Hands, Lanes
from clankie_settings import bounds
from clankie_settings.clock import Clock, Ids
from clankie_settings.crashing import Crash, NoCrash
from clankie_settings.ids import ChildId, DeliveryId, RunId
from clankie_settings.wire.action import Clear, TextUpdate, ToolActivity, Typing
from clankie_settings.wire.receipt import ActionReceipt

T = TypeVar("T")

_REFUSED: Final = {
    "many": f"{bounds.UPDATES_A_TURN} updates were sent in this turn already; put the rest into your reply",
    "words": f"an update has 1 to {bounds.UPDATE_CHARS} characters of words",
    "background": "you are in the background; say it in your last message",
    "place": "there is no text room here to write to",
}


@dataclass(slots=True)
class Tally:
    """What a run has cost and done so far; contexts are input tokens of the first and the latest request."""

    usage: Usage = field(default_factory=Usage)
    context_start: int = 0
    context_end: int = 0
    events: int = 0
    seen: dict[DeliveryId, PictureCounts] = field(default_factory=dict[DeliveryId, PictureCounts])

    @property
    def pictures(self) -> PictureCounts:
        """What became of the pictures of all deliveries."""
        return reduce(PictureCounts.plus, self.seen.values(), PictureCounts())


@dataclass(frozen=True, slots=True)
class LineParts:
    """What every line needs."""

    lanes: Lanes
    actions: Actions
    signals: Signals
    receipts: Waiters[ActionReceipt]
    clock: Clock
    ids: Ids
    calls: Calls
    gallery: Gallery
    grants: Grants
    hands: Hands
    children: Children
    crash: Crash = field(default_factory=NoCrash)


class Line:
    """One run's line; it goes dead with the run, and everything said on a dead line is refused.

    ``tools`` names those that the run was offered.
    """

    def __init__(self, parts: LineParts, run: LiveRun, watchdog: Watchdog, begin: Callable[[LiveRun], None]) -> None:
        self._begin = begin
        self._parts = parts
        self._run = run
        self._watchdog = watchdog
        self._gate = Gate()
        self._taken: list[Heard] = []
        self._speaker = run.owner
        self._repeating: dict[str, asyncio.Task[None]] = {}
        self._activity: Activity | None = None
        self._dead = False
        self._answering = True
        self._half: list[str] = []
        self.tally = Tally()
        self.tools: tuple[str, ...] = ()

    def opening(self, owner: Pending) -> Words:
        """The owner's own words, which the first request carries."""
        return self._framed(owner, frozenset(), steered=False)

    @property
    def half(self) -> str:
        """What the model has written of a response that is not whole."""
        return "".join(self._half)

    async def boundary(self) -> Sequence[Words]:
        """The steered words that the next request carries."""
        self._alive()
        known: set[str] = {message for each in self._taken for message in each.backlog}
        found: list[Words] = []
        held = {each.delivery for each in self._taken}
        for pending in await self._kept(lambda: self._parts.lanes.take(self._run, self._parts.clock.now())):
            if pending.delivery not in held:
                found.append(self._framed(pending, frozenset(known), steered=True))
                known.update(self._taken[-1].backlog)
        self._alive()
        return found

    async def record(self, drafts: Sequence[Draft]) -> None:
        """Store entries; a request makes heard what was taken for it."""
        self._alive()
        heard = tuple(self._taken) if any(each.kind == "request" for each in drafts) else ()
        await self._kept(lambda: self._parts.lanes.record(self._run, drafts, heard, self._parts.clock.now()))
        self._half.clear()
        if heard:
            self._taken = self._taken[len(heard) :]
            self._speaker = heard[-1].delivery

    async def cut(self, kept: int) -> None:
        """Shorten the lane's history."""
        self._alive()
        await self._kept(lambda: self._parts.lanes.cut(self._run, kept))

    async def picture(self, digest: str) -> bytes | None:
        """The bytes of a stored picture."""
        return await self._parts.gallery.picture(digest)

    async def unsee(self, gone: Sequence[str]) -> None:
        """Let words stand where pictures stood."""
        self._alive()
        await self._kept(lambda: self._parts.gallery.unsee(self._run, gone))

    def event(self) -> None:
        """A sign of life."""
        self._alive()
        self.tally.events += 1
        self._watchdog.event()

    def received(self) -> None:
        """Bytes without an event."""
        if not self._answering:
            self._answering = True
            self._parts.crash.reach(crash_points.FIRST_BYTE)
        self._watchdog.received()

    def requesting(self) -> None:
        """A model request begins."""
        self._alive()
        self._answering = False
        self._half.clear()
        self._gate = Gate()
        self._watch(Requesting(self._run.owner))

    def wrote(self, text: str) -> None:
        """Further words of the present response."""
        self.event()
        self._half.append(text)
        self._watch(Token(self._run.owner, text))
        if self._gate.feed(text):
            self._repeat("typing", bounds.TYPING_EVERY, lambda: Typing(delivery_id=self._run.owner))

    def tool(self, name: str, state: ToolState) -> None:
        """A tool call began or ended."""
        self.event()
        self._watch(ToolUse(self._run.owner, name, state))
        began = self._activity or Activity(self._parts.clock.elapsed())
        self._activity = after(began, name, state, served=self._parts.hands.servers.serves(name))
        if "activity" in self._repeating:
            self._show(self._working())
        self._repeat("activity", bounds.ACTIVITY_EVERY, self._working)
        self._parts.crash.reach(crash_points.TOOL_STARTED if state == "started" else crash_points.TOOL_ENDED)

    def spent(self, usage: Usage, *, aside: bool = False) -> None:
        """The cost of one request; what a tool asked a model of its own says nothing of the lane's context."""
        if not aside:
            if not self.tally.usage.requests:
                self.tally.context_start = usage.input_tokens
            self.tally.context_end = usage.input_tokens + usage.output_tokens
        self.tally.usage = self.tally.usage.plus(usage)

    async def finish(self, call: str, payload: str) -> None:
        """Keep the result of a call."""
        self._alive()
        result, now = CallResult(payload), self._parts.clock.now()
        await self._kept(lambda: self._parts.calls.finish(self._run, call, result, now))
        self._parts.crash.reach(crash_points.CALL_FINISHED)

    async def finished(self, call: str) -> CallEnd | None:
        """What is known of a call; words that are still on their way are waited for as their tool would."""
        self._alive()
        known = await self._parts.calls.finished(self._run, call)
        if not isinstance(known, Underway):
            return known
        with self._parts.receipts.ticket(known.action) as ticket:
            # Once more, since the receipt may have come before the ticket was there.
            known = await self._parts.calls.finished(self._run, call)
            return _outcome(await ticket.value(bounds.ACTION_RECEIPT_WAIT)) if isinstance(known, Underway) else known

    async def refusal(self, tool: str) -> str | None:
        """Why a tool may not be called."""
        self._alive()
        return await self._kept(lambda: self._parts.grants.refusal(self._run, tool))

    @property
    def hands(self) -> Hands:
        """What tools work with."""
        return self._parts.hands

    async def update(self, text: str, call: str | None = None) -> UpdateOutcome:
        """Post mid-turn words."""
        self._alive()
        if self._run.lane.forked_from is not None:
            return UpdateOutcome("refused", _REFUSED["background"])
        if self._run.lane.kind not in ("room", "one_shot"):
            return UpdateOutcome("refused", _REFUSED["place"])
        words = read_reply(text, self.tools)
        if not isinstance(words, Said):
            return UpdateOutcome("refused", _REFUSED["words"])
        action_id = self._parts.ids.new("act")
        try:
            action = TextUpdate(action_id=action_id, delivery_id=self._speaker, text=words.text)
        except ValidationError:
            return UpdateOutcome("refused", _REFUSED["words"])
        with self._parts.receipts.ticket(action_id) as ticket:
            now = self._parts.clock.now()
            most, actions = bounds.UPDATES_A_TURN, self._parts.actions
            if await self._kept(lambda: actions.add(self._run, action, now, most, call)) is None:
                return UpdateOutcome("refused", _REFUSED["many"])
            self._parts.signals.send(self._run.presence, Nudge())
            self._parts.crash.reach(crash_points.UPDATE_STORED)
            receipt = await ticket.value(bounds.ACTION_RECEIPT_WAIT)
        self._parts.crash.reach(crash_points.UPDATE_RECEIPTED)
        return _outcome(receipt)

    async def fork(self, task: str, calls: children.Calls) -> ForkOutcome:
        """Let work go on in the background."""
        self._alive()
        if (reason := children.hindrance(self._run.lane)) is not None:
            return Unforked(reason)
        parts = self._parts
        owner = (await self._kept(lambda: parts.lanes.owner(self._run))).trigger
        fresh = ChildId(parts.ids.new("child")), RunId(parts.ids.new("run"))
        wanted = Fork(*fresh, task, await parts.grants.fingerprint(owner), calls)
        forked = await self._kept(lambda: parts.children.fork(self._run, wanted, parts.clock.now()))
        parts.crash.reach(crash_points.FORKED)
        if isinstance(forked, Forked) and forked.started is not None:
            self._begin(forked.started)
        return forked

    def hang_up(self) -> None:
        """The run has ended: take back what it showed, refuse whatever is still said."""
        self._dead = True
        if self._repeating:
            for task in self._repeating.values():
                task.cancel()
            self._repeating.clear()
            self._show(Clear(delivery_id=self._run.owner))

    async def _kept(self, step: Callable[[], Awaitable[T]]) -> T:
        return await kept(step, self._parts.clock)

    def _alive(self) -> None:
        if self._dead:
            raise FencedError(self._run.lane.id, self._run.run)

    def _framed(self, pending: Pending, known: frozenset[str], *, steered: bool) -> Words:
        words, heard, self.tally.seen[pending.delivery] = framed(pending, known, self._parts.ids, steered=steered)
        self._taken.append(heard)
        return words

    def _show(self, sign: Sign) -> None:
        self._parts.signals.send(self._run.presence, sign)

    def _watch(self, sign: Sign) -> None:
        self._parts.signals.send(self._run.lane.id, sign)

    def _working(self) -> ToolActivity:
        activity = self._activity or Activity(self._parts.clock.elapsed())
        elapsed = self._parts.clock.elapsed() - activity.began
        return ToolActivity(
            delivery_id=self._run.owner,
            state="working" if activity.working else "done",
            categories=dict(activity.counts),
            elapsed_s=max(0, int(elapsed.total_seconds())),
        )

    def _repeat(self, what: str, every: timedelta, sign: Callable[[], Sign]) -> None:
        """Show a sign now and again and again until the run ends, since it is true only while it keeps coming."""
        # Nobody in the room waits for a child.
        if what not in self._repeating and self._run.lane.forked_from is None:
            self._repeating[what] = asyncio.ensure_future(self._keep_showing(every, sign))

    async def _keep_showing(self, every: timedelta, sign: Callable[[], Sign]) -> None:
        while True:
            self._show(sign())
            await self._parts.clock.sleep(every)


def _outcome(receipt: ActionReceipt | None) -> UpdateOutcome:
    if receipt is None:
        return UpdateOutcome("unknown")
    return UpdateOutcome("posted") if receipt.ok else UpdateOutcome("refused", room_refused(receipt.code))
