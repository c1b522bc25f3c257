"""``/v1/turns``: hand over, wait, receipt. Source: WIRE-5, WIRE-6."""

import re
from datetime import timedelta
from typing import Annotated, Final

import structlog
from fastapi import APIRouter, Depends, Header, Query, Request
from starlette.responses import Response

from clankie_captain.api import body
from clankie_captain.api.auth import AskingPresence, AskingSpeaker
from clankie_captain.api.context import Captain, captain
from clankie_captain.api.problems import ProblemError
from clankie_captain.core import crash_points
from clankie_captain.core.turns import Turn
from clankie_settings import bounds
from clankie_settings.ids import DeliveryId
from clankie_settings.wire.command import Edit
from clankie_settings.wire.receipt import Receipt, ReceiptAnswer
from clankie_settings.wire.result import Pending
from clankie_settings.wire.scalars import WireModel
from clankie_settings.wire.trigger import Trigger

router = APIRouter(prefix="/v1/turns")

Parts = Annotated[Captain, Depends(captain)]
Prefer = Annotated[list[str] | None, Header()]

_log = structlog.get_logger()


@router.post("")
async def hand_over(request: Request, parts: Parts, presence: AskingPresence, prefer: Prefer = None) -> Response:
    """Accept a delivery, and answer when it settles or when the preferred wait has run out."""
    within = _wait(prefer)
    trigger = await body.read(request, Trigger, "invalid_trigger")
    if trigger.presence_id != presence:
        raise ProblemError(
            403, "presence_mismatch", "presence_id is not the presence that the token belongs to", "presence_id"
        )
    if trigger.delivery != "auto" and trigger.room.platform == "discord":
        raise ProblemError(422, "invalid_trigger", "delivery: Discord presences send auto", "delivery")
    turn = await parts.desk.accept(trigger)
    if turn.result is None and within != timedelta():
        turn = await parts.desk.outcome(presence, turn.delivery, within)
    return _told(parts, turn)


@router.get("")
async def list_owed(parts: Parts, presence: AskingPresence, owed: Annotated[bool, Query()] = False) -> Response:
    """What is queued, running, or settled and not yet receipted, for the asking presence."""
    if not owed:
        raise ProblemError(422, "invalid_query", "owed: only ?owed=true lists turns", "owed")
    await parts.presences.alive(presence, parts.clock.now())
    return _json(await parts.deliveries.owed(presence))


@router.get("/{delivery_id}")
async def wait(parts: Parts, presence: AskingSpeaker, delivery_id: str, prefer: Prefer = None) -> Response:
    """The result of a delivery, waited for in the same way."""
    return _told(parts, await parts.desk.outcome(presence, DeliveryId(delivery_id), _wait(prefer)))


@router.patch("/{delivery_id}")
async def edit(request: Request, parts: Parts, presence: AskingPresence, delivery_id: str) -> Response:
    """Replace the words of a delivery that no run has heard. Source: ING-7."""
    words = await body.read(request, Edit, "invalid_edit")
    return _answer(await parts.desk.edit(presence, DeliveryId(delivery_id), words.body))


@router.delete("/{delivery_id}")
async def withdraw(parts: Parts, presence: AskingPresence, delivery_id: str) -> Response:
    """Withdraw a delivery that no run has heard. Source: ING-7."""
    return _answer(await parts.desk.withdraw(presence, DeliveryId(delivery_id)))


@router.post("/{delivery_id}/cancel")
async def cancel(parts: Parts, speaker: AskingSpeaker, delivery_id: str) -> Response:
    """End a turn: one that nobody heard at once, one that owns a run with its run. Source: OPS-1."""
    return _answer(await parts.desk.cancel(speaker, DeliveryId(delivery_id)))


@router.post("/{delivery_id}/receipts")
async def take_receipt(request: Request, parts: Parts, presence: AskingPresence, delivery_id: str) -> Response:
    """Keep the receipt of one part of a reply."""
    receipt = await body.read(request, Receipt, "invalid_receipt")
    received = await parts.deliveries.receive(presence, DeliveryId(delivery_id), receipt)
    if received.latency is not None:
        parts.metrics.replied(received.latency)
        latency = round(received.latency.total_seconds() * 1000)
        _log.info("discord.text.reply", presence=presence, delivery=delivery_id, parts=receipt.of, latency_ms=latency)
    parts.crash.reach(crash_points.TELLING_RECEIVED)
    return _json(ReceiptAnswer(delivery_id=delivery_id, owed=received.owed))


_WAIT: Final = re.compile(r'(?:^|,)\s*wait\s*=\s*("?)([0-9]+)\1\s*(?=$|[,;])', re.IGNORECASE)


def _wait(prefer: list[str] | None) -> timedelta | None:
    """How long the caller wants to wait (RFC 7240); None waits until the turn settles."""
    found = _WAIT.search(",".join(prefer or ()))
    if found is None:
        return None
    digits = found.group(2).lstrip("0") or "0"
    if len(digits) > len(str(bounds.WAIT_SECONDS)) or int(digits) > bounds.WAIT_SECONDS:
        raise ProblemError(422, "invalid_wait", f"Prefer: wait is 0 to {bounds.WAIT_SECONDS} seconds", "Prefer")
    return timedelta(seconds=int(digits))


def _told(parts: Captain, turn: Turn) -> Response:
    if turn.result is not None:
        parts.crash.reach(crash_points.TELLING)
    return _answer(turn)


def _answer(turn: Turn) -> Response:
    if turn.result is not None:
        return _json(turn.result)
    state = "queued" if turn.state == "queued" else "running"
    response = _json(Pending(state=state, delivery_id=turn.delivery), 202)
    response.headers["Location"] = f"/v1/turns/{turn.delivery}"
    return response


def _json(model: WireModel, status: int = 200) -> Response:
    return Response(model.model_dump_json(exclude_none=True), status, media_type="application/json")
