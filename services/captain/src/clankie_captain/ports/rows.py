"""What is on disk; ``store`` keeps these promises, and each of its files says what it promises."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from clankie_captain.core.children import Child, Ending, Fork, ForkOutcome, OpenCounts
from clankie_captain.core.commands import Deed
from clankie_captain.core.compaction import EMPTY, Compacted, Compaction, Fill
from clankie_captain.core.lane import LaneKey
from clankie_captain.core.lease import Asking, Held
from clankie_captain.core.reply import Reply
from clankie_captain.core.run import (
    Broken,
    CallEnd,
    CallResult,
    Draft,
    Entry,
    Usage,
)
from clankie_captain.core.turns import (
    Acceptance,
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
from clankie_settings.ids import ActionId, ChildId, DeliveryId, LaneId, PresenceId, RunId, TurnId
from clankie_settings.wire.action import Post, StoredAction
from clankie_settings.wire.command import Command
from clankie_settings.wire.receipt import ActionReceipt, KnownRooms, OwedList, Receipt
from clankie_settings.wire.trigger import Trigger


class Lanes(Protocol):
    """Lanes as rows; ``store/lanes.py`` says what each promises."""

    async def accept(
        self, trigger: Trigger, lane: LaneKey, turn: TurnId, run: RunId, at: datetime, *, awaited: bool = True
    ) -> Acceptance:
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

    async def speakers(self, run: LiveRun) -> tuple[Trigger, ...]:
        """The deliveries whose words a run has heard."""
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


class Children(Protocol):
    """Background threads as rows; ``store/children.py`` says what each promises."""

    async def fork(self, run: LiveRun, wanted: Fork, at: datetime) -> ForkOutcome:
        """Begin a child of a live run's lane, or let it wait."""
        ...

    async def open(self) -> OpenCounts:
        """How many children have not ended."""
        ...

    async def newest(self, most: int) -> tuple[Child, ...]:
        """The children that were forked last."""
        ...

    async def cancel(self, child: ChildId, at: datetime) -> Ending | None:
        """Ask for a child's end."""
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

    async def owing(self, since: datetime) -> int:
        """How many deliveries that settled since then have something that their rooms still lack."""
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

    async def post(self, presence: PresenceId, words: Post, at: datetime) -> Numbered:
        """Store words that belong to no live run and that nobody waits for."""
        ...

    async def pending(self, presence: PresenceId, after: int, most: int = 100) -> tuple[Numbered, ...]:
        """The presence's actions after ``after`` that were not acknowledged."""
        ...

    async def acknowledge(
        self, presence: PresenceId, action: ActionId, receipt: ActionReceipt
    ) -> frozenset[PresenceId]:
        """Keep what became of an action; who is to post what could not be spoken."""
        ...
