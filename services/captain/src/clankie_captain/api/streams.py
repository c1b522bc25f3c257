"""Server-sent events: what every stream does alike."""

import asyncio
from collections.abc import AsyncIterator

from starlette.responses import StreamingResponse

from clankie_captain.api.problems import ProblemError
from clankie_captain.lanes.signals import Sign
from clankie_settings import bounds

CONNECTED = "clankie"
"""The comment with which a stream begins, so that the other side knows that it is connected."""

_EVENT_ID_DIGITS = 18


def last_event(header: str | None) -> int | None:
    """The event after which a stream goes on.

    Raises:
        ProblemError: 422 for an id that no stream gave.
    """
    if header is None:
        return None
    if not (header.isascii() and header.isdecimal()) or len(header) > _EVENT_ID_DIGITS:
        raise ProblemError(422, "invalid_event_id", "Last-Event-ID: a number that this stream gave", "Last-Event-ID")
    return int(header)


def response(events: AsyncIterator[bytes]) -> StreamingResponse:
    """The answer that carries a stream."""
    return StreamingResponse(events, media_type="text/event-stream", headers={"Cache-Control": "no-store"})


async def next_sign(inbox: "asyncio.Queue[Sign]") -> Sign | None:
    """The next sign, or None where it is time for a comment line."""
    try:
        async with asyncio.timeout(bounds.SSE_COMMENT_EVERY.total_seconds()):
            return await inbox.get()
    except TimeoutError:
        return None
