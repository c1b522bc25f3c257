"""The lease by which one process of a presence is the only one. Source: C74, OUT-1."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from clankie_captain.api import body
from clankie_captain.api.actions import own
from clankie_captain.api.auth import AskingProcess, taken
from clankie_captain.api.context import Captain, captain
from clankie_captain.core.lease import Asking
from clankie_captain.lanes.signals import Nudge
from clankie_settings.wire.lease import Lease, LeaseRequest

router = APIRouter(prefix="/v1")

Parts = Annotated[Captain, Depends(captain)]


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
