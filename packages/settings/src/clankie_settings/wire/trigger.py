"""A delivery as a presence hands it over: ``POST /v1/turns``."""

import hashlib
import json
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from clankie_settings import bounds
from clankie_settings.wire.attachment import Attachment, AttachmentsOmitted
from clankie_settings.wire.scalars import Body, Count, Id, Moment, Name, WireModel

Kind = Literal["mention", "dm", "reply", "message", "voice", "catch_up"]
"""How the message came about."""

Delivery = Literal["auto", "steer", "queue"]
"""How the message meets a live run; Discord always sends ``auto``. Source: OPS-1."""


def _number(stated: object) -> object:
    # To Python true equals 1, so that the literal alone would let it pass.
    if isinstance(stated, bool):
        raise ValueError("must be a number")  # noqa: TRY004 -- pydantic reports no TypeError
    return stated


class Room(WireModel):
    """A place people write in. A guild room has a ``guild_id``, a DM has none."""

    platform: Literal["discord", "console"]
    guild_id: Id | None = None
    channel_id: Id
    parent_id: Id | None = None
    guild_name: Name | None = None
    channel_name: Name | None = None


class Actor(WireModel):
    """Who wrote. Authority comes from ``actor_id`` and the owner's settings alone. Source: GRANT-1."""

    actor_id: Id
    display_name: Name
    is_bot: bool = False
    role_ids: Annotated[tuple[Id, ...], Field(max_length=bounds.ROLES)] = ()


class ContextMessage(WireModel):
    """A channel message that comes along as backlog."""

    message_id: Id
    author_id: Id
    author_name: Name
    is_self: bool = False
    body: Body | None = None
    sent_at: Moment


class ContextVisual(WireModel):
    """The newest visual in the backlog, or how many of its message cannot be shown. Source: CTX-5."""

    message_id: Id
    attachment: Attachment | None = None
    omitted: Count = 0


class Trigger(WireModel):
    """One delivery: a message that a presence admitted, with what is needed to answer it.

    Source: WIRE-1, WIRE-2, WIRE-3.
    """

    wire_version: Annotated[Literal[1], BeforeValidator(_number)]
    delivery_id: Id
    presence_id: Id
    kind: Kind
    room: Room
    actor: Actor
    message_id: Id
    sent_at: Moment
    body: Body | None = None
    attachments: Annotated[tuple[Attachment, ...], Field(max_length=bounds.ATTACHMENTS)] = ()
    attachments_omitted: AttachmentsOmitted = AttachmentsOmitted()
    addressed: bool
    reply_to: ContextMessage | None = None
    context: Annotated[tuple[ContextMessage, ...], Field(max_length=bounds.CONTEXT_MESSAGES)] = ()
    context_visual: ContextVisual | None = None
    covers: Annotated[tuple[Id, ...], Field(max_length=bounds.COVERED_MESSAGES)] = ()
    delivery: Delivery = "auto"

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.body is None and not self.attachments:
            raise ValueError("body: a trigger has a body or at least one attachment, never neither")
        if self.kind == "voice" and self.attachments:
            raise ValueError("attachments: an utterance carries none")
        if self.kind == "dm" and self.room.guild_id is not None:
            raise ValueError("room.guild_id: a DM has none")
        if len({each.id for each in self.attachments}) != len(self.attachments):
            raise ValueError("attachments: an id stands twice")
        known = {each.message_id for each in self.context}
        if self.message_id in known or len(known) != len(self.context):
            raise ValueError("context: holds only messages before message_id, each once")
        if self.reply_to is not None:
            known.add(self.reply_to.message_id)
        if self.context_visual is not None and self.context_visual.message_id not in known:
            raise ValueError("context_visual.message_id: must be in context or be reply_to")
        return self


def content_hash(trigger: Trigger) -> str:
    """What makes two hand-overs of a delivery the same: room, actor, body and attachment ids, as SHA-256 hex.

    Names, signed addresses, context and kind may differ when a delivery is handed over again.

    Source: WIRE-5.
    """
    content = [
        trigger.room.platform,
        trigger.room.guild_id,
        trigger.room.channel_id,
        trigger.actor.actor_id,
        trigger.body,
        [each.id for each in trigger.attachments],
    ]
    return hashlib.sha256(json.dumps(content, ensure_ascii=True).encode("ascii")).hexdigest()
