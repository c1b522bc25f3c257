"""What people do to him besides speaking: edits, deletions, commands. Source: ING-7, OPS-5."""

from typing import Annotated, Literal

from pydantic import Field

from clankie_settings import bounds
from clankie_settings.wire.scalars import Body, Id, Moment, Text, WireModel
from clankie_settings.wire.trigger import Actor, Room

CommandName = Literal["stop", "new", "status", "usage", "quiet"]
"""Stop what runs here, begin anew, say how it stands, say what it cost, be quiet for a while. Source: OPS-5."""


class Edit(WireModel):
    """``PATCH /v1/turns/{delivery_id}``: the words as they read now, while no run has heard them."""

    body: Body
    edited_at: Moment


class Command(WireModel):
    """``POST /v1/presences/{id}/commands``: a slash command, once for each ``command_id``."""

    command_id: Id
    name: CommandName
    room: Room
    actor: Actor


class CommandAnswer(WireModel):
    """What only the person who gave the command is shown."""

    text: Annotated[Text, Field(min_length=1, max_length=bounds.MESSAGE_CHARS)]
