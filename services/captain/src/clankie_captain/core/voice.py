"""Who owns a room's text-only input, and which way a reply to it goes. Source: VOX-2."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import assert_never

from clankie_captain.core.admission import Admission, Queue, Refuse, Start, Steer, Stop
from clankie_captain.core.settlement import Settled
from clankie_settings.ids import PresenceId
from clankie_settings.wire.result import Absorbed, Replied
from clankie_settings.wire.trigger import Room, Trigger


@dataclass(frozen=True, slots=True)
class RoomAsking:
    """A voice presence that asks for a room; ``ttl`` of nothing gives it back."""

    presence: PresenceId
    ttl: timedelta


@dataclass(frozen=True, slots=True)
class Holding:
    """A voice presence's lease of a room, as it was last renewed."""

    presence: PresenceId
    renewed_at: datetime
    ttl: timedelta

    @property
    def ends_at(self) -> datetime:
        """When it ends, unless it is renewed before."""
        return self.renewed_at + self.ttl

    def lives(self, now: datetime) -> bool:
        """Whether the room is still its holder's.

        One that was renewed later than now is from before a step of the clock, and nobody can say how old it is. It
        ends: then words are written that might have been spoken, and none wait for a voice that has gone.
        """
        return self.renewed_at <= now < self.ends_at


def granted(held: Holding | None, asking: RoomAsking, now: datetime) -> Holding | None:
    """The lease as it is the asking presence's, or None where another one holds the room."""
    if held is not None and held.lives(now) and held.presence != asking.presence:
        return None
    return Holding(asking.presence, now, asking.ttl)


def room_key(room: Room) -> str:
    """A room as leases name it: ``GUILD:CHANNEL``, or ``dm:CHANNEL``."""
    return f"{room.guild_id or 'dm'}:{room.channel_id}"


def is_text_only(trigger: Trigger) -> bool:
    """Whether a delivery is what a voice can own: somebody's typed words, without any file.

    A file that could not be shown is still what they talk about, so its message stays text.
    """
    left_out = trigger.attachments_omitted
    files = trigger.attachments or left_out.unsupported or left_out.too_large or left_out.over_limit
    return trigger.room.platform == "discord" and trigger.kind != "voice" and not files


def owns(held: Holding | None, trigger: Trigger, now: datetime) -> bool:
    """Whether a voice owns this delivery; what its holder itself hands over as text stays that."""
    if held is None or not held.lives(now) or held.presence == trigger.presence_id:
        return False
    return is_text_only(trigger)


def moves(in_text: Admission) -> bool:
    """Whether an owned delivery goes to the voice lane, by what would become of it in the text lane.

    A text run that is live keeps its steers, and is stopped as ever.
    """
    match in_text:
        case Steer() | Stop():
            return False
        case Start() | Queue() | Refuse():
            return True
        case _:  # pragma: no cover
            assert_never(in_text)


def speaker(owner: Trigger, reply: Settled, held: Holding | None, now: datetime) -> PresenceId | None:
    """Who says a voice run's reply to its owner aloud; None where it is the turn's ordinary result.

    An utterance's reply is its own presence's to say. A reply with pictures is posted with them, as one message.
    """
    if not isinstance(reply, Replied) or reply.artifacts or owner.kind == "voice":
        return None
    if held is None or not held.lives(now) or held.presence == owner.presence_id:
        return None
    return held.presence


def left(owner: Trigger, held: Holding | None, now: datetime) -> bool:
    """Whether the presence of an utterance is not there to say its answer: it does not hold the room.

    Typed words that joined the utterance must not wait until it comes back.
    """
    return owner.kind == "voice" and not (held is not None and held.lives(now) and held.presence == owner.presence_id)


def spoken(reply: Replied) -> Absorbed:
    """The result of a turn whose reply is said aloud: nothing is left to post, and a voice answers the delivery."""
    return Absorbed(
        delivery_id=reply.delivery_id,
        turn_id=reply.turn_id,
        run_id=reply.run_id,
        owed=False,
        answered_by=reply.delivery_id,
    )


def is_spoken(result: Settled) -> bool:
    """Whether a turn's own reply was said aloud. Source: OPS-6."""
    return isinstance(result, Absorbed) and result.answered_by == result.delivery_id
