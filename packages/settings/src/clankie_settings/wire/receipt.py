"""Content-free records of what reached the room. Source: OUT-1, OPS-7."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from clankie_settings import bounds
from clankie_settings.wire.result import Result
from clankie_settings.wire.scalars import Code, Count, Id, Moment, Text, WireModel
from clankie_settings.wire.trigger import Room


class Receipt(WireModel):
    """One part of a reply reached its room (``message_id``) or never will (``code``). Parts count from 1."""

    part: Annotated[int, Field(ge=1, le=bounds.REPLY_PARTS)]
    of: Annotated[int, Field(ge=1, le=bounds.REPLY_PARTS)]
    message_id: Id | None = None
    code: Code | None = None
    posted_at: Moment

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.part > self.of:
            raise ValueError("part: must not exceed of")
        if (self.message_id is None) == (self.code is None):
            raise ValueError("message_id: exactly one of message_id and code")
        return self


class ReceiptAnswer(WireModel):
    """What the captain holds after a receipt."""

    delivery_id: Id
    owed: bool


class ActionReceipt(WireModel):
    """Whether a stored action was done; ``message_id`` where it made a message, ``code`` where it could not."""

    ok: bool
    message_id: Id | None = None
    code: Code | None = None


class Owed(WireModel):
    """A delivery that is queued, running or not yet receipted. Source: WIRE-5."""

    delivery_id: Id
    room: Room
    message_id: Id
    addressed: bool
    accepted_at: Moment
    settled_at: Moment | None = None
    result: Result | None = None
    parts_posted: Count


class OwedList(WireModel):
    """``GET /v1/turns?owed=true``, oldest first."""

    turns: tuple[Owed, ...]


class KnownRoom(WireModel):
    """A room in which the presence stood, with the last delivery that it handed over from there."""

    room: Room
    last_message_id: Id
    last_at: Moment
    last_state: Annotated[Text, Field(pattern=r"^(queued|running|replied|absorbed|silent|failed)$")]


class KnownRooms(WireModel):
    """``GET /v1/presences/{id}/rooms``: the rooms, and when the presence was last heard of."""

    rooms: tuple[KnownRoom, ...]
    last_alive_at: Moment | None = None
