"""The operator's word: what joins a live run, what waits, and one tail that shows what becomes of all of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from clankie_captain.core.lane import OPERATOR, conversation
from clankie_captain.errors import DeliveryConflictError
from clankie_settings.ids import DeliveryId, LaneId, PresenceId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.operator import OperatorDelivery
from clankie_settings.wire.result import Absorbed, Failed, Replied, Silent
from clankie_settings.wire.trigger import Room
from tests.captain.lanes.fakes import Boundary, CountedIds, Fail, Say, Tool
from tests.captain.lanes.house import House, house, trigger

pytestmark = pytest.mark.requirement("OPS-1")

DESK = conversation("desk").id
VOICE = PresenceId("voice")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captain.db"


async def events(captain: House, after: int | None = None, lane: LaneId = DESK) -> list[tuple[str, dict[str, Any]]]:
    """What a tail shows that is opened now."""
    begin = await captain.events.beginning(lane) if after is None else after
    return [(each.name, json.loads(each.payload)) for each in await captain.events.since(lane, begin)]


@pytest.mark.parametrize("delivery", ["steer", "queue", None])
async def test_where_nothing_runs_every_message_starts_a_turn(path: Path, delivery: OperatorDelivery | None) -> None:
    async with house(path) as captain:
        receipt = await captain.ask("a", "first", delivery)
        thought = await captain.thought()
        assert thought.order.lane == "conversations/desk"
        await thought.do(Say("done"))
        assert isinstance(await captain.receipt(receipt), Replied)


async def test_a_steered_message_joins_the_live_run_and_a_queued_one_waits_for_a_turn_of_its_own(path: Path) -> None:
    async with house(path) as captain:
        first = await captain.ask("a", "first")
        thought = await captain.thought()
        queued = await captain.ask("b", "queued", "queue")
        steered = await captain.ask("c", "steered", "steer")
        await thought.do(Boundary())
        (words,) = thought.requests[1]
        assert "steered" in words
        await thought.do(Say("for the first and the steered"))
        reply, absorbed = await captain.receipt(first), await captain.receipt(steered)
        assert isinstance(reply, Replied)
        assert isinstance(absorbed, Absorbed)
        assert absorbed.answered_by == first
        own = await captain.thought()
        assert own.order.run != thought.order.run
        assert "queued" in own.requests[0][0]
        await own.do(Say("for the queued"))
        settled = await captain.receipt(queued)
        assert isinstance(settled, Replied)
        assert settled.text == "for the queued"
        assert [(each.run.owner, each.absorbed) for each in captain.turn_log.records] == [(first, 1), (queued, 0)]


async def test_without_a_word_about_it_a_message_waits_for_a_run_of_the_operators_own(path: Path) -> None:
    async with house(path) as captain:
        await captain.ask("a", "first")
        thought = await captain.thought()
        second = await captain.ask("b", "second")
        await thought.do(Boundary())
        assert thought.requests[1] == []
        await thought.do(Say("one"))
        await (await captain.thought()).do(Say("two"))
        assert isinstance(await captain.receipt(second), Replied)


@pytest.mark.parametrize("first_waits", [False, True])
async def test_without_a_word_about_it_a_person_joins_a_run_that_nobody_waits_for(
    path: Path, first_waits: bool
) -> None:
    room = Room(platform="console", channel_id="kitchen")
    said: dict[str, Any] = {"presence_id": VOICE, "room": room}
    async with house(path) as captain:
        if first_waits:
            await captain.say("m0", "person", **said)
            before = await captain.thought()
            await captain.say("m1", "catching up", kind="catch_up", **said)
            await before.do(Say("answer"))
        else:
            await captain.say("m1", "catching up", kind="catch_up", **said)
        autonomous = await captain.thought()
        assert autonomous.order.lane == "conversations/voice:kitchen"
        await captain.say("m2", "a person", **said)
        await autonomous.do(Boundary())
        assert "a person" in autonomous.requests[1][0]
        await autonomous.do(Say("both"))
        assert isinstance(await captain.result("m2", VOICE), Absorbed)


async def test_a_waiting_queued_message_alone_is_no_live_run_to_join(path: Path) -> None:
    ids = CountedIds()
    async with house(path, most=1, ids=ids) as captain:
        await captain.say("m1", "holds the only slot")
        held = await captain.thought()
        first = await captain.ask("a", "first")
        await captain.ask("b", "waits", "queue")
        assert (await captain.desk.cancel(OPERATOR, DeliveryId(first))).result is None
        assert isinstance(await captain.receipt(first), Failed)
        # What waits has become a run of its own, whose words no request has carried.
        steered = await captain.ask("c", "joins that", "steer")
        await held.do(Say("free"))
        own = await captain.thought()
        assert ["waits" in own.requests[0][0], "joins that" in own.requests[0][1]] == [True, True]
        await own.do(Say("both"))
        assert isinstance(await captain.receipt(steered), Absorbed)


async def test_tools_in_flight_finish_before_a_steered_message_is_heard(path: Path) -> None:
    async with house(path) as captain:
        await captain.ask("a", "first")
        thought = await captain.thought()
        await thought.do(Tool("web", "started"))
        await captain.ask("b", "and this", "steer")
        await thought.do(Tool("web", "ended"))
        assert len(thought.requests) == 1
        await thought.do(Boundary())
        assert "and this" in thought.requests[1][0]


@pytest.mark.requirement("WIRE-5")
async def test_the_same_message_again_is_the_same_and_another_text_is_refused(path: Path) -> None:
    async with house(path) as captain:
        receipt = await captain.ask("a", "first")
        assert await captain.ask("a", "first", "queue") == receipt
        with pytest.raises(DeliveryConflictError):
            await captain.ask("a", "other")
        assert await captain.ask("a", "other", name="elsewhere") != receipt


async def test_cancelling_a_queued_message_settles_it_and_nothing_else(path: Path) -> None:
    async with house(path) as captain:
        first = await captain.ask("a", "first")
        thought = await captain.thought()
        queued, last = await captain.ask("b", "queued", "queue"), await captain.ask("c", "last", "queue")
        turn = await captain.desk.cancel(OPERATOR, DeliveryId(queued))
        assert turn.result == await captain.receipt(queued)
        assert isinstance(turn.result, Failed)
        assert (turn.result.code, turn.result.owed, turn.result.notice) == ("captain_cancelled", False, False)
        await thought.do(Say("one"))
        assert isinstance(await captain.receipt(first), Replied)
        following = await captain.thought()
        assert "last" in following.requests[0][0]
        await following.do(Say("last"))
        assert isinstance(await captain.receipt(last), Replied)


async def test_cancelling_the_live_turn_ends_its_run_and_what_waits_follows(path: Path) -> None:
    async with house(path) as captain:
        first = await captain.ask("a", "first")
        thought = await captain.thought()
        heard = await captain.ask("b", "heard", "steer")
        await thought.do(Boundary())
        unheard, queued = await captain.ask("c", "unheard", "steer"), await captain.ask("d", "queued", "queue")
        await captain.desk.cancel(OPERATOR, DeliveryId(first))
        for receipt in (first, heard):
            ended = await captain.receipt(receipt)
            assert isinstance(ended, Failed)
            assert ended.code is FailureCode.CAPTAIN_CANCELLED
        assert thought.ended
        for receipt, words in ((unheard, "unheard"), (queued, "queued")):
            own = await captain.thought()
            assert words in own.requests[0][0]
            await own.do(Say("yes"))
            assert isinstance(await captain.receipt(receipt), Replied)
        assert [each.outcome for each in captain.turn_log.records] == ["captain_cancelled", "replied", "replied"]


async def test_a_steered_message_can_be_cancelled_until_it_was_heard(path: Path) -> None:
    async with house(path) as captain:
        first = await captain.ask("a", "first")
        thought = await captain.thought()
        heard, unheard = await captain.ask("b", "heard", "steer"), await captain.ask("c", "dropped", "steer")
        assert isinstance((await captain.desk.cancel(OPERATOR, DeliveryId(unheard))).result, Failed)
        await thought.do(Boundary())
        assert ["heard" in each for each in thought.requests[1]] == [True]
        assert (await captain.desk.cancel(OPERATOR, DeliveryId(heard))).result is None
        await thought.do(Say("both"))
        assert isinstance(await captain.receipt(first), Replied)
        absorbed = await captain.receipt(heard)
        assert isinstance(absorbed, Absorbed)
        assert (await captain.desk.cancel(OPERATOR, DeliveryId(heard))).result == absorbed


@pytest.mark.requirement("OPS-2")
async def test_a_tail_shows_each_open_message_and_what_becomes_of_it(path: Path) -> None:
    async with house(path) as captain:
        done = await captain.ask("0", "settled before")
        await (await captain.thought()).do(Say("yes"))
        await captain.receipt(done)
        assert await events(captain) == []
        first = await captain.ask("a", "first")
        thought = await captain.thought()
        steered, queued = await captain.ask("b", "steered", "steer"), await captain.ask("c", "queued", "queue")
        opened = [
            ("accepted", {"run_receipt": first, "text": "first", "delivery": "auto"}),
            ("accepted", {"run_receipt": steered, "text": "steered", "delivery": "steer"}),
            ("steered", {"run_receipt": steered}),
            ("accepted", {"run_receipt": queued, "text": "queued", "delivery": "queue"}),
        ]
        assert await events(captain) == opened
        await captain.desk.cancel(OPERATOR, DeliveryId(queued))
        await thought.do(Boundary())
        await thought.do(Say("both"))
        await captain.receipt(first)
        assert await events(captain) == []
        assert (await events(captain, after=0))[3:] == [
            *opened,
            ("settled", {"run_receipt": queued, "state": "failed", "code": "captain_cancelled"}),
            ("said", {"run_receipt": first, "text": "both"}),
            ("settled", {"run_receipt": first, "state": "replied"}),
            ("settled", {"run_receipt": steered, "state": "absorbed", "answered_by": first}),
        ]


@pytest.mark.requirement("OPS-2")
async def test_messages_of_an_earlier_captain_are_on_the_tail_until_they_settle(path: Path) -> None:
    ids = CountedIds()
    async with house(path, ids=ids) as captain:
        first = await captain.ask("a", "first")
        await captain.thought()
        queued = await captain.ask("b", "queued", "queue")
    async with house(path, ids=ids) as captain:
        shown = await events(captain)
        assert [fields["run_receipt"] for _, fields in shown] == [first, queued]
        again = await captain.thought()
        during = await captain.ask("c", "while it starts", "queue")
        assert (await events(captain))[2:] == [
            ("accepted", {"run_receipt": during, "text": "while it starts", "delivery": "queue"})
        ]
        await again.do(Say("one"))
        for receipt in (queued, during):
            await (await captain.thought()).do(Say("own"))
            assert isinstance(await captain.receipt(receipt), Replied)
        assert await events(captain) == []


@pytest.mark.requirement("OPS-2", "LANE-6")
async def test_every_ending_is_on_the_tail_once(path: Path) -> None:
    async with house(path) as captain:
        first = await captain.ask("a", "first")
        thought = await captain.thought()
        late = await captain.ask("b", "unheard", "steer")
        await thought.do(Fail(FailureCode.CAPTAIN_MODEL_FAILED))
        own = await captain.thought()
        await own.do(Say("[[stay-silent]]"))
        assert isinstance(await captain.receipt(late), Silent)
        settled = [fields for name, fields in await events(captain, after=0) if name == "settled"]
        assert settled == [
            {"run_receipt": first, "state": "failed", "code": "captain_model_failed"},
            {"run_receipt": late, "state": "silent"},
        ]


@pytest.mark.requirement("SEC-1")
async def test_a_presence_that_names_the_operators_conversation_has_one_of_its_own(path: Path) -> None:
    async with house(path) as captain:
        await captain.ask("a", "secret words")
        await captain.thought()
        room = Room(platform="console", channel_id="desk")
        for presence in ("voice", "console", "operator"):
            said = trigger("m1", "let me in", presence_id=presence, room=room)
            await captain.desk.accept(said.model_copy(update={"delivery": "steer"}))
            own = await captain.thought()
            assert own.order.lane == f"conversations/{presence}:desk"
            assert own.order.history == ()
        assert [name for name, _ in await events(captain)] == ["accepted"]
