"""What the captain's answers mean, and how long to keep asking."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from clankie_bridge.captain.actions import ALIVE, CaptainActions
from clankie_bridge.captain.connection import Connection
from clankie_bridge.captain.patience import Patience
from clankie_bridge.captain.turns import CaptainTurns
from clankie_bridge.errors import (
    CaptainAway,
    CaptainError,
    CaptainRefuses,
    DeliveryConflict,
    DeliveryUnknown,
    TriggerRefused,
)
from clankie_bridge.ports import Signal
from clankie_settings.ids import PresenceId
from clankie_settings.wire.action import TextUpdate, Typing
from clankie_settings.wire.receipt import ActionReceipt, Receipt
from clankie_settings.wire.result import Pending
from tests.bridge.conftest import KeptLog
from tests.bridge.discord.test_send import StillClock

WIRE = {"Clankie-Wire": "1"}


class Captain:
    """Answers every call alike, and keeps what was asked."""

    def __init__(self, answer: httpx.Response | Exception) -> None:
        self.answer = answer
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def connection(self) -> Connection:
        return Connection("http://captain.test", SecretStr("secret"), httpx.MockTransport(self))

    def turns(self) -> CaptainTurns:
        return CaptainTurns(self.connection())


def problem(status: int, code: str, **more: Any) -> httpx.Response:
    shape = {"type": "about:blank", "title": "x", "status": status, "detail": "x", "code": code, **more}
    return httpx.Response(status, json=shape, headers=WIRE)


@pytest.mark.parametrize(
    ("answer", "error", "code"),
    [
        (httpx.ConnectError("http://secret"), CaptainAway, "no_connection"),
        (httpx.ConnectTimeout("x"), CaptainAway, "no_connection"),
        (httpx.ReadTimeout("x"), CaptainAway, "timeout"),
        (httpx.RemoteProtocolError("x"), CaptainAway, "connection_lost"),
        (problem(503, "draining"), CaptainAway, "draining"),
        (problem(429, "busy"), CaptainAway, "busy"),
        (httpx.Response(500, text="<html>", headers=WIRE), CaptainAway, "captain_status_500"),
        (httpx.Response(200, text="{}", headers=WIRE), CaptainAway, "unreadable_answer"),
        (problem(422, "invalid_trigger", field="body"), TriggerRefused, "invalid_trigger"),
        (problem(413, "too_large"), TriggerRefused, "too_large"),
        (problem(409, "delivery_conflict"), DeliveryConflict, "delivery_conflict"),
        (problem(404, "unknown_delivery"), DeliveryUnknown, "unknown_delivery"),
        (problem(401, "unauthorized"), CaptainRefuses, "CLANKIE_CAPTAIN_TOKEN"),
        (problem(403, "forbidden"), CaptainRefuses, "CLANKIE_CAPTAIN_TOKEN"),
        (httpx.Response(200, json={}), CaptainRefuses, "upgrade the captain"),
        (httpx.Response(200, json={}, headers={"Clankie-Wire": "2"}), CaptainRefuses, "upgrade the presence"),
    ],
)
async def test_every_answer_is_told_apart(
    answer: httpx.Response | Exception, error: type[CaptainError], code: str
) -> None:
    with pytest.raises(error, match=code):
        await Captain(answer).turns().result("1", 0)


@pytest.mark.requirement("WIRE-7")
async def test_every_request_states_the_wire_version_the_token_and_the_wait() -> None:
    captain = Captain(httpx.Response(202, json={"state": "queued", "delivery_id": "1"}, headers=WIRE))
    answer = await captain.turns().result("1", 60)
    assert answer == Pending(state="queued", delivery_id="1")
    (asked,) = captain.asked
    assert asked.headers["Clankie-Wire"] == "1"
    assert asked.headers["Authorization"] == "Bearer secret"
    assert asked.headers["Prefer"] == "wait=60"
    assert asked.extensions["timeout"]["read"] == 70.0


async def test_receipts_go_where_they_belong() -> None:
    captain = Captain(httpx.Response(200, json={"delivery_id": "1", "owed": False}, headers=WIRE))
    turns = captain.turns()
    receipt = Receipt(part=1, of=1, message_id="5", posted_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert await turns.receipt("1", receipt) is False
    await turns.action_receipt("a1", ActionReceipt(ok=True))
    assert [each.url.path for each in captain.asked] == ["/v1/turns/1/receipts", "/v1/actions/a1/receipt"]


async def test_an_action_that_this_side_cannot_read_keeps_its_number() -> None:
    stream = (
        ": here\n\n"
        'event: typing\ndata: {"delivery_id":"1"}\n\n'
        'event: text_update\nid: 7\ndata: {"action_id":"a","delivery_id":"1","text":"soon"}\n\n'
        "event: dance\nid: 8\ndata: {}\n\n"
        'event: text_update\nid: 9\ndata: {"text":1}\n\n'
        ": still here\n\n"
    )
    captain = Captain(httpx.Response(200, text=stream, headers={**WIRE, "Content-Type": "text/event-stream"}))
    log = KeptLog()
    actions = CaptainActions(captain.connection(), PresenceId("discord"), log)
    heard = [each async for each in actions.follow(6)]
    assert heard[0].action == Typing(delivery_id="1")
    assert heard[1] == Signal(7, TextUpdate(action_id="a", delivery_id="1", text="soon"))
    assert heard[2:] == [Signal(8, None), Signal(9, None), ALIVE]
    assert captain.asked[0].headers["Last-Event-ID"] == "6"
    assert [line["event"] for line in log.lines] == ["action_unknown", "action_unreadable"]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (problem(401, "unauthorized"), CaptainRefuses),
        (problem(404, "unknown_presence"), DeliveryUnknown),
        (httpx.Response(200, text="no stream", headers=WIRE), CaptainAway),
        (httpx.Response(200, text="", headers={"Content-Type": "text/event-stream"}), CaptainRefuses),
        (httpx.ConnectError("x"), CaptainAway),
    ],
)
async def test_a_stream_that_cannot_be_had_says_why(
    answer: httpx.Response | Exception, error: type[CaptainError]
) -> None:
    actions = CaptainActions(Captain(answer).connection(), PresenceId("discord"), KeptLog())
    with pytest.raises(error):
        [each async for each in actions.follow(None)]


async def test_patience_waits_longer_each_time_up_to_five_seconds_and_says_it_once() -> None:
    clock, log, misses = StillClock(), KeptLog(), 10

    async def attempt() -> str:
        nonlocal misses
        if misses:
            misses -= 1
            raise CaptainAway("no_connection")
        return "done"

    assert await Patience(clock, lambda: 0.0, log).until_done(attempt) == "done"
    assert clock.waits[:3] == [timedelta(milliseconds=100), timedelta(milliseconds=200), timedelta(milliseconds=400)]
    assert clock.waits[-1] == timedelta(seconds=5)
    assert [line["event"] for line in log.lines] == ["captain_away", "captain_back"]


async def test_patience_does_not_repeat_what_no_repetition_changes() -> None:
    clock = StillClock()

    async def attempt() -> None:
        raise TriggerRefused("invalid_trigger")

    with pytest.raises(TriggerRefused):
        await Patience(clock, lambda: 0.0, KeptLog()).until_done(attempt)
    assert not clock.waits
