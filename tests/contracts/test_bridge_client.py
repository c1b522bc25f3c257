"""The bridge's own client against the captain's own application, over real HTTP."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import aclosing, closing
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from clankie_bridge.captain.actions import CaptainActions
from clankie_bridge.captain.connection import Connection
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
from clankie_captain import app as composition
from clankie_settings import bounds
from clankie_settings.ids import PresenceId
from clankie_settings.wire.action import TextUpdate, Typing
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.receipt import ActionReceipt, Receipt
from clankie_settings.wire.result import Absorbed, Failed, Pending, Replied, Silent
from clankie_settings.wire.trigger import Actor, Trigger
from clankie_settings.wire.version import WIRE_HEADER
from tests.captain.api.conftest import Restart
from tests.captain.api.running import CAPTAIN_TOKEN, OPERATOR_TOKEN, PATIENCE_S, SECOND_TOKEN, RunningCaptain, answers
from tests.captain.api.test_actions import Updating
from tests.captain.core.speech import BOB, earlier, trigger
from tests.settings.wire.samples import TRIGGER

pytestmark = pytest.mark.requirement("WIRE-8")

POSTED = datetime(2026, 1, 2, 12, 0, 9, tzinfo=UTC)


class Quiet:
    """A log that nobody reads."""

    def info(self, event: str, **fields: Any) -> None: ...
    def warning(self, event: str, **fields: Any) -> None: ...
    def error(self, event: str, **fields: Any) -> None: ...


def posted(part: int = 1, of: int = 1) -> Receipt:
    return Receipt(part=part, of=of, message_id=f"50{part}", posted_at=POSTED)


def connected(captain: RunningCaptain, token: str = CAPTAIN_TOKEN, **how: Any) -> Connection:
    return Connection(captain.address, SecretStr(token), **how)


@pytest.fixture
async def connection(captain: RunningCaptain) -> AsyncIterator[Connection]:
    async with connected(captain) as opened:
        yield opened


@pytest.fixture
def turns(connection: Connection) -> CaptainTurns:
    return CaptainTurns(connection)


@pytest.fixture
def actions(connection: Connection) -> CaptainActions:
    return CaptainActions(connection, PresenceId("discord"), Quiet())


@pytest.mark.requirement("WIRE-6")
async def test_a_delivery_is_handed_over_waited_for_posted_and_receipted(
    captain: RunningCaptain, turns: CaptainTurns
) -> None:
    captain.loop.free.clear()
    assert await turns.hand_over(trigger()) == Pending(state="running", delivery_id="400")
    await captain.loop.until_asked()
    (open_turn,) = await turns.owed()
    assert (open_turn.delivery_id, open_turn.message_id, open_turn.result) == ("400", "400", None)
    captain.loop.free.set()
    result = await turns.result("400", int(PATIENCE_S))
    assert isinstance(result, Replied)
    assert (result.text, result.owed) == ("an answer", True)
    (unposted,) = await turns.owed()
    assert (unposted.result, unposted.parts_posted) == (result, 0)
    assert [await turns.receipt("400", posted(part, 2)) for part in (1, 2, 2)] == [True, False, False]
    assert await turns.owed() == ()
    again = await turns.hand_over(trigger())
    assert isinstance(again, Replied)
    assert not again.owed


async def test_a_trigger_with_every_field_that_a_bridge_may_send_is_taken(turns: CaptainTurns) -> None:
    full = Trigger.model_validate_json(httpx.Request("POST", "http://x", json=TRIGGER | {"delivery": "auto"}).content)
    assert isinstance(await turns.hand_over(full, wait_s=int(PATIENCE_S)), Replied)


@pytest.mark.requirement("WIRE-4", "LANE-4")
async def test_every_kind_of_result_is_understood(captain: RunningCaptain, turns: CaptainTurns) -> None:
    for number, (text, kind) in enumerate([("Hi", Replied), ("[[stay-silent]]", Silent), ("", Failed)]):
        captain.loop.script = answers(text)
        assert isinstance(await turns.hand_over(trigger(f"40{number}"), wait_s=int(PATIENCE_S)), kind)
    captain.loop.script = answers("for both")
    captain.loop.free.clear()
    await turns.hand_over(trigger("410"))
    await captain.loop.until_asked(4)
    await turns.hand_over(trigger("411", actor=BOB))
    captain.loop.free.set()
    absorbed = await turns.result("411", int(PATIENCE_S))
    assert isinstance(absorbed, Absorbed)
    assert absorbed.answered_by == "410"


async def test_a_full_lane_is_a_result_and_no_error(captain: RunningCaptain, turns: CaptainTurns) -> None:
    captain.loop.free.clear()
    await turns.hand_over(trigger("400"))
    await captain.loop.until_asked()
    for number in range(bounds.QUEUED_TURNS):
        # Each from another speaker, whose own allowance it does not exceed.
        await turns.hand_over(trigger(f"w{number}", actor=Actor(actor_id=f"{number}", display_name="Bob")))
    refused = await turns.hand_over(trigger("500"))
    assert isinstance(refused, Failed)
    assert (refused.code, refused.run_id) == (FailureCode.LANE_QUEUE_FULL, None)


@pytest.mark.requirement("WIRE-5")
async def test_other_content_is_a_conflict_whose_result_can_be_taken(turns: CaptainTurns) -> None:
    await turns.hand_over(trigger(), wait_s=int(PATIENCE_S))
    with pytest.raises(DeliveryConflict):
        await turns.hand_over(trigger(body="other words"))
    assert isinstance(await turns.result("400", 0), Replied)


async def test_what_may_change_between_two_hand_overs_is_no_conflict(turns: CaptainTurns) -> None:
    first = await turns.hand_over(trigger(), wait_s=int(PATIENCE_S))
    later = trigger(kind="reply", addressed=False, context=(earlier("1"),))
    assert await turns.hand_over(later) == first


async def test_an_unknown_delivery_or_action_is_told_as_such(turns: CaptainTurns) -> None:
    for attempt in (
        turns.result("404", 0),
        turns.receipt("404", posted()),
        turns.action_receipt("act_404", ActionReceipt(ok=True)),
    ):
        with pytest.raises(DeliveryUnknown):
            await attempt


@pytest.mark.requirement("SEC-1")
@pytest.mark.parametrize("token", ["another-token", OPERATOR_TOKEN])
async def test_a_wrong_token_is_refused_with_what_to_do(captain: RunningCaptain, token: str) -> None:
    async with connected(captain, token) as stranger:
        for attempt in (CaptainTurns(stranger).hand_over(trigger()), CaptainTurns(stranger).owed()):
            with pytest.raises(CaptainRefuses, match="CLANKIE_CAPTAIN_TOKEN"):
                await attempt
        with pytest.raises(CaptainRefuses, match="CLANKIE_CAPTAIN_TOKEN"):
            await anext(CaptainActions(stranger, PresenceId("discord"), Quiet()).follow(None))
    assert captain.loop.orders == []


@pytest.mark.requirement("SEC-1")
async def test_another_presence_learns_nothing_of_a_delivery(captain: RunningCaptain, turns: CaptainTurns) -> None:
    await turns.hand_over(trigger(), wait_s=int(PATIENCE_S))
    async with connected(captain, SECOND_TOKEN) as second:
        with pytest.raises(DeliveryUnknown):
            await CaptainTurns(second).result("400", 0)
        with pytest.raises(CaptainRefuses):
            await CaptainTurns(second).hand_over(trigger("401"))


@pytest.mark.requirement("WIRE-1")
async def test_a_trigger_that_the_captain_will_never_take_names_its_field(turns: CaptainTurns) -> None:
    with pytest.raises(TriggerRefused) as refused:
        await turns.hand_over(trigger(delivery="steer"))
    assert (refused.value.code, refused.value.field) == ("invalid_trigger", "delivery")


class OtherVersion(httpx.AsyncHTTPTransport):
    """A captain of another day: every answer states its wire version."""

    def __init__(self, version: str | None) -> None:
        super().__init__()
        self.version = version

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        del response.headers[WIRE_HEADER]
        if self.version is not None:
            response.headers[WIRE_HEADER] = self.version
        return response


@pytest.mark.requirement("WIRE-7")
@pytest.mark.parametrize(
    ("version", "older"), [("2", "upgrade the presence"), ("0", "upgrade the captain"), (None, "upgrade the captain")]
)
async def test_a_bridge_refuses_a_captain_of_another_version_and_says_which_side_to_upgrade(
    captain: RunningCaptain, version: str | None, older: str
) -> None:
    async with connected(captain, transport=OtherVersion(version)) as other:
        with pytest.raises(CaptainRefuses, match=older):
            await CaptainTurns(other).hand_over(trigger())
        with pytest.raises(CaptainRefuses, match=older):
            await anext(CaptainActions(other, PresenceId("discord"), Quiet()).follow(None))


@pytest.mark.requirement("WIRE-7")
async def test_a_captain_refuses_a_bridge_of_another_version(captain: RunningCaptain, connection: Connection) -> None:
    connection.client.headers[WIRE_HEADER] = "2"
    with pytest.raises(CaptainError):
        await CaptainTurns(connection).hand_over(trigger())
    assert captain.loop.orders == []


async def test_a_fault_of_the_captains_is_something_to_try_again(captain: RunningCaptain, turns: CaptainTurns) -> None:
    def rename(old: str, new: str) -> None:
        with closing(sqlite3.connect(captain.state / "captain.db")) as other, other:
            other.execute(f"ALTER TABLE {old} RENAME TO {new}")

    rename("room", "elsewhere")
    with pytest.raises(CaptainAway) as away:
        await turns.hand_over(trigger())
    assert away.value.cause == "captain_internal_error"
    rename("elsewhere", "room")
    assert isinstance(await turns.hand_over(trigger(), wait_s=int(PATIENCE_S)), Replied)


async def test_a_captain_that_stops_and_one_that_is_gone_are_something_to_try_again(
    captain: RunningCaptain, turns: CaptainTurns, connection: Connection
) -> None:
    composition.drain(captain.app)
    with pytest.raises(CaptainAway) as draining:
        await turns.hand_over(trigger())
    assert (draining.value.cause, connection.reachable) == ("draining", True)
    await captain.stop()
    with pytest.raises(CaptainAway) as gone:
        await turns.hand_over(trigger())
    assert (gone.value.cause, connection.reachable) == ("no_connection", False)


@pytest.mark.requirement("WIRE-5", "WIRE-6")
async def test_a_turn_that_was_waited_for_is_taken_from_the_next_captain(
    captain: RunningCaptain, turns: CaptainTurns, restart: Restart
) -> None:
    captain.loop.free.clear()
    await turns.hand_over(trigger())
    await captain.loop.until_asked()
    waiting = asyncio.create_task(turns.result("400", bounds.WAIT_SECONDS))
    await captain.until_held(1)
    again = await restart()
    assert isinstance(await waiting, Pending)
    async with connected(again) as reconnected:
        later = CaptainTurns(reconnected)
        result = await later.hand_over(trigger(), wait_s=int(PATIENCE_S))
        assert isinstance(result, Replied)
        assert result.owed
        assert not await later.receipt("400", posted())
        with pytest.raises(DeliveryConflict):
            await later.hand_over(trigger(body="other words"))
    assert len(again.loop.orders) == 1


@pytest.mark.requirement("ROOM-2", "ROOM-3")
async def test_actions_are_followed_acknowledged_and_resumed(
    captain: RunningCaptain, turns: CaptainTurns, actions: CaptainActions
) -> None:
    captain.loop.script = Updating("a moment", wrote="Hello")
    async with aclosing(actions.follow(None)) as stream:
        following = asyncio.ensure_future(anext(stream))
        await _open(captain, following)
        await turns.hand_over(trigger())
        signals = [await following, await anext(stream)]
        update = next(each for each in signals if each.sequence == 1).action
        assert isinstance(update, TextUpdate)
        assert (update.text, update.delivery_id) == ("a moment", "400")
        assert Signal(None, Typing(delivery_id="400")) in signals
        await turns.action_receipt(update.action_id, ActionReceipt(ok=True, message_id="500"))
        assert (await anext(stream)).action is not None
    assert isinstance(await turns.result("400", int(PATIENCE_S)), Replied)


@pytest.mark.requirement("ROOM-3")
async def test_a_stream_goes_on_where_it_broke_over_a_restart(
    captain: RunningCaptain,
    turns: CaptainTurns,
    actions: CaptainActions,
    restart: Restart,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounds, "ACTION_RECEIPT_WAIT", timedelta(0))
    captain.loop.script = Updating("one", "two")
    await turns.hand_over(trigger(), wait_s=int(PATIENCE_S))
    async with aclosing(actions.follow(None)) as stream:
        assert [(await anext(stream)).sequence for _ in range(2)] == [1, 2]
        ended = asyncio.ensure_future(anext(stream, None))
        again = await restart()
        assert await ended is None
    async with connected(again) as reconnected:
        later = CaptainActions(reconnected, PresenceId("discord"), Quiet())
        async with aclosing(later.follow(1)) as resumed:
            assert (await anext(resumed)).sequence == 2
        async with aclosing(later.follow(None)) as anew:
            assert [(await anext(anew)).sequence for _ in range(2)] == [1, 2]


async def _open(captain: RunningCaptain, following: "asyncio.Future[Any]") -> None:
    """Until the captain has the stream, which its record of the presence shows."""
    async with asyncio.timeout(PATIENCE_S):
        while not following.done():
            known = (await captain.client.get("/v1/presences/discord/rooms")).json()
            if known.get("last_alive_at"):
                return
