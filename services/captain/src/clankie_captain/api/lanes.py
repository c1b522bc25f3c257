"""``/v1/lanes``: which lanes there are and what is written in them, for the operator. Source: LANE-12, SEC-1."""

import json
from dataclasses import asdict
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from clankie_captain.api.auth import operator
from clankie_captain.api.context import Captain, captain
from clankie_captain.api.problems import ProblemError
from clankie_captain.ports import EntryLine, LaneSummary
from clankie_settings import bounds
from clankie_settings.ids import DeliveryId, LaneId

router = APIRouter(prefix="/v1/lanes", dependencies=[Depends(operator)])

Parts = Annotated[Captain, Depends(captain)]

PAGE: Final = 100
"""Lanes or entries in one answer, unless fewer are asked for."""

JSON_LINES: Final = "application/x-ndjson"
"""Media type of entries: one JSON object a line."""

Room = Annotated[str | None, Query(pattern=r"^(dm|[0-9]{1,20}):[0-9]{1,20}$")]
Delivery = Annotated[str | None, Query(min_length=1, max_length=bounds.ID_CHARS)]
Lane = Annotated[str, Path(min_length=1, max_length=256)]
Most = Annotated[int, Query(ge=1, le=PAGE)]


@router.get("")
async def lanes(
    parts: Parts,
    room: Room = None,
    delivery: Delivery = None,
    after: Annotated[str, Query(max_length=256)] = "",
    limit: Most = PAGE,
) -> dict[str, object]:
    """Lanes in the order of their ids; with ``room`` or ``delivery`` those that it belongs to."""
    if room is not None:
        found = await parts.transcripts.of_room(room, limit)
    elif delivery is not None:
        found = await parts.transcripts.of_delivery(DeliveryId(delivery))
    else:
        found = await parts.transcripts.lanes(after, limit)
    return {"lanes": [_summary(each) for each in found]}


@router.get("/{lane_id:path}/entries")
async def entries(
    parts: Parts, lane_id: Lane, after: Annotated[int, Query(ge=0, lt=2**62)] = 0, limit: Most = PAGE
) -> Response:
    """What is written in a lane after the entry ``after``, as JSON lines; an answer without a line is the end."""
    found = await parts.transcripts.entries(LaneId(lane_id), after, limit)
    if found is None:
        raise _unknown()
    return Response("".join(_line(each) for each in found), media_type=JSON_LINES)


@router.get("/{lane_id:path}")
async def lane(parts: Parts, lane_id: Lane) -> dict[str, object]:
    """One lane: what lives and waits in it, and how much is written."""
    found = await parts.transcripts.lane(LaneId(lane_id))
    if found is None:
        raise _unknown()
    return _summary(found)


@router.delete("/{lane_id:path}")
async def forget(parts: Parts, lane_id: Lane) -> dict[str, object]:
    """Forget everything that was said in a lane. Source: OPS-12."""
    gone = await parts.keeping.forgetting.lane(LaneId(lane_id))
    if gone is None:
        raise _unknown()
    return asdict(gone)


def _unknown() -> ProblemError:
    return ProblemError(404, "unknown_lane", "there is no such lane; GET /v1/lanes lists them", "lane_id")


def _summary(lane: LaneSummary) -> dict[str, object]:
    return {**asdict(lane), "touched_at": lane.touched_at.isoformat()}


def _line(entry: EntryLine) -> str:
    head = json.dumps({"seq": entry.seq, "at": entry.at.isoformat(), "run": entry.run, "kind": entry.kind})
    # The payload goes out byte for byte as it was recorded; a break in it can only stand between its parts.
    payload = entry.payload.replace("\n", " ").replace("\r", " ")
    return f'{head[:-1]}, "payload": {payload}}}\n'
