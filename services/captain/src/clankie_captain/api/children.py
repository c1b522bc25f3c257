"""``/v1/children``: work in the background, for the operator. Source: LOOP-6."""

import json
from dataclasses import asdict
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Path

from clankie_captain.api.auth import operator
from clankie_captain.api.context import Captain, captain
from clankie_captain.api.problems import ProblemError
from clankie_captain.core.children import Child
from clankie_settings import bounds
from clankie_settings.ids import ChildId

router = APIRouter(prefix="/v1/children", dependencies=[Depends(operator)])

Parts = Annotated[Captain, Depends(captain)]


@router.get("")
async def children(parts: Parts) -> dict[str, object]:
    """The background threads that were begun last, newest first."""
    return {"children": [_shown(each) for each in await parts.children.newest()]}


@router.post("/{child_id}/cancel")
async def cancel(parts: Parts, child_id: Annotated[str, Path(max_length=bounds.ID_CHARS)]) -> dict[str, object]:
    """End a background thread; its room is told. One that has ended stays as it is."""
    found = await parts.children.cancel(ChildId(child_id))
    if found is None:
        raise ProblemError(
            404, "unknown_child", "there is no such background thread; GET /v1/children lists them", "child_id"
        )
    return _shown(found)


def _shown(child: Child) -> dict[str, object]:
    return {
        **asdict(child),
        "usage": None if child.usage is None else json.loads(child.usage),
        "created_at": child.created_at.isoformat(),
        "started_at": _moment(child.started_at),
        "settled_at": _moment(child.settled_at),
    }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
