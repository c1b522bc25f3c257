"""``/v1/conversations``: the operator's word, and one tail that shows what becomes of it. Source: OPS-1, OPS-2."""

import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Request
from fastapi.sse import format_sse_event
from starlette.responses import Response

from clankie_captain.api import body, streams
from clankie_captain.api.auth import operator
from clankie_captain.api.context import Captain, captain
from clankie_captain.core.lane import conversation
from clankie_captain.core.turns import Turn
from clankie_captain.lanes.signals import Nudge, Requesting, Sign, Token, ToolUse
from clankie_settings.ids import LaneId
from clankie_settings.wire.operator import Conversation, OperatorMessage, ReceiptState, RunReceipt

router = APIRouter(prefix="/v1/conversations", dependencies=[Depends(operator)])

Parts = Annotated[Captain, Depends(captain)]
Name = Annotated[str, Path(pattern=r"^[A-Za-z0-9._-]{1,48}$")]


@router.post("")
async def begin(parts: Parts) -> Response:
    """A new conversation."""
    return _json(Conversation(conversation_id=parts.conversations.begin()))


@router.post("/{conversation_id}/messages")
async def say(request: Request, parts: Parts, conversation_id: Name) -> Response:
    """Accept a message; its run receipt is what it is waited for, and cancelled, by."""
    message = await body.read(request, OperatorMessage, "invalid_message")
    turn = await parts.conversations.say(conversation_id, message)
    return _json(RunReceipt(run_receipt=turn.delivery, state=_state(turn)))


@router.get("/{conversation_id}/events")
async def tail(parts: Parts, conversation_id: Name, last_event_id: Annotated[str | None, Header()] = None) -> Response:
    """Everything that was accepted here until it settles, as server-sent events."""
    after = streams.last_event(last_event_id)
    return streams.response(_events(parts, conversation(conversation_id).id, after))


def _state(turn: Turn) -> ReceiptState:
    if turn.result is not None:
        return turn.result.state
    match turn.state:
        case "queued":
            return "queued"
        case "steer":
            return "steered"
        case _:
            return "running"


async def _events(parts: Captain, lane: LaneId, after: int | None) -> AsyncIterator[bytes]:
    with parts.signals.inbox(lane) as inbox:
        # Before the other side knows that it is connected: what it says from then on is seen.
        if after is None:
            after = await parts.events.beginning(lane)
        yield format_sse_event(comment=streams.CONNECTED)
        sign: Sign | None = Nudge()
        while not parts.signals.closed:
            match sign:
                case Nudge():
                    while stored := await parts.events.since(lane, after):
                        for event in stored:
                            yield format_sse_event(data_str=event.payload, event=event.name, id=str(event.seq))
                            after = event.seq
                case Token(receipt, text):
                    yield _live("token", {"run_receipt": receipt, "text": text})
                case ToolUse(receipt, tool, state):
                    yield _live("tool", {"run_receipt": receipt, "tool": tool, "state": state})
                case Requesting(receipt):
                    yield _live("activity", {"run_receipt": receipt, "state": "thinking"})
                case _:
                    yield format_sse_event(comment="")
            sign = await streams.next_sign(inbox)


def _live(name: str, fields: dict[str, str]) -> bytes:
    # Without an id: true only while it is new, and never resumed from.
    return format_sse_event(data_str=json.dumps(fields, ensure_ascii=False), event=name)


def _json(model: Conversation | RunReceipt) -> Response:
    return Response(model.model_dump_json(), media_type="application/json")
