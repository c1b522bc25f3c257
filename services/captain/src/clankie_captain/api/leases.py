"""Leases: one process of a presence is the only one, one voice owns a room. Source: C74, OUT-1, VOX-2."""

import re
from datetime import timedelta
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from clankie_captain.api import body
from clankie_captain.api.actions import own
from clankie_captain.api.auth import AskingPresence, AskingProcess, taken
from clankie_captain.api.context import Captain, captain
from clankie_captain.api.problems import ProblemError
from clankie_captain.core.lease import Asking
from clankie_captain.lanes.signals import Nudge
from clankie_settings.wire.lease import ROOM_LEASED, Lease, LeaseRequest, RoomLease, RoomLeaseRequest

router = APIRouter(prefix="/v1")

Parts = Annotated[Captain, Depends(captain)]

_ROOM: Final = re.compile(r"[A-Za-z0-9._-]{1,64}:[A-Za-z0-9._-]{1,64}")


@router.put("/presences/{presence_id}/lease")
async def ask(request: Request, parts: Parts, presence: AskingProcess, presence_id: str) -> Response:
    """Give or renew the lease, or take it back."""
    own(presence, presence_id)
    asked = await body.read(request, LeaseRequest, "invalid_lease")
    asking = Asking(asked.instance_id, timedelta(seconds=asked.ttl_s), asked.listening, asked.replaces)
    before = await parts.leases.holder(presence)
    held = await parts.leases.ask(presence, asking, parts.clock.now())
    if held is None:
        raise taken()
    if held.holder != before:
        # The stream of whoever had it sees that it is over.
        parts.signals.send(presence, Nudge())
    lease = Lease(fence=held.fence, missed_since=held.missed_since, last_action=held.last_action)
    return Response(lease.model_dump_json(exclude_none=True), media_type="application/json")


@router.put("/presences/{presence_id}/rooms/{room}")
async def hold_room(request: Request, parts: Parts, presence: AskingPresence, presence_id: str, room: str) -> Response:
    """Give a voice presence a room's text-only input, renew that, or take it back. Source: VOX-2."""
    own(presence, presence_id)
    asked = await body.read(request, RoomLeaseRequest, "invalid_lease")
    if _ROOM.fullmatch(room) is None:
        raise ProblemError(422, "invalid_room", "room: is GUILD:CHANNEL, or dm:CHANNEL", "room")
    held = await parts.voices.ask(presence, room, timedelta(seconds=asked.ttl_s))
    if held is None:
        raise ProblemError(409, ROOM_LEASED, "another voice holds this room: stop one of the two, or wait")
    lease = RoomLease(kind=asked.kind, room=room, ttl_s=asked.ttl_s, renewed=held.renewed)
    return Response(lease.model_dump_json(), media_type="application/json")
