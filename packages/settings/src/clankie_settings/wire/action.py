"""What the captain wants in a room besides the reply. Host-stamped: the model supplies only content.

On the stream an action's name is the ``event`` field and its fields are the ``data``; stored ones have an ``id``.
"""

from typing import Annotated, ClassVar, Final

from pydantic import Field

from clankie_settings import bounds
from clankie_settings.wire.attachment import Artifact
from clankie_settings.wire.scalars import Body, Id, Text, WireModel
from clankie_settings.wire.trigger import Room


class Typing(WireModel):
    """He is writing; true only for as long as it keeps coming. Source: ROOM-2."""

    name: ClassVar = "typing"
    stored: ClassVar = False
    delivery_id: Id


class ToolActivity(WireModel):
    """He works in tools: counts by category; the latest replaces those before. Source: ROOM-4."""

    name: ClassVar = "tool_activity"
    stored: ClassVar = False
    delivery_id: Id
    state: Annotated[str, Field(pattern=r"^(working|done)$")]
    categories: dict[Annotated[str, Field(pattern=r"^[a-z_]{1,32}$")], Annotated[int, Field(ge=1)]]
    elapsed_s: Annotated[int, Field(ge=0)]


class Clear(WireModel):
    """Forget the indicator and the card of a delivery."""

    name: ClassVar = "clear"
    stored: ClassVar = False
    delivery_id: Id


class TextUpdate(WireModel):
    """Mid-turn words, posted as a reply to the message being answered. Source: ROOM-3."""

    name: ClassVar = "text_update"
    stored: ClassVar = True
    action_id: Id
    delivery_id: Id
    text: Annotated[Body, Field(max_length=bounds.UPDATE_CHARS)]


class React(WireModel):
    """An emoji on the message being answered."""

    name: ClassVar = "react"
    stored: ClassVar = True
    action_id: Id
    delivery_id: Id
    emoji: Annotated[Text, Field(min_length=1, max_length=bounds.ID_CHARS)]


class Post(WireModel):
    """Words nobody waits for: the reply to a delivery of the captain's own.

    ``notice`` says that there is none: a room that wants no notices is spared it. Source: ROOM-8.
    """

    name: ClassVar = "post"
    stored: ClassVar = True
    action_id: Id
    delivery_id: Id
    room: Room
    reply_to: Id | None = None
    text: Annotated[Text, Field(min_length=1, max_length=bounds.REPLY_CHARS)]
    artifacts: Annotated[tuple[Artifact, ...], Field(max_length=bounds.ARTIFACTS)] = ()
    notice: bool = False


class Speak(WireModel):
    """Words for a voice presence to say. Source: VOX-2."""

    name: ClassVar = "speak"
    stored: ClassVar = True
    action_id: Id
    delivery_id: Id
    room: Room
    text: Annotated[Text, Field(min_length=1, max_length=bounds.REPLY_CHARS)]


Action = Typing | ToolActivity | Clear | TextUpdate | React | Post | Speak
"""Anything on the stream of actions."""

StoredAction = TextUpdate | React | Post | Speak
"""An action that is a row until it is acknowledged."""

ACTIONS: Final[dict[str, type[Action]]] = {
    each.name: each for each in (Typing, ToolActivity, Clear, TextUpdate, React, Post, Speak)
}
"""Every action by the name that the stream gives it."""


class UnknownActionError(ValueError):
    """The stream named an action that this side does not know."""


def read_action(name: str, data: str) -> Action:
    """The action that one event of the stream carries.

    Raises:
        UnknownActionError: No action has this name.
        pydantic.ValidationError: The data does not fit it.

    Source: wire.md.
    """
    kind = ACTIONS.get(name)
    if kind is None:
        raise UnknownActionError(name)
    return kind.model_validate_json(data)
