"""What becomes of a delivery that reaches its lane. Source: LANE-2, LANE-3, OPS-1, LOOP-9."""

from dataclasses import dataclass
from typing import Literal, assert_never

from clankie_captain.core.lane import LaneKey
from clankie_settings import bounds
from clankie_settings.ids import RunId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.trigger import Delivery

SteerBy = Literal["anyone", "sender", "asked"]
"""Who joins a live run: everybody's words, those of the sender whom it answers, or those whose sender asked for it."""


@dataclass(frozen=True, slots=True)
class Floor:
    """What the sender whom a live run answers has made of it, while somebody else's turn may wait.

    ``past`` counts the messages in the run that came after the oldest turn of somebody else that waits; none where none
    does. ``behind`` says that a message of this very sender waits already.
    """

    past: int = 0
    behind: bool = False

    @property
    def ends(self) -> bool:
        """Whether what the sender adds waits like everybody's, and in its order. Source: LOOP-9."""
        return self.behind or self.past >= bounds.STEERS_PAST_OTHERS


@dataclass(frozen=True, slots=True)
class LaneState:
    """A lane at the instant of admission.

    ``waiting`` counts its turns that no run has heard yet. ``autonomous`` says that no person waits for the live run,
    ``stops`` that the delivery is a plain "stop" of somebody whose words are in it, and ``compacting`` that the run
    only makes the history shorter, so that no words can join it. ``floor`` is there where it answers this very sender.
    """

    live_run: RunId | None
    waiting: int
    autonomous: bool = False
    stops: bool = False
    compacting: bool = False
    floor: Floor | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """The lane is idle: the delivery owns a new run."""


@dataclass(frozen=True, slots=True)
class Steer:
    """The words join the live run at its next boundary."""

    run: RunId


@dataclass(frozen=True, slots=True)
class Queue:
    """The delivery waits for the lane and then owns a run."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """The delivery is settled at once; ``notice`` asks for a short word where it addressed him."""

    code: FailureCode
    notice: bool = True


@dataclass(frozen=True, slots=True)
class Stop:
    """The delivery ends the live run, and is settled with it in silence. Source: OPS-5."""

    run: RunId


Admission = Start | Steer | Queue | Refuse | Stop
"""The five ways."""


def steer_by(lane: LaneKey) -> SteerBy:
    """Who steers a lane: anyone in text and voice rooms, whoever asks for it in a conversation.

    In a room's loop and in a one-shot it is the sender alone.

    Source: LANE-3, VOX-1, OPS-1, LOOP-2, GRANT-2.
    """
    if lane.grant is not None or lane.kind == "one_shot":
        return "sender"
    return "asked" if lane.kind == "conversation" else "anyone"


def admission(lane: LaneState, delivery: Delivery, policy: SteerBy) -> Admission:
    """The way of one delivery into its lane.

    A lane with waiting turns and no live run is about to start the oldest of them, so a new delivery queues behind.
    What comes while the history is made shorter waits for that, and never ends it (CTX-7, C26).
    Where the sender alone steers, they do so until somebody else has waited for long enough (LOOP-9).
    In a conversation a person's words join a run that nobody waits for, and otherwise wait for their turn.
    """
    if lane.stops and lane.live_run is not None and not lane.compacting:
        return Stop(lane.live_run)
    if lane.waiting >= bounds.QUEUED_TURNS:
        return Refuse(FailureCode.LANE_QUEUE_FULL)
    if lane.live_run is None:
        return Queue() if lane.waiting else Start()
    if lane.compacting or delivery == "queue" or not _may_steer(lane, delivery, policy):
        return Queue()
    return Steer(lane.live_run)


def _may_steer(lane: LaneState, delivery: Delivery, policy: SteerBy) -> bool:
    match policy:
        case "anyone":
            return True
        case "sender":
            return lane.floor is not None and not lane.floor.ends
        case "asked":
            return delivery == "steer" or lane.autonomous
        case _:  # pragma: no cover
            assert_never(policy)
