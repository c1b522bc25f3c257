"""The operator's conversations. Source: OPS-1, OPS-2."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from clankie_settings.wire.scalars import Body, Id, WireModel

Total = Annotated[int, Field(ge=0)]
"""How many."""

RoomName = Annotated[str, Field(pattern=r"^(dm|[0-9]{1,20}):[0-9]{1,20}$")]
"""A Discord room as the operator names it: ``guildId:channelId``, or ``dm:channelId``."""

OperatorDelivery = Literal["steer", "queue"]
"""Join the live run, or wait for a turn of its own; both start one where nothing runs. Source: OPS-1."""


ReceiptState = Literal["queued", "running", "steered", "replied", "absorbed", "silent", "failed"]
"""How a message of the operator's stands: it waits, it runs, it joins a run, or what it got."""


class Conversation(WireModel):
    """A conversation of the operator's."""

    conversation_id: Id


class OperatorMessage(WireModel):
    """``POST /v1/conversations/{id}/messages``; the same ``client_id`` again is the same message."""

    text: Body
    delivery: OperatorDelivery | None = None
    client_id: Id


class RunReceipt(WireModel):
    """What an accepted message is waited for, and cancelled, by."""

    run_receipt: Id
    state: ReceiptState


class Forget(WireModel):
    """``POST /v1/forget``: a room with everything in it, or a person wherever they spoke. Source: OPS-12.

    With ``replies`` his own words go as well where he answered the person.
    """

    room: RoomName | None = None
    person: Id | None = None
    replies: bool = True

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.room is None) == (self.person is None):
            raise ValueError("room: name either a room or a person")
        return self


class Forgotten(WireModel):
    """How many lanes, entries and deliveries were changed or emptied."""

    lanes: Total
    entries: Total
    deliveries: Total
