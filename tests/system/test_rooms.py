"""What reaches a room: in order, to nobody's phone, and only where it may."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from clankie_stage.discord.scenery import OWNER_ID
from clankie_stage.provider.steps import call, calls, gated, text
from tests.system.house import House, whole_house
from tests.system.program import PATIENCE_S
from tests.system.scene import Scene, heard_in, talk_in

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

LONG = "\n\n".join(f"Part {number}. " + "word " * 360 for number in (1, 2, 3))
"""A reply that takes three messages."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with whole_house(tmp_path_factory.mktemp("rooms"), CLANKIE_SYSTEM_ACTORS=OWNER_ID) as running:
        yield running


@pytest.mark.requirement("OUT-2")
async def test_the_parts_of_a_reply_arrive_in_order_although_each_stumbles_once(scene: Scene) -> None:
    await scene.script(text(LONG))
    route = f"/channels/{scene.room}/messages"
    await scene.house.stage.fault(method="POST", route=route, status=500)
    await scene.house.stage.fault(method="POST", route=route, after=True)  # posted, and the answer lost
    one = await scene.say("Clankie, at length, please")
    assert await scene.concluded(one) == [["accepted", "replied"]]
    posted = await scene.replies(3)
    assert [each["content"][:7] for each in posted] == ["Part 1.", "Part 2.", "Part 3."]
    assert [each.get("message_reference", {}).get("message_id") for each in posted] == [one, None, None]
    assert len(await scene.posts()) >= 4
    assert (await scene.house.result(one))["owed"] is False


@pytest.mark.requirement("OUT-2")
async def test_what_is_said_while_a_reply_is_on_its_way_is_answered_after_it(scene: Scene) -> None:
    await scene.script(text("First."), gated("second", "Second and third."), text("Second and third."))
    await scene.house.stage.fault(method="POST", route=f"/channels/{scene.room}/messages", hold=scene.name)
    one = await scene.say("Clankie, one")
    await scene.house.stage.call("wait_held", hold=scene.name, within_s=PATIENCE_S)
    two = await scene.say("Clankie, two")
    three = await scene.say("Clankie, three", "Bob")
    await scene.house.stage.release(scene.name)
    await scene.accepted(two, three)
    await scene.open("second")
    assert await scene.concluded(one, two, three) == [
        ["accepted", "replied"],
        ["accepted", "replied"],
        ["accepted", "absorbed"],
    ]
    assert await scene.posted() == ["First.", "Second and third."]


@pytest.mark.requirement("OUT-2", "LANE-1")
async def test_replies_of_two_lanes_leave_one_after_the_other(scene: Scene) -> None:
    await scene.house.stage.fault(method="POST", route=f"/channels/{scene.room}/messages", hold=scene.name)
    await scene.script(gated("ann", "For Ann."), gated("owner", "For the owner."))
    one = await scene.say("Clankie, one", "Ann")
    await scene.requests(1)
    two = await scene.say("Clankie, two", "The owner")
    await scene.requests(2)  # a one-shot of its own, beside the room's lane
    await scene.open("ann")
    await scene.house.stage.call("wait_held", hold=scene.name, within_s=PATIENCE_S)
    await scene.open("owner")
    assert (await scene.house.result(two))["text"] == "For the owner."
    await scene.house.stage.release(scene.name)

    assert await scene.concluded(one, two) == [["accepted", "replied"]] * 2
    assert await scene.posted() == ["For Ann.", "For the owner."]
    first, second = await scene.posts()
    assert first["at"] <= second["what"]["started_at"]
    assert [run["lane"].partition("/")[0] for run in await scene.runs(2)] == ["rooms", "turns"]


@pytest.mark.requirement("OUT-3")
async def test_a_reply_whose_message_was_deleted_is_posted_without_a_reference(scene: Scene) -> None:
    await scene.script(gated("thinking", "Never mind."))
    one = await scene.say("Clankie, forget it")
    await scene.requests(1)
    await scene.house.stage.delete(one)
    await scene.open("thinking")
    assert await scene.concluded(one) == [["accepted", "replied"]]
    (reply,) = await scene.replies()
    assert (reply["content"], reply.get("message_reference")) == ("Never mind.", None)


@pytest.mark.requirement("OUT-4")
async def test_a_reply_that_may_not_be_posted_ends_as_failed_after_one_try(scene: Scene) -> None:
    await scene.script(gated("thinking", "You cannot hear me."), text("Now you can."))
    one = await scene.say("Clankie, are you there?")
    await scene.requests(1)
    await scene.house.stage.call("set_access", room=scene.room, access="read")
    await scene.open("thinking")
    assert await scene.concluded(one) == [["accepted", "failed"]]
    assert scene.codes(one) == ["discord_50013"]
    assert len(await scene.posts()) == 1
    assert (await scene.house.result(one))["owed"] is False

    await scene.house.stage.call("set_access", room=scene.room, access="full")
    two = await scene.say("Clankie, and now?")
    assert await scene.concluded(two) == [["accepted", "replied"]]


@pytest.mark.requirement("ROOM-6")
async def test_no_word_of_his_pings_anybody_whatever_it_mentions(scene: Scene) -> None:
    loud = "@everyone <@1300000000000000012> <@&1310000000000000002> look"
    await scene.script(calls(call("send_text_update", {"text": loud})), text(loud))
    one = await scene.say("Clankie, wake them up")
    await scene.concluded(one)
    update, reply = await scene.replies(2)
    for each in (update, reply):
        assert (each["mentions"], each["mention_roles"], each["mention_everyone"]) == ([], [], False)
    assert len(await scene.posts()) == 2
    await scene.house.check_pings()


@pytest.mark.requirement("CTX-1", "CTX-2", "ING-2", "ING-3")
async def test_a_cold_room_brings_its_talk_along_and_a_warm_one_only_what_was_not_heard(scene: Scene) -> None:
    await scene.script(text("Blue."), text("Still blue."))
    chat = [await scene.say("I painted the shed", "Bob"), await scene.say("which colour?", "Ann")]
    one = await scene.say("Clankie, which one would you take?")
    await scene.concluded(one)
    assert [scene.events(each) for each in chat] == [["buffered"], ["buffered"]]
    (first,) = await scene.requests(1)
    assert talk_in(first) == [('"Bob"', "I painted the shed"), ('"Ann"', "which colour?")]

    # A webhook is nobody's turn; what it says is room talk that the lane has not heard.
    hook = await scene.house.stage.say("Ann", f"build 7 is red ({scene.name})", room=scene.room, webhook="Builder")
    two = await scene.say("Clankie, are you sure?")
    await scene.concluded(two)
    assert scene.events(hook["id"]) == ["dropped"]
    _, second = await scene.requests(2)
    assert talk_in(second) == [*talk_in(first), ('"Builder"', "build 7 is red")]
    assert heard_in(second) == [("Ann", "Clankie, are you sure?")]
