"""Pictures between a delivery's acceptance and its run: fetched at once, waited for a while, kept with the delivery."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from clankie_captain.core.exhibits import PictureCounts, parts_of
from clankie_captain.core.run import Words
from clankie_captain.store import tables
from clankie_settings import bounds
from clankie_settings.ids import DeliveryId
from clankie_settings.wire.result import Absorbed, Failed, Replied
from clankie_settings.wire.trigger import ContextMessage, ContextVisual
from tests.captain.lanes.fakes import Boundary, Say, StillClock
from tests.captain.lanes.house import DISCORD, SOON, House, house
from tests.captain.lanes.showing import ToldResolver, attachment, stored

MOMENT = timedelta(milliseconds=50)
LATE = "1 attachment that you cannot see (did not come in time)"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captain.db"


def shown(words: Words) -> tuple[str, ...]:
    """The hashes of what is shown with a delivery's words."""
    return tuple(part.digest for part in parts_of(words.exhibits))


def picture(name: str) -> tuple[str, ...]:
    return (stored(name).digest,)


def held(resolver: ToldResolver, delivery: str) -> asyncio.Event:
    resolver.held[delivery] = asyncio.Event()
    return resolver.held[delivery]


async def kept(captain: House, delivery: str) -> tuple[bool, str | None]:
    """Whether a delivery is ready, and what became of its pictures."""
    one = tables.delivery.c
    statement = select(one.ready, one.pictures).where(one.id == delivery)
    row = (await captain.database.transact(lambda connection: connection.execute(statement).all()))[0]
    return row.ready, row.pictures


async def until_ready(captain: House, delivery: str) -> None:
    """Wait until a delivery's pictures are there."""
    async with asyncio.timeout(SOON.total_seconds()):
        while True:
            if (await kept(captain, delivery))[0]:
                return
            await asyncio.sleep(0)


@pytest.mark.requirement("IMG-7", "LANE-16")
async def test_a_first_run_waits_for_its_pictures_and_shows_them(path: Path) -> None:
    resolver = ToldResolver()
    go_on = held(resolver, "m1")
    async with house(path, resolver=resolver) as captain:
        await captain.say("m1", "look", attachments=(attachment("a"), attachment("b")))
        assert await resolver.waiting.get() == "m1"
        assert await kept(captain, "m1") == (False, None)
        assert captain.loop.thoughts.empty()
        go_on.set()
        thought = await captain.thought()
        assert shown(thought.heard[0][0]) == picture("a") + picture("b")
        assert "carries 2 pictures, shown below it" in thought.requests[0][0]
        ready, pictures = await kept(captain, "m1")
        assert ready
        assert pictures is not None
        assert stored("a").digest in pictures
        await thought.do(Say("nice"))
        assert isinstance(await captain.result("m1"), Replied)
        assert captain.turn_log.records[0].pictures == PictureCounts(shown=2)


@pytest.mark.requirement("IMG-4", "LANE-16")
async def test_pictures_that_come_too_late_are_counted_and_cost_no_words(path: Path) -> None:
    resolver = ToldResolver()
    go_on = held(resolver, "m1")
    async with house(path, resolver=resolver, hold=MOMENT) as captain:
        await captain.say("m1", "look", attachments=(attachment("a"),))
        thought = await captain.thought()
        assert LATE in thought.requests[0][0]
        assert thought.heard[0][0].exhibits == ()
        go_on.set()
        await thought.do(Say("I could not see it"))
        assert isinstance(await captain.result("m1"), Replied)


@pytest.mark.requirement("LANE-16", "IMG-7")
async def test_a_steered_message_whose_pictures_are_not_there_holds_those_behind_it(path: Path) -> None:
    resolver = ToldResolver()
    go_on = held(resolver, "m2")
    async with house(path, resolver=resolver) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "look", attachments=(attachment("a"),))
        await captain.say("m3", "third")
        await thought.do(Boundary())
        assert thought.requests[1] == []
        go_on.set()
        await until_ready(captain, "m2")
        await thought.do(Boundary())
        assert [each.delivery for each in thought.heard[2]] == ["m2", "m3"]
        assert [shown(each) for each in thought.heard[2]] == [picture("a"), ()]
        await thought.do(Say("all"))
        assert isinstance(await captain.result("m3"), Absorbed)


@pytest.mark.requirement("LANE-16")
async def test_a_steered_message_holds_those_behind_it_ten_seconds_and_no_longer(path: Path) -> None:
    resolver, clock = ToldResolver(), StillClock()
    held(resolver, "m2")
    async with house(path, resolver=resolver, clock=clock) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "look", attachments=(attachment("a"),))
        await captain.say("m3", "third")
        clock.advance(bounds.STEER_HOLD - timedelta(milliseconds=1))
        await thought.do(Boundary())
        assert thought.heard[1] == []
        clock.advance(timedelta(milliseconds=1))
        await thought.do(Boundary())
        assert [each.delivery for each in thought.heard[2]] == ["m2", "m3"]
        assert LATE in thought.requests[2][0]
        await thought.do(Say("all"))
        await captain.result("m3")


@pytest.mark.requirement("LANE-6", "LANE-16")
async def test_a_run_that_goes_on_for_a_steered_picture_waits_for_it(path: Path) -> None:
    resolver = ToldResolver()
    go_on = held(resolver, "m2")
    async with house(path, resolver=resolver) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "look", attachments=(attachment("a"),))
        await thought.do(Say("the first"))
        go_on.set()
        again = await captain.thought()
        assert again.order.run == thought.order.run
        assert [shown(each) for each in again.heard[0]] == [picture("a")]
        await again.do(Say("both"))
        assert isinstance(await captain.result("m2"), Absorbed)


@pytest.mark.requirement("IMG-7", "DUR-2")
async def test_a_captain_that_died_before_the_pictures_came_is_followed_by_one_that_fetches_again(path: Path) -> None:
    first, second = ToldResolver(), ToldResolver()
    held(first, "m1")
    async with house(path, resolver=first) as captain:
        await captain.say("m1", "look", attachments=(attachment("a"),))
        await first.waiting.get()
    async with house(path, resolver=second) as captain:
        thought = await captain.thought()
        assert second.asked == [("a",)]
        assert shown(thought.heard[0][0]) == picture("a")
        await thought.do(Say("nice"))
        assert isinstance(await captain.result("m1"), Replied)


@pytest.mark.requirement("IMG-7", "DUR-2")
async def test_a_captain_that_died_after_the_pictures_came_is_followed_by_one_that_has_them(path: Path) -> None:
    async with house(path, begin_gate=asyncio.Event()) as captain:
        await captain.say("m1", "look", attachments=(attachment("a"),))
        await until_ready(captain, "m1")
    second = ToldResolver()
    async with house(path, resolver=second) as captain:
        thought = await captain.thought()
        assert second.asked == []
        assert shown(thought.heard[0][0]) == picture("a")
        await thought.do(Say("nice"))
        await captain.result("m1")


BEFORE = ContextMessage(
    message_id="m0", author_id="100002", author_name="Bob", body="my cat", sent_at=StillClock().now()
)
TALK = {"context": (BEFORE,), "context_visual": ContextVisual(message_id="m0", attachment=attachment("cat"))}


@pytest.mark.requirement("CTX-5")
async def test_the_picture_of_the_talk_is_carried_once(path: Path) -> None:
    resolver = ToldResolver()
    async with house(path, resolver=resolver) as captain:
        await captain.say("m1", "look", attachments=(attachment("a"),), **TALK)
        thought = await captain.thought()
        assert shown(thought.heard[0][0]) == picture("a") + picture("cat")
        await captain.say("m2", "and?", **TALK)
        await until_ready(captain, "m2")
        await thought.do(Boundary())
        assert thought.heard[1][0].exhibits == ()
        assert "The picture in the message m0 was shown to you before." in thought.requests[1][0]
        await thought.do(Say("a cat"))
        await captain.result("m2")
        assert resolver.asked == [("a", "cat"), ()]


@pytest.mark.requirement("CTX-5", "CTX-6")
async def test_an_answer_to_a_picture_that_its_lane_has_seen_shows_it_no_second_time(path: Path) -> None:
    resolver = ToldResolver()
    async with house(path, resolver=resolver) as captain:
        await captain.say("m0", "my cat", attachments=(attachment("cat"),))
        thought = await captain.thought()
        await thought.do(Say("nice"))
        await captain.result("m0")
        await captain.say("m1", "and?", reply_to=BEFORE, context_visual=TALK["context_visual"])
        again = await captain.thought()
        assert again.heard[0][0].exhibits == ()
        assert "was shown to you before" in again.requests[0][0]
        await again.do(Say("a cat"))
        await captain.result("m1")
        assert resolver.asked == [("cat",), ()]


@pytest.mark.requirement("CTX-5")
async def test_a_picture_of_the_talk_that_could_not_be_had_is_asked_for_again_with_the_next_message(path: Path) -> None:
    resolver = ToldResolver()
    resolver.broken.add("m1")
    async with house(path, resolver=resolver) as captain:
        await captain.say("m1", "look", **TALK)
        thought = await captain.thought()
        assert (
            "The message m0 carries 1 attachment that you cannot see (could not be prepared)" in thought.requests[0][0]
        )
        await captain.say("m2", "now?", **TALK)
        await until_ready(captain, "m2")
        await thought.do(Boundary())
        assert shown(thought.heard[1][0]) == picture("cat")
        await thought.do(Say("a cat"))
        await captain.result("m2")


@pytest.mark.requirement("IMG-4")
async def test_a_fault_of_ours_costs_the_pictures_and_never_the_words(path: Path) -> None:
    resolver = ToldResolver()
    resolver.broken.add("m1")
    async with house(path, resolver=resolver) as captain:
        await captain.say("m1", "look", attachments=(attachment("a"),))
        thought = await captain.thought()
        assert "1 attachment that you cannot see (could not be prepared)" in thought.requests[0][0]
        await thought.do(Say("sorry"))
        assert isinstance(await captain.result("m1"), Replied)


@pytest.mark.requirement("IMG-7", "WIRE-5")
async def test_a_delivery_that_comes_again_is_not_fetched_again(path: Path) -> None:
    resolver = ToldResolver()
    async with house(path, resolver=resolver) as captain:
        await captain.say("m1", "look", attachments=(attachment("a"),))
        thought = await captain.thought()
        await captain.say("m1", "look", attachments=(attachment("a"),))
        await thought.do(Say("nice"))
        await captain.say("m1", "look", attachments=(attachment("a"),))
        assert resolver.asked == [("a",)]


@pytest.mark.requirement("ING-7")
async def test_pictures_of_a_message_that_was_deleted_meanwhile_change_nothing(path: Path) -> None:
    resolver = ToldResolver()
    go_on = held(resolver, "m2")
    async with house(path, resolver=resolver) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "look", attachments=(attachment("a"),))
        await resolver.waiting.get()
        await captain.desk.withdraw(DISCORD, DeliveryId("m2"))
        go_on.set()
        await thought.do(Boundary())
        assert thought.heard[1] == []
        await thought.do(Say("the first"))
        assert isinstance(await captain.result("m1"), Replied)
        assert isinstance(await captain.result("m2"), Failed)


@pytest.mark.requirement("LANE-6", "LANE-16")
async def test_a_run_that_goes_on_for_a_picture_that_never_comes_reads_its_words_whatever_the_clock_says(
    path: Path,
) -> None:
    resolver, clock = ToldResolver(), StillClock()
    held(resolver, "m2")
    async with house(path, resolver=resolver, clock=clock, hold=MOMENT) as captain:
        await captain.say("m1", "first")
        thought = await captain.thought()
        await captain.say("m2", "look", attachments=(attachment("a"),))
        await thought.do(Say("the first"))
        again = await captain.thought()
        assert LATE in again.requests[0][0]
        await again.do(Say("both"))
        assert isinstance(await captain.result("m2"), Absorbed)
