"""What became of a turn: exactly one of four. Source: WIRE-4."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from clankie_settings import bounds
from clankie_settings.wire.attachment import Artifact
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.scalars import Id, Text, WireModel


class _Settled(WireModel):
    delivery_id: Id
    turn_id: Id
    owed: bool
    """The room still lacks something for this delivery; a presence posts only while this is true."""


class Replied(_Settled):
    """The run's owner carries its reply. Stored actions up to ``after_action`` belong before it."""

    state: Literal["replied"] = "replied"
    run_id: Id
    text: Annotated[Text, Field(min_length=1, max_length=bounds.REPLY_CHARS)]
    artifacts: Annotated[tuple[Artifact, ...], Field(max_length=bounds.ARTIFACTS)] = ()
    after_action: Annotated[int, Field(ge=0)] | None = None


class Absorbed(_Settled):
    """The words were heard by a run whose reply belongs to another delivery. Source: LANE-4."""

    state: Literal["absorbed"] = "absorbed"
    run_id: Id
    answered_by: Id


class Silent(_Settled):
    """He heard and chose not to speak. Source: ROOM-1."""

    state: Literal["silent"] = "silent"
    run_id: Id


class Failed(_Settled):
    """The turn ended without an answer; ``notice`` is true where the room deserves a short word. Source: ROOM-8."""

    state: Literal["failed"] = "failed"
    run_id: Id | None = None
    code: FailureCode
    notice: bool


Result = Annotated[Replied | Absorbed | Silent | Failed, Field(discriminator="state")]
"""The tagged union of results. Source: WIRE-4."""


class Pending(WireModel):
    """The turn is not settled yet; ask again at its ``Location``. Source: WIRE-6."""

    state: Literal["queued", "running"]
    delivery_id: Id


_SILENT = ConfigDict(hide_input_in_errors=True)

RESULT: TypeAdapter[Replied | Absorbed | Silent | Failed] = TypeAdapter(Result, config=_SILENT)
"""Reads a result from JSON."""

ANSWER: TypeAdapter[Replied | Absorbed | Silent | Failed | Pending] = TypeAdapter(
    Annotated[Replied | Absorbed | Silent | Failed | Pending, Field(discriminator="state")], config=_SILENT
)
"""Reads what ``POST /v1/turns`` and ``GET /v1/turns/{delivery_id}`` answer."""
