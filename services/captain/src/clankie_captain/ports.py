"""Where the captain's parts meet; ``app.py`` joins them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from clankie_captain.core.activity import ToolState
from clankie_captain.core.commands import Deed
from clankie_captain.core.compaction import EMPTY, Compacted, Compaction, CompactionOutcome, Digest, Fill
from clankie_captain.core.lane import LaneKey
from clankie_captain.core.lease import Asking, Held
from clankie_captain.core.pictures import Decoded, Pictures, Undecodable
from clankie_captain.core.reply import Reply
from clankie_captain.core.run import (
    Broken,
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
from clankie_captain.core.turns import (
    Acceptance,
    Awaiting,
    Cancellation,
    Counts,
    Done,
    Event,
    Heard,
    LaneView,
    LiveRun,
    Numbered,
    Pending,
    Received,
    Settling,
    Turn,
    Underway,
)
from clankie_settings.ids import ActionId, DeliveryId, LaneId, PresenceId, RunId, TurnId
from clankie_settings.wire.action import StoredAction
from clankie_settings.wire.command import Command
from clankie_settings.wire.receipt import ActionReceipt, KnownRooms, OwedList, Receipt
from clankie_settings.wire.trigger import Trigger


class Vitals(Protocol):
    """Whom the loop tells that a model is at work, and what it cost. Source: FAIL-3."""

    def event(self) -> None:
        """A token, hidden reasoning, or another try: a sign of life."""
        ...

    def received(self) -> None:
        """Bytes came from the provider without making an event."""
        ...

    def spent(self, usage: Usage) -> None:
        """One model request was answered and cost this. Source: OPS-6."""
        ...


class RunLine(Protocol):
    """A live run's line to its lane: the loop tells it what happens and takes what was steered.

    Every method that writes first proves that the run still owns its lane.

    Raises:
        FencedError: The run no longer owns its lane; the loop must end at once, whatever it holds.
    """

    async def boundary(self) -> Sequence[Words]:
        """The words that were steered into the run and that no request carries yet, in the order of acceptance.

        Called before each model request; what it returned must be part of the very next request.

        Source: LANE-3, LANE-16.
        """
        ...

    async def record(self, drafts: Sequence[Draft]) -> None:
        """Store entries: a request before it is sent, a response once it is whole.

        With a request, the words that the last ``boundary`` returned (and the order's own) become heard.

        Source: LANE-13, DUR-1.
        """
        ...

    async def cut(self, kept: int) -> None:
        """Leave out of the lane's history everything but the newest ``kept`` entries, from now on. Source: CTX-8."""
        ...

    async def picture(self, digest: str) -> bytes | None:
        """The bytes of a stored picture; None where they are gone. Source: IMG-7."""
        ...

    async def unsee(self, gone: Sequence[str]) -> None:
        """Let words stand in the lane's history, from now on, where these stand-ins of pictures do. Source: LANE-14."""
        ...

    def event(self) -> None:
        """A token, hidden reasoning, a tool call, a tool's progress, or a retry: a sign of life. Source: FAIL-3."""
        ...

    def received(self) -> None:
        """Bytes came from the provider without making an event. Source: FAIL-3."""
        ...

    def requesting(self) -> None:
        """A model request begins: what the model wrote before is not its answer. Source: ROOM-2."""
        ...

    def wrote(self, text: str) -> None:
        """The model wrote these further words of the present response. Counts as an event. Source: ROOM-2."""
        ...

    def tool(self, name: str, state: ToolState) -> None:
        """A tool call began, or has its result. Counts as an event. Source: ROOM-4."""
        ...

    def spent(self, usage: Usage) -> None:
        """One model request was answered and cost this. Source: OPS-6."""
        ...

    async def update(self, text: str, call: str | None = None) -> UpdateOutcome:
        """Post mid-turn words to the room as a reply to the message being answered.

        ``call`` is the id of the tool call that sends them.

        Source: ROOM-3.
        """
        ...

    async def finish(self, call: str, payload: str) -> None:
        """Keep the result of a call whose tool has ended, until a request carries it. Source: DUR-2."""
        ...

    async def finished(self, call: str) -> CallEnd | None:
        """What is known of a call that a history ends in, None where its outcome is unknown. Source: DUR-2."""
        ...


class Loop(Protocol):
    """A model with its tools, asked until it has answered."""

    async def think(self, order: Order, line: RunLine) -> Finish:
        """Run until the model's last response, or until it cannot go on.

        Never raises for what a provider does; that is a ``Broken``. Cancelling it closes the provider's stream.

        Raises:
            FencedError: The line refused.
            asyncio.CancelledError: The run was aborted.
        """
        ...

    @property
    def window(self) -> int | None:
        """The model's context window in tokens; None where nobody knows. Source: CTX-7."""
        ...

    async def put_together(self, digest: Digest, vitals: Vitals) -> str | Broken:
        """Notes on older talk, as the payload of the entry that holds them.

        Never raises for what a provider does; that is a ``Broken``. Cancelling it closes the provider's stream.

        Source: CTX-7.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections to the provider; nothing thinks any more."""
        ...


class Resolver(Protocol):
    """What turns a delivery's references into stored pictures; ``media/resolver.py`` does it."""

    async def resolve(self, trigger: Trigger) -> Pictures:
        """What can be shown of a delivery's pictures, and why the others cannot. Source: IMG-4."""
        ...


class Shelf(Protocol):
    """Where stored pictures are; ``media/shelf.py`` keeps them."""

    async def get(self, digest: str) -> bytes | None:
        """The bytes under a hash; None where they are gone."""
        ...


class PictureLog(Protocol):
    """Where pictures are counted."""

    def resolved(self, pictures: Pictures) -> None:
        """Count what became of a delivery's pictures: what was shown, left out and not to be had. Source: IMG-4."""
        ...


class Decoder(Protocol):
    """What turns the bytes of a picture into parts that a provider takes; ``media/decoding.py`` does it."""

    async def decode(self, data: bytes, most: int) -> Decoded | Undecodable:
        """Decode stills, animations and films alike, by their bytes; at most ``most`` parts.

        Bounded in time and memory; never raises for what the bytes hold.

        Source: IMG-3, IMG-5.
        """
        ...


class Lanes(Protocol):
    """Lanes as rows; ``store/lanes.py`` says what each promises."""

    async def accept(self, trigger: Trigger, lane: LaneKey, turn: TurnId, run: RunId, at: datetime) -> Acceptance:
        """Accept a delivery once and decide its way into the lane."""
        ...

    async def known(self, trigger: Trigger) -> Turn | None:
        """The turn of a delivery that was accepted before."""
        ...

    async def owner(self, run: LiveRun) -> Pending:
        """The delivery that owns a run."""
        ...

    async def take(self, run: LiveRun, now: datetime) -> tuple[Pending, ...]:
        """The steered deliveries that the run's next request carries."""
        ...

    async def record(self, run: LiveRun, drafts: Sequence[Draft], heard: Sequence[Heard], at: datetime) -> None:
        """Append entries; with them, ``heard`` deliveries become heard."""
        ...

    async def history(self, run: LiveRun) -> tuple[Entry, ...]:
        """What the model is shown of the lane so far."""
        ...

    async def cut(self, run: LiveRun, kept: int) -> None:
        """Leave out of the lane's history everything but the newest ``kept`` entries."""
        ...


class PictureRows(Protocol):
    """What became of pictures, as rows; ``store/pictures.py`` says what each promises."""

    async def show(self, presence: PresenceId, delivery: DeliveryId, pictures: Pictures) -> None:
        """Keep what became of a delivery's pictures; it is ready with that."""
        ...

    async def open(self) -> tuple[Awaiting, ...]:
        """Every delivery whose pictures somebody has to fetch still."""
        ...

    async def unready(self, run: LiveRun) -> tuple[Awaiting, ...]:
        """The unheard deliveries of a live run whose pictures are not there yet."""
        ...

    async def carried(self, presence: PresenceId, trigger: Trigger) -> bool:
        """Whether the lane of a delivery shows the picture of its talk already, or is about to."""
        ...

    async def unsee(self, run: LiveRun, gone: Sequence[str]) -> None:
        """Put words in the place of pictures in the lane's history."""
        ...


class Runs(Protocol):
    """Runs as rows; ``store/runs.py`` says what each promises."""

    async def settle(
        self, run: LiveRun, ending: Reply | Broken, usage: Usage, follower: RunId, at: datetime, fill: Fill = EMPTY
    ) -> Settling:
        """End a run once, with a result for each of its turns, or let it go on."""
        ...

    async def take_over(self, at: datetime) -> tuple[LiveRun, ...]:
        """Take over, with a new epoch and as their next attempt, the runs that a captain that died left live."""
        ...

    async def leave(self) -> int:
        """Let the runs that are live go on later as the attempt that they were; how many."""
        ...

    async def start_waiting(self, fresh: Sequence[RunId], at: datetime) -> tuple[LiveRun, ...]:
        """Start lanes whose turns only wait, at most one for each fresh run id."""
        ...


class Compactions(Protocol):
    """Compactions as rows; ``store/compactions.py`` says what each promises."""

    async def tokens(self, run: LiveRun) -> int:
        """How full the run's lane was when it was claimed."""
        ...

    async def finish(self, run: LiveRun, ending: Compaction, usage: Usage, follower: RunId, at: datetime) -> Compacted:
        """End a compaction once, and start what waits."""
        ...


class CompactionLog(Protocol):
    """Where compactions are counted."""

    def compacted(self, outcome: CompactionOutcome, usage: Usage) -> None:
        """Count one that has ended."""
        ...


class Deliveries(Protocol):
    """Deliveries as presences ask for them; ``store/deliveries.py`` says what each promises."""

    async def find(self, presence: PresenceId, delivery: DeliveryId) -> Turn:
        """A delivery of the presence, as it is now."""
        ...

    async def owed(self, presence: PresenceId) -> OwedList:
        """What is queued, running, or settled and not yet receipted."""
        ...

    async def receive(self, presence: PresenceId, delivery: DeliveryId, receipt: Receipt) -> Received:
        """Keep the receipt of one part."""
        ...

    async def owing(self) -> int:
        """How many deliveries have something that their rooms still lack."""
        ...

    async def counts(self) -> Counts:
        """What the captain has in hand."""
        ...


class Changes(Protocol):
    """Changes of accepted deliveries; ``store/changes.py`` says what each promises."""

    async def edit(self, presence: PresenceId, delivery: DeliveryId, body: str) -> Turn:
        """Replace the words of a delivery that no run has heard."""
        ...

    async def withdraw(self, presence: PresenceId, delivery: DeliveryId, at: datetime) -> Turn:
        """Settle a delivery that no run has heard as withdrawn."""
        ...

    async def cancel(self, presence: PresenceId, delivery: DeliveryId, at: datetime) -> Cancellation:
        """Settle a delivery that no run has heard as cancelled, or name the run that must be ended."""
        ...


class Control(Protocol):
    """What commands look at and change; ``store/control.py`` says what each promises."""

    async def carry_out(
        self, presence: PresenceId, command: Command, lane: LaneKey, at: datetime, decide: Callable[[LaneView], Deed]
    ) -> Done:
        """Do a command once: look at its lane, decide, change the lane and keep the answer."""
        ...


class Events(Protocol):
    """Stored events of conversations; ``store/events.py`` says what each promises."""

    async def since(self, lane: LaneId, after: int, most: int = 100) -> tuple[Event, ...]:
        """The lane's events after one of them."""
        ...

    async def beginning(self, lane: LaneId) -> int:
        """Where a tail begins that names no event."""
        ...


@dataclass(frozen=True, slots=True)
class LaneSummary:
    """A lane as it is listed: what lives and waits in it, how much is written, and when it was last used."""

    id: str
    kind: str
    authority: str
    live_run: str | None
    waiting: int
    entries: int
    touched_at: datetime


@dataclass(frozen=True, slots=True)
class EntryLine:
    """An entry as it is looked at: its place, the run that wrote it (if one did), its kind, its JSON, and when."""

    seq: int
    run: str | None
    kind: str
    payload: str
    at: datetime


class Transcripts(Protocol):
    """Lanes as they are looked at afterwards; ``store/transcripts.py`` says what each promises."""

    async def lanes(self, after: str, most: int) -> tuple[LaneSummary, ...]:
        """Lanes in the order of their ids, after one of them."""
        ...

    async def lane(self, lane: LaneId) -> LaneSummary | None:
        """One lane; None where there is no such."""
        ...

    async def of_room(self, room: str, most: int) -> tuple[LaneSummary, ...]:
        """The lanes of a Discord room, the last used first."""
        ...

    async def of_delivery(self, delivery: DeliveryId) -> tuple[LaneSummary, ...]:
        """The lanes that a delivery of this id went to."""
        ...

    async def entries(self, lane: LaneId, after: int, most: int) -> tuple[EntryLine, ...] | None:
        """What is written in a lane after one entry; None for a lane that there is none of."""
        ...


class Presences(Protocol):
    """What the captain remembers for presences; ``store/presences.py`` says what each promises."""

    async def alive(self, presence: PresenceId, at: datetime) -> None:
        """Remember that the presence was heard of."""
        ...

    async def rooms(self, presence: PresenceId) -> KnownRooms:
        """The rooms that the presence stood in."""
        ...

    async def seen(self) -> tuple[tuple[PresenceId, datetime], ...]:
        """All presences and when each was last heard of."""
        ...


class Calls(Protocol):
    """Tool calls that no request answers yet; ``store/calls.py`` says what each promises."""

    async def finish(self, run: LiveRun, call: str, result: CallResult, at: datetime) -> None:
        """Keep the result of a call of a live run."""
        ...

    async def finished(self, run: LiveRun, call: str) -> CallEnd | Underway | None:
        """What is known of a call of the run's lane."""
        ...


class Leases(Protocol):
    """Who may act as a presence; ``store/leases.py`` says what each promises."""

    async def ask(self, presence: PresenceId, asking: Asking, at: datetime) -> Held | None:
        """Give, renew or take back a lease."""
        ...

    async def holder(self, presence: PresenceId) -> str | None:
        """The process that has the lease, or had it last."""
        ...


class Actions(Protocol):
    """Stored actions; ``store/actions.py`` says what each promises."""

    async def add(
        self, run: LiveRun, action: StoredAction, at: datetime, most: int, call: str | None = None
    ) -> Numbered | None:
        """Store an action of a live run."""
        ...

    async def pending(self, presence: PresenceId, after: int, most: int = 100) -> tuple[Numbered, ...]:
        """The presence's actions after ``after`` that were not acknowledged."""
        ...

    async def acknowledge(self, presence: PresenceId, action: ActionId, receipt: ActionReceipt) -> None:
        """Keep what became of an action."""
        ...


@dataclass(frozen=True, slots=True)
class SettledRun:
    """What ``turn-settled.jsonl`` says of a run; ids, codes, counts and durations only. Source: OPS-6."""

    run: LiveRun
    outcome: str
    absorbed: int
    usage: Usage
    context_start: int
    context_end: int
    events: int
    waited: timedelta
    took: timedelta
    at: datetime


class TurnLog(Protocol):
    """Where settled runs are written down."""

    async def settled(self, record: SettledRun) -> None:
        """Write one line. Never raises: a log that cannot be written costs the line, not the turn."""
        ...
