"""What was written while nobody listened is read and answered, once, in order, and not too late."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from clankie_bridge.core.message import first_id_at
from clankie_captain.core.lease import Held
from clankie_settings.wire.action import ToolActivity
from clankie_settings.wire.trigger import Trigger
from clankie_stage.app import Stage
from clankie_stage.discord.happenings import Draft
from clankie_stage.discord.scenery import FRIENDS_ROLE_ID
from clankie_stage.discord.world import Json
from tests.bridge.conftest import PATIENCE_S, RunningBridge, StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain, echo

pytestmark = pytest.mark.requirement("ING-9")

HISTORY = "/channels/*/messages"
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def said_ago(stage: Stage, user: str, content: str, ago: timedelta, room: str = "general") -> str:
    """Let somebody have written something a while ago; the oldest must be told first."""
    parts = stage.control.parts
    draft = Draft(
        room=parts.world.room_named(room),
        author_id=parts.world.user_named(user).id,
        content=content,
        message_id=first_id_at(datetime.now(UTC) - ago),
    )
    return parts.happenings.post(draft).id


def listened_until(captain: LoopbackCaptain, ago: timedelta) -> None:
    """Let an earlier bridge have listened until a while ago."""
    then = datetime.now(UTC) - ago
    captain.lease = Held("earlier", 1, then, timedelta(seconds=15), then)


async def one_life(captain: LoopbackCaptain, start: StartBridge) -> None:
    """Let a bridge live and listen once."""
    bridge: RunningBridge = await start()
    await captain.changes.until(lambda: captain.lease is not None and captain.lease.listening_at, PATIENCE_S)
    await bridge.killed()


def bodies(triggers: list[Trigger]) -> list[str | None]:
    return [each.body for each in triggers]


async def test_what_called_him_while_he_was_away_is_answered_wherever_it_stands(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """C12: in a room he knows, in one where he never spoke, in a thread, in direct messages; the same ids as live."""
    captain.think = echo
    first: RunningBridge = await start()
    for room, user in (("general", "Ann"), ("@owner", "owner")):
        await captain.until_receipts(stage.control.say(user, "Clankie, hello", room=room)["id"])
    await captain.changes.until(lambda: captain.lease is not None and captain.lease.listening_at, PATIENCE_S)
    await first.killed()
    places = {"general": "Ann", "random": "Bob", "a thread": "Bob", "@owner": "owner"}
    talk = stage.control.say("Bob", "nobody is called here", room="random")["id"]
    said = [stage.control.say(user, "Clankie, where are you?", room=room)["id"] for room, user in places.items()]
    await start()
    for each in said:
        await captain.until_receipts(each)
    assert all(captain.turns[each].trigger.addressed for each in said)
    assert talk not in captain.turns
    assert len(captain.turns) == 6
    thread = captain.turns[said[2]].trigger.room
    assert (thread.channel_name, thread.parent_id) == ("a thread", stage.world.room_named("general").id)


async def test_a_bridge_that_starts_for_the_first_time_answers_nothing_that_was_written_before(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    before = stage.control.say("Ann", "Clankie, are you there?")["id"]
    await start()
    after = stage.control.say("Ann", "Clankie, now?")["id"]
    await captain.until_receipts(after)
    assert before not in captain.turns
    assert [each.message_id for each in captain.turns[after].trigger.context] == [before]


async def test_age_decides_what_is_answered_and_what_is_only_read(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    listened_until(captain, 8 * HOUR)
    said_ago(stage, "Ann", "Clankie, seven hours ago", 7 * HOUR)
    called = said_ago(stage, "Ann", "Clankie, five hours ago", 5 * HOUR)
    old = said_ago(stage, "Bob", "twenty minutes ago", 20 * MINUTE)
    new = said_ago(stage, "Bob", "ten minutes ago", 10 * MINUTE)
    bridge: RunningBridge = await start(reply_policy="all")
    await captain.until_turns(2)
    now = stage.control.say("Ann", "just now")["id"]
    await captain.until_turns(3)
    assert list(captain.turns) == [called, new, now]
    context = [each.message_id for each in captain.turns[new].trigger.context]
    assert context[-2:] == [called, old]
    await bridge.ended()
    assert (old, "buffered") in bridge.evidence()


async def test_what_was_missed_goes_ahead_of_what_comes_live_and_each_goes_once(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await one_life(captain, start)
    missed = [stage.control.say("Ann", f"Clankie, missed {number}")["id"] for number in range(2)]
    stage.control.fault(method="GET", route=HISTORY, hold="history")
    await start()
    await stage.control.wait_held("history")
    live = [stage.control.say("Ann", f"Clankie, live {number}")["id"] for number in range(2)]
    elsewhere = stage.control.say("Bob", "Clankie, elsewhere", room="random")["id"]
    await captain.until_turns(1)
    assert list(captain.turns) == [elsewhere]
    stage.control.release("history")
    await captain.until_turns(5)
    assert list(captain.turns) == [elsewhere, *missed, *live]
    assert captain.asked.count("POST /v1/turns") == 5


async def test_a_session_that_is_lost_without_a_resume_costs_nothing(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    bridge: RunningBridge = await start()
    known = stage.control.say("Ann", "Clankie, before", room="general")["id"]
    await captain.until_receipts(known)
    stage.control.forget_sessions()
    stage.control.drop()
    gap = [stage.control.say("Bob", "Clankie, in between", room=room)["id"] for room in ("general", "random")]
    await bridge.log.until("gateway_ready", 2)
    after = stage.control.say("Ann", "Clankie, after")["id"]
    for each in (*gap, after):
        await captain.until_receipts(each)
    assert list(captain.turns).index(gap[0]) < list(captain.turns).index(after)
    assert len(captain.turns) == 4


async def test_what_a_lost_session_leaves_out_goes_behind_what_waits_from_before(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    """Handed over in front, it would hide the older ones from the next bridge, should this one die."""
    captain.think = echo
    bridge: RunningBridge = await start()
    await captain.until_receipts(stage.control.say("Ann", "Clankie, before")["id"])
    await captain.down()
    waiting = [stage.control.say("Ann", f"Clankie, waiting {number}")["id"] for number in range(3)]
    stage.control.say("Ann", "whatever", room="@Ann")
    await bridge.log.until("not_admitted")  # so what came before that was seen as well
    stage.control.forget_sessions()
    stage.control.drop()
    missed = [stage.control.say("Bob", f"Clankie, missed {number}")["id"] for number in range(2)]
    await bridge.log.until("gateway_ready", 2)
    await captain.up()
    for each in (*waiting, *missed):
        await captain.until_receipts(each)
    assert list(captain.turns)[1:] == [*waiting, *missed]


async def test_a_bridge_that_dies_while_it_reads_leaves_it_to_the_next(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    captain.think = echo
    await one_life(captain, start)
    rooms = [stage.control.create_room(f"room-{number}")["name"] for number in range(6)]
    said = [stage.control.say("Ann", "Clankie?", room=room)["id"] for room in rooms]
    stage.control.fault(method="GET", route=HISTORY, hold="history", times=4)
    second: RunningBridge = await start()
    await stage.control.wait_held("history")
    await second.killed()
    stage.control.clear_faults()
    await start()
    for each in said:
        await captain.until_receipts(each)
    assert sorted(captain.turns) == sorted(said)
    assert all(len(captain.turns[each].receipts) == 1 for each in said)


@pytest.mark.parametrize(
    "fault", [{"status": 502}, {"status": 429, "body": {"retry_after": 0.1, "global": True}}, {"kill": True}]
)
async def test_a_room_that_cannot_be_read_just_now_is_read_later(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, fault: Json
) -> None:
    await one_life(captain, start)
    said = stage.control.say("Ann", "Clankie?")["id"]
    stage.control.fault(method="GET", route=HISTORY, times=2, **fault)
    await start()
    await captain.until_turns(1)
    assert list(captain.turns) == [said]


async def test_a_room_that_may_not_be_read_back_holds_nothing_up(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await one_life(captain, start)
    missed = stage.control.say("Ann", "Clankie?")["id"]
    stage.control.fault(method="GET", route=HISTORY, status=403, body={"code": 50013}, times=9)
    bridge: RunningBridge = await start()
    await bridge.log.until("missed_unreadable")
    live = stage.control.say("Ann", "Clankie, live")["id"]
    await captain.until_turns(1)
    assert list(captain.turns) == [live]
    assert missed not in captain.turns


async def test_whoever_is_listened_to_by_role_is_listened_to_in_what_was_missed(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await one_life(captain, start)
    by_ann = stage.control.say("Ann", "Clankie, by a friend")["id"]
    stage.control.say("Bob", "Clankie, by somebody else")
    await start(discord_roles=(FRIENDS_ROLE_ID,))
    await captain.until_turns(1)
    assert list(captain.turns) == [by_ann]
    assert captain.turns[by_ann].trigger.actor.role_ids == (FRIENDS_ROLE_ID,)


async def test_rooms_that_are_not_admitted_are_not_read(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await one_life(captain, start)
    stage.control.say("Ann", "Clankie?", room="random")
    stage.control.say("Ann", "Clankie?", room="general")
    await start(discord_channels=(stage.world.room_named("general").id,))
    await captain.until_turns(1)
    read = stage.control.recorded({"kind": "rest", "method": "GET", "path": HISTORY})
    assert not [each for each in read if stage.world.room_named("random").id in each["what"]["path"]]


async def test_a_guild_that_he_joins_is_none_that_he_was_away_from(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    listened_until(captain, HOUR)
    await start(discord_guilds=("*",))
    guild = stage.control.create_guild("Another")["id"]
    room = stage.control.create_room("theirs", guild=guild)["id"]
    said = stage.control.say("Ann", "Clankie, welcome", room=room)["id"]
    assert [each.message_id for each in await captain.until_turns(1)] == [said]


async def test_more_than_a_few_pages_are_cut_at_their_old_end(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    await one_life(captain, start)
    early = stage.control.say("Ann", "Clankie, long ago")["id"]
    for number in range(310):
        stage.control.say("Bob", f"talk {number}")
    late = stage.control.say("Ann", "Clankie, lately")["id"]
    bridge: RunningBridge = await start()
    await captain.until_turns(1)
    assert bridge.log.of("missed_left_out")
    assert list(captain.turns) == [late]
    assert early not in captain.turns


@pytest.mark.requirement("ROOM-4")
async def test_a_card_that_nobody_looks_after_any_more_is_taken_away(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge
) -> None:
    first: RunningBridge = await start()
    said = stage.control.say("Ann", "Clankie, work")["id"]
    await captain.until_turns(1)
    captain.act(ToolActivity(delivery_id=said, state="working", categories={"search": 1}, elapsed_s=9))
    (card,) = await stage.control.wait_messages("general", match={"author": {"bot": True}})
    await first.killed()
    captain.reply(said, "done")
    await start()
    await captain.until_receipts(said)
    async with asyncio.timeout(PATIENCE_S):
        await stage.control.wait({"kind": "rest", "method": "DELETE", "path": f"/channels/*/messages/{card['id']}"})
    assert [each["content"] for each in stage.control.messages() if each["author"].get("bot")] == ["done"]
