"""One live process per presence: ``PUT /v1/presences/{id}/lease``. Source: OUT-1."""

from typing import Annotated, Final

from pydantic import Field

from clankie_settings import bounds
from clankie_settings.wire.scalars import Id, Moment, WireModel

INSTANCE_HEADER: Final = "Clankie-Instance"
"""Header by which a process of a presence says which one it is; whoever does not hold the lease is refused."""

PRESENCE_LEASED: Final = "presence_leased"
"""Problem code, 409: another process of this presence holds the lease."""


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
