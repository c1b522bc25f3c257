"""Work that a lane has moved to the background: who may start, what is told, who answers for it. Source: LOOP-6."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from clankie_captain.core.lane import LaneKey
from clankie_captain.core.settlement import Settled
from clankie_captain.core.turns import LiveRun, TurnState
from clankie_settings import bounds
from clankie_settings.ids import ChildId, DeliveryId, LaneId, PresenceId, RunId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Failed, Replied
from clankie_settings.wire.trigger import ContextMessage, Room, Trigger
from clankie_settings.wire.version import WIRE_VERSION

ChildState = Literal["waiting", "running", "done", "failed", "cancelled"]
"""How a child stands."""

FORK: Final = "fork"
"""The tool that moves work to the background."""

NESTED: Final = "you are in the background already; do it here"
PLACELESS: Final = "there is no text room here in which the outcome could be told"
FULL: Final = (
    f"{bounds.CHILDREN_WAITING} pieces of work wait already, as many as may; do it here, or say that it must wait"
)
"""Why nothing more goes to the background, in words for the model."""

WORDLESS: Final = "It ended without words."
"""What is reported of a child that had nothing to say."""

UNTOLD: Final = "The work that I had in the background has ended, but I failed to tell you of it. Please ask me again."
"""What a room reads where the turn fails that was to tell of a child's end. Source: ROOM-8."""


@dataclass(frozen=True, slots=True)
class Calls:
    """What is kept of a forking response: the result of its call there, and, by call, those that its child reads."""

    call: str
    told: str
    child: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Fork:
    """A piece of work that is to go on in the background, with the ids of what it becomes.

    ``run`` is used where it starts at once. ``fingerprint`` is that of the grant of whoever it is for.
    """

    child: ChildId
    run: RunId
    task: str
    fingerprint: str
    calls: Calls


@dataclass(frozen=True, slots=True)
class Forked:
    """It goes on in the background, now or when it is its turn; ``started`` is its run."""

    started: LiveRun | None


@dataclass(frozen=True, slots=True)
class Unforked:
    """It does not; ``reason`` is for the model."""

    reason: str


ForkOutcome = Forked | Unforked
"""What a fork came to."""


@dataclass(frozen=True, slots=True)
class OpenChild:
    """A child that has not ended; ``running`` says that it has begun."""

    id: ChildId
    room: str
    running: bool


@dataclass(frozen=True, slots=True)
class OpenCounts:
    """How many children have not ended."""

    running: int = 0
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class Child:
    """A child as its operator sees it.

    ``report`` is how the turn stands that tells of its end, None before there is one. ``usage`` is the run's JSON.
    """

    id: ChildId
    lane: LaneId
    forked_from: LaneId
    room: str
    presence: PresenceId
    owner: DeliveryId
    actor: str
    fingerprint: str
    task: str
    state: ChildState
    code: str | None
    attempt: int
    report: str | None
    usage: str | None
    created_at: datetime
    started_at: datetime | None
    settled_at: datetime | None


@dataclass(frozen=True, slots=True)
class Ending:
    """What asking for a child's end came to.

    ``run`` has to be ended for it; else its end is told of at once, by the run ``told`` where its lane was idle.
    """

    child: Child
    run: RunId | None = None
    result: Settled | None = None
    told: LiveRun | None = None


def child_lane(parent: LaneKey, child: ChildId) -> LaneKey:
    """The lane of a child: a one-shot with its parent's authority. Source: LANE-12, LOOP-7."""
    return LaneKey(LaneId(f"turns/{parent.id}~child/{child}"), "one_shot", parent.authority)


def report_id(child: ChildId) -> DeliveryId:
    """The delivery that tells of a child's end: one for each child, so that it is never told twice."""
    return DeliveryId(f"report-{child}")


def hindrance(lane: LaneKey) -> str | None:
    """Why a lane can have no children, in words for the model; None where it can."""
    if lane.forked_from is not None:
        return NESTED
    return PLACELESS if lane.kind == "voice" else None


def startable(children: Sequence[OpenChild]) -> tuple[ChildId, ...]:
    """Which waiting children may begin now, in the order in which they were forked.

    One whose room is at its bound holds nobody back that came later from another room.
    """
    rooms = [each.room for each in children if each.running]
    found: list[ChildId] = []
    for each in children:
        free = len(rooms) < bounds.CHILDREN and rooms.count(each.room) < bounds.CHILDREN_A_ROOM
        if free and not each.running:
            rooms.append(each.room)
            found.append(each.id)
    return tuple(found)


def full(children: Sequence[OpenChild]) -> bool:
    """Whether nothing more may wait."""
    return sum(not each.running for each in children) >= bounds.CHILDREN_WAITING


def place(room: Room) -> str:
    """What makes two children of one room."""
    return f"{room.platform}:{room.guild_id or 'dm'}:{room.channel_id}"


def task(owner: Trigger, child: ChildId, words: str, at: datetime) -> Trigger:
    """A child's task as a delivery of whoever it is for."""
    return Trigger(
        wire_version=WIRE_VERSION,
        delivery_id=child,
        presence_id=owner.presence_id,
        kind="message",
        room=owner.room,
        actor=owner.actor,
        message_id=child,
        sent_at=at,
        body=words[: bounds.BODY_CHARS],
        addressed=False,
        reply_to=_answered(owner),
        delivery="queue",
    )


def report(errand: Trigger, ended: Settled, at: datetime) -> Trigger:
    """What tells the lane of a child's end, as a delivery that answers what its task answered."""
    name = report_id(ChildId(errand.delivery_id))
    words = ended.text if isinstance(ended, Replied) else WORDLESS
    change = {"delivery_id": name, "message_id": name, "sent_at": at, "body": words[: bounds.BODY_CHARS]}
    return errand.model_copy(update=change)


def state(stands: TurnState, ended: Settled | None) -> ChildState:
    """How a child stands, by the delivery of its task."""
    if ended is None:
        return "waiting" if stands == "queued" else "running"
    if isinstance(ended, Failed):
        return "cancelled" if ended.code == FailureCode.CAPTAIN_CANCELLED else "failed"
    return "done"


def ending(ended: Settled | None) -> str:
    """How a child ended, in a word or a code."""
    return ended.code if isinstance(ended, Failed) else "done"


def _answered(owner: Trigger) -> ContextMessage | None:
    """The message that the report's reply answers: the one for which the lane was at work."""
    if owner.delivery_id.startswith("report-"):
        return owner.reply_to
    return ContextMessage(
        message_id=owner.message_id,
        author_id=owner.actor.actor_id,
        author_name=owner.actor.display_name,
        body=owner.body,
        sent_at=owner.sent_at,
    )
