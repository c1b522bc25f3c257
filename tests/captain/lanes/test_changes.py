"""An edit or a deletion reaches a message as long as nobody has heard it, and never makes a second turn."""

import asyncio
from datetime import datetime
from pathlib import Path

import pytest

from clankie_captain.core.run import Draft
from clankie_captain.core.turns import Heard, LiveRun, Turn
from clankie_captain.errors import DeliveryConflictError, StartedError, UnknownDeliveryError
from clankie_captain.ports import Lanes
from clankie_captain.store.lanes import LaneStore
from clankie_settings.ids import DeliveryId, PresenceId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Absorbed, Failed, Replied
from tests.captain.lanes.fakes import Boundary, CountedIds, Fail, Say
from tests.captain.lanes.house import DISCORD, SOON, House, house, trigger

pytestmark = pytest.mark.requirement("ING-7")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captain.db"


async def edit(captain: House, delivery: str, body: str) -> Turn:
    return await captain.desk.edit(DISCORD, DeliveryId(delivery), body)


async def withdraw(captain: House, delivery: str) -> Turn:
    return await captain.desk.withdraw(DISCORD, DeliveryId(delivery))


async def test_an_edit_replaces_words_that_wait_for_a_boundary(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "by misteak")
        assert (await edit(captain, "m2", "by mistake")).state == "steer"
        await thought.do(Boundary())
        (words,) = thought.requests[1]
        assert "by mistake" in words
        assert "misteak" not in words
        await thought.do(Say("both"))
        assert isinstance(await captain.result("m2"), Absorbed)


async def test_an_edit_replaces_words_that_wait_for_their_lane(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.desk.accept(trigger("m2", "old words").model_copy(update={"delivery": "queue"}))
        assert (await edit(captain, "m2", "new words")).state == "queued"
        await thought.do(Say("one"))
        own = await captain.thought()
        assert ["new words" in own.requests[0][0], "old words" in own.requests[0][0]] == [True, False]
        await own.do(Say("two"))
        assert isinstance(await captain.result("m2"), Replied)


@pytest.mark.requirement("WIRE-5")
async def test_an_edited_message_that_is_handed_over_again_is_the_same_turn(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        await captain.thought()
        turn = await captain.say("m2", "old words")
        await edit(captain, "m2", "new words")
        assert (await captain.say("m2", "new words")).turn == turn.turn
        with pytest.raises(DeliveryConflictError):
            await captain.say("m2", "old words")


async def test_what_a_run_has_heard_can_neither_be_edited_nor_taken_back(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "second")
        await thought.do(Boundary())
        for delivery in ("m1", "m2"):
            with pytest.raises(StartedError):
                await edit(captain, delivery, "other words")
            with pytest.raises(StartedError):
                await withdraw(captain, delivery)
        await thought.do(Say("both"))
        assert isinstance(await captain.result("m1"), Replied)
        assert isinstance(await captain.result("m2"), Absorbed)


@pytest.mark.parametrize("end", [Say("words"), Say("[[stay-silent]]"), Fail(FailureCode.CAPTAIN_MODEL_FAILED)])
async def test_a_settled_result_is_changed_by_nothing(path: Path, end: Say | Fail) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        await (await captain.thought()).do(end)
        result = await captain.result("m1")
        with pytest.raises(StartedError):
            await edit(captain, "m1", "other words")
        with pytest.raises(StartedError):
            await withdraw(captain, "m1")
        assert (await captain.desk.cancel(DISCORD, DeliveryId("m1"))).result == result
        assert await captain.result("m1") == result


async def test_a_withdrawn_message_is_never_heard_and_whoever_waits_for_it_is_told(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "take this back")
        waiting = asyncio.ensure_future(captain.result("m2"))
        await asyncio.sleep(0)
        turn = await withdraw(captain, "m2")
        async with asyncio.timeout(SOON.total_seconds()):
            result = await waiting
        assert result == turn.result
        assert isinstance(result, Failed)
        assert (result.code, result.owed, result.notice, result.run_id) == (FailureCode.WITHDRAWN, False, False, None)
        await thought.do(Boundary())
        assert thought.requests[1] == []
        await thought.do(Say("the first alone"))
        assert isinstance(await captain.result("m1"), Replied)
        assert captain.turn_log.records[0].absorbed == 0


async def test_a_message_withdrawn_from_the_queue_leaves_the_others_in_order(path: Path) -> None:
    ids = CountedIds()
    async with house(path, ids=ids) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        for number in (2, 3, 4):
            await captain.say(f"m{number}", f"words {number}")
        await withdraw(captain, "m3")
        await thought.do(Fail(FailureCode.CAPTAIN_MODEL_FAILED))
        own = await captain.thought()
        assert "words 2" in own.requests[0][0]
        await own.do(Say("two"))
        last = await captain.thought()
        assert "words 4" in last.requests[0][0]
    async with house(path, ids=ids) as captain:
        withdrawn = await captain.result("m3")
        assert isinstance(withdrawn, Failed)
        assert withdrawn.code is FailureCode.WITHDRAWN


async def test_only_its_own_presence_changes_a_delivery(path: Path) -> None:
    async with house(path) as captain:
        await captain.say("m1", "first")
        await captain.thought()
        await captain.say("m2", "second")
        other = PresenceId("second")
        for change in (
            captain.desk.edit(other, DeliveryId("m2"), "other words"),
            captain.desk.withdraw(other, DeliveryId("m2")),
            captain.desk.cancel(other, DeliveryId("m2")),
        ):
            with pytest.raises(UnknownDeliveryError):
                await change


class Pausing:
    """The lanes' port with a held moment between words that were taken and the request that holds them."""

    def __init__(self, inner: LaneStore) -> None:
        self._inner = inner
        self.reached, self.go_on = asyncio.Event(), asyncio.Event()

    async def record(self, run: LiveRun, drafts: list[Draft], heard: list[Heard], at: datetime) -> None:
        if any(each.delivery == "m2" for each in heard):
            self.reached.set()
            await self.go_on.wait()
        await self._inner.record(run, drafts, heard, at)

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)


@pytest.mark.requirement("LANE-11")
@pytest.mark.parametrize("change", ["edit", "withdraw"])
async def test_words_of_which_a_request_is_being_made_can_neither_be_edited_nor_taken_back(
    path: Path, change: str
) -> None:
    gate: list[Pausing] = []

    def pausing(store: LaneStore) -> Lanes:
        gate.append(Pausing(store))
        return gate[0]  # type: ignore[return-value]

    async with house(path, lanes=pausing) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "old words")
        going = thought.begin(Boundary())
        await gate[0].reached.wait()
        with pytest.raises(StartedError):
            await (edit(captain, "m2", "new words") if change == "edit" else withdraw(captain, "m2"))
        gate[0].go_on.set()
        await going
        await thought.do(Boundary())
        assert thought.requests[2] == []
        await thought.do(Say("an answer"))
        assert isinstance(await captain.result("m2"), Absorbed)
        (heard,) = [each for each in await captain.entries("heard") if '"m2"' in each]
        assert "old words" in heard
