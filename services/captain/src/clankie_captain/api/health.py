"""``/healthz``, ``/readyz`` and ``/v1/stats``. Source: OPS-8."""

import ipaddress
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from clankie_captain.api.auth import operator
from clankie_captain.api.context import Captain, captain
from clankie_captain.api.problems import ProblemError
from clankie_captain.metrics import CONTENT_TYPE
from clankie_settings.wire.version import WIRE_VERSION

router = APIRouter()

Parts = Annotated[Captain, Depends(captain)]


@router.get("/healthz")
async def healthz() -> dict[str, bool]:
    """The process answers."""
    return {"alive": True}


@router.get("/readyz")
async def readyz(parts: Parts) -> dict[str, object]:
    """The captain takes deliveries: its store answers and it is not stopping."""
    if parts.desk.draining:
        raise ProblemError(503, "draining", "the captain is stopping")
    try:
        await parts.presences.seen()
    except Exception as error:  # whatever the store's trouble is, the captain is not ready
        raise ProblemError(503, "store_failed", "the store does not answer; check the disk and the log") from error
    return {"ready": True, "version": parts.version, "wire_versions": [WIRE_VERSION]}


@router.get("/metrics")
async def metrics(request: Request, parts: Parts) -> Response:
    """Measures for Prometheus; without a token on loopback, with the operator's from elsewhere."""
    if not _from_here(request):
        await operator(request)
    return Response(parts.metrics.exposed(await parts.deliveries.counts()), media_type=CONTENT_TYPE)


def _from_here(request: Request) -> bool:
    try:
        return request.client is not None and ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False


@router.get("/v1/stats", dependencies=[Depends(operator)])
async def stats(parts: Parts) -> dict[str, object]:
    """What the captain has in hand, for the operator."""
    counts = await parts.deliveries.counts()
    seen = await parts.presences.seen()
    return {
        "version": parts.version,
        "wire_versions": [WIRE_VERSION],
        "live_runs": counts.live_runs,
        "waiting": counts.waiting,
        "lanes": counts.lanes,
        "children": asdict(await parts.children.rows.open()),
        "presences": [{"id": name, "alive_at": at.isoformat()} for name, at in seen],
        "uptime_s": round((parts.clock.now() - parts.started_at).total_seconds()),
    }
