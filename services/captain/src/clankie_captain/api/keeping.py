"""``/v1/backup`` and ``/v1/forget``: what the operator asks of the store as a whole. Source: OPS-10, OPS-12."""

from collections.abc import AsyncGenerator
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response, StreamingResponse

from clankie_captain.api import body
from clankie_captain.api.auth import operator
from clankie_captain.api.context import Captain, captain
from clankie_settings.wire.operator import Forget, Forgotten

router = APIRouter(prefix="/v1", dependencies=[Depends(operator)])

Parts = Annotated[Captain, Depends(captain)]

TAR: Final = "application/x-tar"
"""Media type of a backup."""


@router.get("/backup")
async def backup(parts: Parts) -> Response:
    """Everything durable as of now, as one stream; one that breaks off is no backup, and its end says so."""
    stream = parts.keeping.backups.stream()
    # Before the answer begins, so that what cannot be backed up is a problem and not half a file.
    first = await anext(stream)
    return StreamingResponse(_whole(first, stream), media_type=TAR)


@router.post("/forget")
async def forget(request: Request, parts: Parts) -> Response:
    """Forget a room, or a person everywhere; again is the same."""
    asked = await body.read(request, Forget, "invalid_forget")
    if asked.room is not None:
        gone = await parts.keeping.forgetting.room(asked.room)
    else:
        gone = await parts.keeping.forgetting.person(str(asked.person), replies=asked.replies)
    answer = Forgotten(lanes=gone.lanes, entries=gone.entries, deliveries=gone.deliveries)
    return Response(answer.model_dump_json(), media_type="application/json")


async def _whole(first: bytes, rest: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    try:
        yield first
        async for chunk in rest:
            yield chunk
    finally:
        await rest.aclose()
