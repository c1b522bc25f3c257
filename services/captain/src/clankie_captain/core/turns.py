"""A turn and a run as the store knows them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from clankie_captain.core.lane import LaneKey
from clankie_captain.core.origin import Origin
from clankie_captain.core.pictures import Pictures
from clankie_captain.core.settlement import RunOn, Settled
from clankie_settings.ids import ActionId, DeliveryId, LaneId, MessageId, PresenceId, RunId, TurnId
from clankie_settings.wire.trigger import Trigger

TurnState = Literal["queued", "steer", "heard", "live", "done"]
"""Waiting for the lane; waiting for a boundary; in a request of somebody's run; owning a run; settled."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One delivery and what has become of it; ``result`` is there once it is settled."""

    presence: PresenceId
    delivery: DeliveryId
    turn: TurnId
    lane: LaneId
    state: TurnState
    result: Settled | None


RunKind = Literal["turn", "compaction"]
"""A run answers somebody, or it makes its lane's history shorter and has no owner. Source: CTX-7."""


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A run that owns its lane for as long as ``epoch`` is the lane's.

    ``presence`` and ``owner`` name the delivery that carries the reply. ``attempt`` counts from 1. ``cancelled`` says
    that somebody asked for its end. A compaction has neither presence nor owner.
    """

    lane: LaneKey
    run: RunId
    epoch: int
    attempt: int
    presence: PresenceId
    owner: DeliveryId
    started_at: datetime
    cancelled: bool = False
    kind: RunKind = "turn"


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What accepting a delivery came to: its turn, whether it is new, the run that it started or that it stops."""

    turn: Turn
    new: bool
    started: LiveRun | None = None
    stops: RunId | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """A delivery whose words a run is about to read.

    ``known`` holds those message ids of its backlog that the lane carries, and what stands for a picture that it has
    shown; ``heard`` says that the words stand in the lane's history already. ``pictures`` is None where they are not
    there in time. ``origin`` says where it comes from if nobody wrote it.
    """

    presence: PresenceId
    delivery: DeliveryId
    trigger: Trigger
    known: frozenset[str]
    heard: bool = False
    pictures: Pictures | None = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Awaiting:
    """A delivery whose pictures are not there yet. Source: IMG-7."""

    presence: PresenceId
    delivery: DeliveryId
    trigger: Trigger


@dataclass(frozen=True, slots=True)
class Heard:
    """A delivery that the next request carries, with the backlog that came along.

    ``content`` is the hash of the content that the request holds: its words may have been erased in between.
    """

    presence: PresenceId
    delivery: DeliveryId
    backlog: tuple[MessageId, ...]
    content: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A settled run: what each delivery got, and the run that follows at once.

    ``posts`` are the presences that were given words which nobody waits for, ``reported`` the run that tells a lane of
    its child's end.
    """

    results: tuple[tuple[PresenceId, Settled], ...]
    follows: LiveRun | None
    posts: frozenset[PresenceId] = frozenset()
    reported: LiveRun | None = None


Settling = RunOn | Ended
"""The run goes on, or it has ended."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """A stored action as the stream shows it: its place in the presence's sequence, its name, and its JSON."""

    seq: int
    name: str
    payload: str


@dataclass(frozen=True, slots=True)
class Underway:
    """Words that a call sent are stored as this action, and no receipt of it has come."""

    action: ActionId


@dataclass(frozen=True, slots=True)
class Received:
    """What a receipt came to; ``latency`` from message to last part, where this receipt completed a reply."""

    owed: bool
    latency: timedelta | None


@dataclass(frozen=True, slots=True)
class Counts:
    """What the captain has in hand: lanes ever, runs that are live, turns that no run has heard."""

    lanes: int
    live_runs: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Event:
    """A stored event of a conversation: its place, its name, and its JSON."""

    seq: int
    name: str
    payload: str


@dataclass(frozen=True, slots=True)
class Cancellation:
    """A turn as it stands after somebody cancelled it, and the run that has to be ended for that, if any."""

    turn: Turn
    run: RunId | None


@dataclass(frozen=True, slots=True)
class Done:
    """A command that was done: what its giver is shown, and the runs that have to be ended for it."""

    answer: str
    stops: tuple[RunId, ...] = ()


@dataclass(frozen=True, slots=True)
class Beside:
    """A live run of another lane of the room: a one-shot or a loop, and whom it answers (None: it compacts)."""

    run: RunId
    actor: str | None
    started_at: datetime


@dataclass(frozen=True, slots=True)
class Aloud:
    """The live run of a room's voice lane, and whose words are in it; nobody's where it compacts."""

    run: RunId
    speakers: frozenset[str]
    started_at: datetime


@dataclass(frozen=True, slots=True)
class LaneView:
    """A lane as a command sees it; ``speakers`` are the actors whose words are in the live run.

    ``compacting`` says that the live run only makes the history shorter. ``one_shots`` live beside it in the room, and
    so do its ``loops``, for which the lane stands, and what runs ``aloud``; what waits in them is counted. ``children``
    counts the room's work in the background.
    """

    live: RunId | None
    started_at: datetime | None
    speakers: frozenset[str]
    waiting: int
    quiet: bool
    tokens: int
    compacting: bool = False
    one_shots: tuple[Beside, ...] = ()
    loops: tuple[Beside, ...] = ()
    children: int = 0
    aloud: Aloud | None = None
