"""The stream of actions and their receipts. Source: wire.md, ROOM-2, ROOM-3."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Request
from fastapi.sse import format_sse_event
from starlette.responses import Response

from clankie_captain.api import body, streams
from clankie_captain.api.auth import AskingPresence
from clankie_captain.api.context import Captain, captain
from clankie_captain.api.problems import ProblemError
from clankie_captain.lanes.signals import Nudge, Sign
from clankie_settings.ids import ActionId, PresenceId
from clankie_settings.wire.action import Clear, ToolActivity, Typing
from clankie_settings.wire.command import Command, CommandAnswer
from clankie_settings.wire.receipt import ActionReceipt

router = APIRouter(prefix="/v1")

Parts = Annotated[Captain, Depends(captain)]


@router.get("/presences/{presence_id}/actions")
async def stream(
    parts: Parts,
    presence: AskingPresence,
    presence_id: str,
    last_event_id: Annotated[str | None, Header()] = None,
    clankie_instance: Annotated[str | None, Header()] = None,
) -> Response:
    """What the captain wants in the presence's rooms, as server-sent events."""
    own(presence, presence_id)
    after = streams.last_event(last_event_id) or 0
    await parts.presences.alive(presence, parts.clock.now())
    return streams.response(_events(parts, presence, clankie_instance, after))


@router.post("/presences/{presence_id}/commands")
async def command(request: Request, parts: Parts, presence: AskingPresence, presence_id: str) -> Response:
    """Do a slash command, once, and say what its giver is shown."""
    own(presence, presence_id)
    given = await body.read(request, Command, "invalid_command")
    answer = CommandAnswer(text=await parts.commands.do(presence, given))
    return Response(answer.model_dump_json(), media_type="application/json")


@router.get("/presences/{presence_id}/rooms")
async def rooms(parts: Parts, presence: AskingPresence, presence_id: str) -> Response:
    """The rooms that the presence stood in, and when it was last heard of."""
    own(presence, presence_id)
    known = await parts.presences.rooms(presence)
    return Response(known.model_dump_json(exclude_none=True), media_type="application/json")


@router.post("/actions/{action_id}/receipt", status_code=204)
async def take_receipt(request: Request, parts: Parts, presence: AskingPresence, action_id: str) -> Response:
    """Keep what became of an action, and tell whoever waits for it."""
    receipt = await body.read(request, ActionReceipt, "invalid_receipt")
    parts.voices.tell(await parts.actions.acknowledge(presence, ActionId(action_id), receipt))
    parts.receipts.give(action_id, receipt)
    return Response(status_code=204)


def own(presence: PresenceId, named: str) -> None:
    """Let a presence reach only what is its own.

    Raises:
        ProblemError: 403 for another's.
    """
    if presence != named:
        raise ProblemError(403, "presence_mismatch", "a presence reaches only what is its own", "presence_id")


async def _may_hear(parts: Captain, presence: PresenceId, instance: str | None) -> bool:
    """Whether a stream's process has the lease still: what a second one were told, both would do. Source: C74."""
    return instance is None or await parts.leases.holder(presence) in (None, instance)


async def _events(parts: Captain, presence: PresenceId, instance: str | None, after: int) -> AsyncIterator[bytes]:
    with parts.signals.inbox(presence) as inbox:
        yield format_sse_event(comment=streams.CONNECTED)
        sign: Sign | None = Nudge()
        while not parts.signals.closed and await _may_hear(parts, presence, instance):
            match sign:
                case Nudge():
                    while stored := await parts.actions.pending(presence, after):
                        for action in stored:
                            yield format_sse_event(data_str=action.payload, event=action.name, id=str(action.seq))
                            after = action.seq
                case Typing() | Clear() | ToolActivity():
                    yield format_sse_event(data_str=sign.model_dump_json(), event=sign.name)
                case _:
                    yield format_sse_event(comment="")
                    await parts.presences.alive(presence, parts.clock.now())
            sign = await streams.next_sign(inbox)
