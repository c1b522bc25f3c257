"""Leases: one live process per presence, and one voice per room. Source: OUT-1, VOX-2."""

from typing import Annotated, Final, Literal

from pydantic import Field

from clankie_settings import bounds
from clankie_settings.wire.scalars import Id, Moment, Text, WireModel

INSTANCE_HEADER: Final = "Clankie-Instance"
"""Header by which a process of a presence says which one it is; whoever does not hold the lease is refused."""

PRESENCE_LEASED: Final = "presence_leased"
"""Problem code, 409: another process of this presence holds the lease."""

ROOM_LEASED: Final = "room_leased"
"""Problem code, 409: another voice presence holds the room."""

ACTION_SUPERSEDED: Final = "superseded"
"""Problem code, 409: the receipt of a ``speak`` comes after its words went back to text."""


class LeaseRequest(WireModel):
    """A process asks to be the only one of its presence, for ``ttl_s`` seconds from now; 0 gives the lease back.

    ``listening`` says that nothing that is written in its rooms can escape it just now. ``replaces`` names a process
    that surely lives no more, whose lease need not run out first.
    """

    instance_id: Id
    ttl_s: Annotated[int, Field(ge=0, le=bounds.LEASE_SECONDS)]
    listening: bool = False
    replaces: Id | None = None


class Lease(WireModel):
    """The lease is the asking process's.

    ``fence`` grows whenever the lease changes hands. ``missed_since`` is when a process before this one was last
    listening, absent where none ever was. Actions up to ``last_action`` were given out before it changed hands.
    """

    fence: Annotated[int, Field(ge=1)]
    missed_since: Moment | None = None
    last_action: Annotated[int, Field(ge=0)]


class RoomLeaseRequest(WireModel):
    """A voice presence asks for a room's text-only input, for ``ttl_s`` seconds from now; 0 gives the room back.

    Source: VOX-2.
    """

    kind: Literal["voice"]
    ttl_s: Annotated[int, Field(ge=0, le=bounds.LEASE_SECONDS)]


class RoomLease(WireModel):
    """The room is the asking presence's for ``ttl_s`` seconds.

    ``renewed`` is false where the lease is a new one: what was to be spoken under one before went back to text.

    Source: VOX-2.
    """

    kind: Literal["voice"]
    room: Annotated[Text, Field(min_length=1, max_length=2 * bounds.ID_CHARS + 1)]
    ttl_s: Annotated[int, Field(ge=0)]
    renewed: bool
