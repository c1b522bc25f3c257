"""A reply reaches its room once, though the bridge that began it is gone, and Discord has forgotten its nonce."""

from datetime import UTC, datetime, timedelta

import pytest

from clankie_bridge.discord import send
from clankie_settings.clock import SystemClock
from clankie_settings.wire.action import Post, TextUpdate
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.trigger import Room
from clankie_stage.app import Stage
from clankie_stage.discord.scenery import GENERAL_ID, GUILD_ID
from clankie_stage.discord.world import Json
from tests.bridge.conftest import RunningBridge, StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain, echo, failed, replied
from tests.bridge.test_posting import POST, posts, replies

pytestmark = pytest.mark.requirement("OUT-1")

LONG = "\n\n".join(f"{number} " + "word " * 99 for number in range(30)).strip()


@pytest.fixture(autouse=True)
def nonces_are_forgotten(stage: Stage) -> None:
    """Nothing here is saved by a nonce."""
    stage.control.behave(nonce_window_s=-1)


def own(stage: Stage) -> list[Json]:
    return [each for each in stage.control.messages() if each["author"].get("bot")]


def made(stage: Stage) -> list[Json]:
    """The requests that made a message; a new bridge may run into a limit that the one before has used up."""
    return [each for each in posts(stage) if each["what"]["status"] == 200]


@pytest.mark.parametrize(("posted", "receipted"), [(5, 0), (5, 3), (3, 0), (3, 2), (1, 0), (0, 0), (1, 1)])
async def test_the_next_bridge_posts_only_the_parts_that_are_not_there(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, posted: int, receipted: int
) -> None:
    """C54: after the answer and before its receipt; the text file included."""
    captain.think = lambda trigger: replied(trigger.delivery_id, LONG)
    first: RunningBridge = await start()
    said = stage.control.say("Ann", "Clankie, tell me all")["id"]
    await captain.until_receipts(said, 5)
    await first.killed()
    there = own(stage)
    for part in there[posted:]:
        stage.control.delete(part["id"])
    del captain.turns[said].receipts[receipted:]
    before = len(made(stage))
    await start()
    receipts = await captain.until_receipts(said, 5)
    assert [each.part for each in receipts] == [1, 2, 3, 4, 5]
    assert [each["content"] for each in own(stage)] == [each["content"] for each in there]
    assert [each["id"] for each in own(stage)][:posted] == [each["id"] for each in there][:posted]
    assert [each.message_id for each in receipts] == [each["id"] for each in own(stage)]
    assert len(made(stage)) == before + 5 - posted
    assert [len(each["attachments"]) for each in own(stage)] == [0, 0, 0, 0, 1]


async def test_words_of_somebody_else_and_of_another_reply_are_no_trace(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    first: RunningBridge = await start()
    one = stage.control.say("Ann", "Clankie, one")["id"]
    two = stage.control.say("Bob", "Clankie, two")["id"]
    await captain.until_turns(2)
    captain.reply(two, "Sure.")
    await captain.until_receipts(two)
    stage.control.say("Bob", "Sure.", reply_to=one)
    await first.killed()
    captain.reply(one, "Sure.")
    await start()
    await captain.until_receipts(one)
    assert [each["message_reference"]["message_id"] for each in own(stage)] == [two, one]


async def test_a_reply_that_lost_its_target_is_found_without_its_reference(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    first: RunningBridge = await start()
    said = stage.control.say("Ann", "Clankie?")["id"]
    await captain.until_turns(1)
    stage.control.delete(said)
    captain.reply(said, "still here")
    await captain.until_receipts(said)
    await first.killed()
    captain.turns[said].receipts.clear()
    await start()
    (receipt,) = await captain.until_receipts(said)
    assert receipt.message_id == own(stage)[0]["id"]
    assert replies(stage) == ["still here"]


async def test_a_room_that_cannot_be_read_now_is_waited_for(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    first: RunningBridge = await start()
    said = stage.control.say("Ann", "Clankie, once")["id"]
    await captain.until_receipts(said)
    await first.killed()
    captain.turns[said].receipts.clear()
    stage.control.fault(method="GET", route=POST, status=502)
    stage.control.fault(method="GET", route=POST, status=429, body={"retry_after": 0.1, "global": True})
    await start()
    await captain.until_receipts(said)
    assert len(own(stage)) == 1


async def test_a_notice_is_posted_once(stage: Stage, captain: LoopbackCaptain, start: StartBridge) -> None:
    first: RunningBridge = await start()
    said = stage.control.say("Ann", "Clankie?")["id"]
    await captain.until_turns(1)
    captain.settle(said, failed(said, FailureCode.CAPTAIN_MODEL_FAILED, notice=True))
    await captain.until_receipts(said)
    await first.killed()
    captain.turns[said].receipts.clear()
    await start()
    await captain.until_receipts(said)
    assert len(own(stage)) == 1


@pytest.mark.parametrize("was_posted", [True, False])
async def test_updates_and_words_that_nobody_waits_for_are_posted_once(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, was_posted: bool
) -> None:
    first: RunningBridge = await start()
    said = stage.control.say("Ann", "Clankie, work")["id"]
    await captain.until_turns(1)
    room = Room(platform="discord", guild_id=GUILD_ID, channel_id=GENERAL_ID)
    captain.act(TextUpdate(action_id="a1", delivery_id=said, text="still at it"), 1)
    captain.act(Post(action_id="p1", delivery_id=said, room=room, text="the fork is done"), 2)
    await captain.until_acknowledged("a1")
    await captain.until_acknowledged("p1")
    await first.killed()
    if not was_posted:
        for each in own(stage):
            stage.control.delete(each["id"])
    captain.action_receipts.clear()
    before = len(made(stage))
    await start()
    update, post = await captain.until_acknowledged("a1"), await captain.until_acknowledged("p1")
    assert sorted(replies(stage)) == ["still at it", "the fork is done"]
    assert {update.message_id, post.message_id} == {each["id"] for each in own(stage)}
    assert len(made(stage)) == before + (0 if was_posted else 2)


@pytest.mark.parametrize("fault", [{"status": 502, "after": True}, {"after": True, "kill": True}])
async def test_a_bridge_whose_own_attempt_is_long_ago_reads_the_room_before_it_tries_again(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, monkeypatch: pytest.MonkeyPatch, fault: Json
) -> None:
    """C19: Discord has forgotten the nonce, because it failed for so long."""
    monkeypatch.setattr(send, "NONCE_TRUSTED", timedelta())
    captain.think = lambda trigger: replied(trigger.delivery_id, "first " * 300 + "second " * 200)
    await start()
    stage.control.fault(method="POST", route=POST, times=2, **fault)
    said = stage.control.say("Ann", "Clankie, once")["id"]
    receipts = await captain.until_receipts(said, 2)
    assert [each.message_id for each in receipts] == [each["id"] for each in own(stage)]
    assert len(own(stage)) == 2


@pytest.mark.requirement("OUT-5")
@pytest.mark.parametrize(
    ("addressed", "ago", "code"),
    [
        (True, timedelta(hours=5, minutes=50), None),
        (True, timedelta(hours=6, minutes=1), "expired"),
        (False, timedelta(minutes=10), None),
        (False, timedelta(minutes=16), "expired"),
    ],
)
async def test_a_reply_that_comes_too_late_is_not_posted_and_says_so(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, addressed: bool, ago: timedelta, code: str | None
) -> None:
    """C54: rows many hours old are not posted as if current."""
    first: RunningBridge = await start(reply_policy="all")
    said = stage.control.say("Ann", "Clankie, hello" if addressed else "hello all")["id"]
    await captain.until_turns(1)
    await first.killed()
    captain.turns[said].accepted_at = datetime.now(UTC) - ago
    captain.reply(said, "here")
    bridge: RunningBridge = await start()
    (receipt,) = await captain.until_receipts(said)
    assert receipt.code == code
    assert replies(stage) == ([] if code else ["here"])
    await bridge.ended()
    assert [event for message, event in bridge.evidence() if message == said][-1] == ("failed" if code else "replied")


@pytest.mark.requirement("OUT-5")
async def test_a_result_that_was_waited_for_over_an_outage_is_as_old_as_the_captain_says(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await start(reply_policy="all")
    said = stage.control.say("Ann", "hello all")["id"]
    await captain.until_asked(f"GET /v1/turns/{said}")
    await captain.down()
    captain.turns[said].accepted_at = datetime.now(UTC) - timedelta(minutes=20)
    captain.reply(said, "much later")
    await captain.up()
    (receipt,) = await captain.until_receipts(said)
    assert receipt.code == "expired"
    assert replies(stage) == []


class LeapingClock(SystemClock):
    """Leaps ahead as a process sees it that was stopped, or whose machine slept."""

    ahead = timedelta()

    def elapsed(self) -> timedelta:
        return super().elapsed() + self.ahead


@pytest.mark.requirement("OUT-5")
async def test_a_result_that_a_bridge_slept_over_is_as_old_as_the_captain_says(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    clock = LeapingClock()
    await start(reply_policy="all", clock=clock)
    said = stage.control.say("Ann", "hello all")["id"]
    await captain.until_asked(f"GET /v1/turns/{said}")
    clock.ahead = timedelta(minutes=20)
    captain.turns[said].accepted_at = datetime.now(UTC) - clock.ahead
    captain.reply(said, "much later")
    (receipt,) = await captain.until_receipts(said)
    assert receipt.code == "expired"
    assert replies(stage) == []
