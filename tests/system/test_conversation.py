"""A message in a room becomes one reply, one silence, or part of another's reply."""

import itertools
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import httpx
import pytest
import pytest_asyncio

from clankie_captain.core.context import STEERED
from clankie_settings.wire.trigger import Actor, Room, Trigger
from clankie_stage.discord.scenery import GUILD_ID
from clankie_stage.provider.beats import Call, Finish, Say
from clankie_stage.provider.steps import SILENCE, call, calls, gated, silence, step, text
from tests.system.house import House, whole_house
from tests.system.scene import Scene, heard_in, prompt, told_by_tools

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]


VOICE_TOKEN = "the-token-of-a-voice-client"
VOICE = f"""
[presences.ears]
token = "{VOICE_TOKEN}"
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with whole_house(tmp_path_factory.mktemp("conversation"), toml=VOICE) as running:
        yield running


async def expect_one_indicator(scene: Scene) -> None:
    """It was lit once, refreshed no sooner than Discord clears it, and never after the reply was on its way."""
    lit = [each["what"]["started_at"] for each in await scene.typing()]
    (post,) = await scene.posts()
    assert all(later - earlier > 7.0 for earlier, later in itertools.pairwise(lit))
    assert max(lit) < post["at"]


@pytest.mark.requirement("LANE-8", "LANE-3", "LANE-4", "LANE-9", "LANE-11", "OPS-6", "ROOM-2", "ING-5")
async def test_a_burst_of_three_makes_one_run_and_one_reply(scene: Scene) -> None:
    await scene.script(
        gated("first", "Let me ", "see."),
        gated("last", "Sunday, ", "outdoors, ", "after noon.", after=3),
    )
    one = await scene.say("Clankie, what shall we do on Sunday?")
    (first,) = await scene.requests(1)  # it left before the second message was written
    two = await scene.say("Clankie, outdoors, please")
    three = await scene.say("Clankie, and not before noon")
    await scene.accepted(two, three)
    await scene.open("first")
    await scene.typing()
    await scene.requests(2)
    await scene.open("last")

    evidence = await scene.concluded(one, two, three)
    assert evidence == [["accepted", "replied"], ["accepted", "absorbed"], ["accepted", "absorbed"]]
    (reply,) = await scene.replies()
    assert reply["content"] == "Sunday, outdoors, after noon."
    assert reply["message_reference"]["message_id"] == one
    await expect_one_indicator(scene)
    assert heard_in(first) == [("Ann", "Clankie, what shall we do on Sunday?")]
    _, last = await scene.requests(2)
    assert [words for _, words in heard_in(last)] == [
        "Clankie, what shall we do on Sunday?",
        "Clankie, outdoors, please",
        "Clankie, and not before noon",
    ]
    # What was written before the steer and never posted is gone, and he is told so.
    assert "Let me see." not in prompt(last)
    assert STEERED in prompt(last)
    (run,) = await scene.runs(1)
    assert (run["delivery"], run["outcome"], run["absorbed"], run["requests"]) == (one, "replied", 2, 2)


@pytest.mark.requirement("LANE-3", "LANE-4", "LANE-10")
async def test_two_speakers_are_answered_by_one_reply_to_the_first(scene: Scene) -> None:
    await scene.script(gated("thinking", "Ann only."), text("To both of you."))
    one = await scene.say("Clankie, tea or coffee?", "Ann")
    await scene.requests(1)
    two = await scene.say("Clankie, and biscuits?", "Bob")
    await scene.accepted(two)
    await scene.open("thinking")

    assert await scene.concluded(one, two) == [["accepted", "replied"], ["accepted", "absorbed"]]
    (reply,) = await scene.replies()
    assert (reply["content"], reply["message_reference"]["message_id"]) == ("To both of you.", one)
    _, last = await scene.requests(2)
    assert heard_in(last) == [("Ann", "Clankie, tea or coffee?"), ("Bob", "Clankie, and biscuits?")]
    absorbed = await scene.house.result(two)
    assert (absorbed["answered_by"], absorbed["owed"]) == (one, False)


@pytest.mark.requirement("ROOM-1", "ROOM-2")
async def test_silence_posts_nothing_and_never_lights_the_indicator(scene: Scene) -> None:
    await scene.script(silence(), text("And to this I answer."))
    one = await scene.say("Clankie, this is not for you")
    assert await scene.concluded(one) == [["accepted", "silent"]]
    assert (await scene.posts(), await scene.house.stage.typings(scene.room)) == ([], [])
    two = await scene.say("Clankie, but this is")
    await scene.concluded(two)
    assert await scene.posted() == ["And to this I answer."]
    assert [run["outcome"] for run in await scene.runs(2)] == ["silent", "replied"]


@pytest.mark.requirement("ROOM-1", "ROOM-2")
async def test_a_reply_that_quotes_the_marker_is_posted(scene: Scene) -> None:
    said = ("Then I write ", SILENCE, " and nothing else.")
    await scene.script(gated("end", *said, after=3))
    one = await scene.say("Clankie, how are you silent?")
    await scene.typing()
    await scene.open("end")
    assert await scene.concluded(one) == [["accepted", "replied"]]
    assert await scene.posted() == ["".join(said)]


@pytest.mark.requirement("ROOM-2", "ING-1", "ING-2")
async def test_a_direct_message_is_answered_and_typed_in_without_being_addressed(scene: Scene) -> None:
    dm = Scene(scene.house, (await dms(scene.house))["The owner"], scene.name)
    await dm.script(gated("end", "Only ", "you.", after=2))
    one = await dm.say("who reads this?", "The owner")
    await dm.typing()
    await dm.open("end")
    assert await dm.concluded(one) == [["accepted", "replied"]]
    assert await dm.posted() == ["Only you."]
    await expect_one_indicator(dm)


@pytest.mark.requirement("ING-1", "ING-5")
async def test_a_direct_message_of_somebody_who_is_not_listed_is_dropped(scene: Scene) -> None:
    dm = Scene(scene.house, (await dms(scene.house))["Bob"], scene.name)
    one = await dm.say("hello?", "Bob")
    await scene.house.until(lambda: dm.events(one), "the message is judged")
    assert (dm.events(one), dm.codes(one)) == (["dropped"], ["dm_policy"])


async def dms(house: House) -> dict[str, str]:
    """The rooms of direct messages, by whose they are."""
    told = await house.stage.call("describe")
    names = {each["id"]: each["display_name"] for each in told["users"]}
    return {
        names[one["id"]]: room["id"]
        for room in told["rooms"]
        for one in room.get("recipients", [])
        if room["type"] == 1
    }


def utterance(scene: Scene, number: int, body: str) -> str:
    """Something that was said aloud in the room, as a voice client hands it over."""
    return Trigger(
        wire_version=1,
        delivery_id=f"{scene.room}-{number}",
        presence_id="ears",
        kind="voice",
        room=Room(platform="discord", guild_id=GUILD_ID, channel_id=scene.room),
        actor=Actor(actor_id="1300000000000000011", display_name="Ann", is_bot=False, role_ids=()),
        message_id=f"{scene.room}-{number}",
        sent_at=datetime.now(UTC),
        body=f"{body} ({scene.name})",
        addressed=True,
    ).model_dump_json(exclude_none=True)


async def hand_over(house: House, trigger: str) -> httpx.Response:
    """What a presence does first: put a delivery on the captain's disk."""
    headers = {"Authorization": f"Bearer {VOICE_TOKEN}", "Prefer": "wait=0", "Content-Type": "application/json"}
    return await house.captain.post("/v1/turns", content=trigger, headers=headers)


@pytest.mark.requirement("VOX-1", "SEC-1", "LANE-12")
async def test_an_utterance_that_joins_a_voice_run_is_absorbed_and_nothing_is_written(scene: Scene) -> None:
    await scene.script(gated("thinking", "One."), text("Both, aloud."))
    first = await hand_over(scene.house, utterance(scene, 1, "what time is it?"))
    assert (first.status_code, first.headers["Location"]) == (202, f"/v1/turns/{scene.room}-1")
    await scene.requests(1)
    await hand_over(scene.house, utterance(scene, 2, "and what day?"))
    await scene.open("thinking")

    one = await scene.house.result(f"{scene.room}-1", VOICE_TOKEN)
    two = await scene.house.result(f"{scene.room}-2", VOICE_TOKEN)
    assert (one["state"], one["text"]) == ("replied", "Both, aloud.")
    assert (two["state"], two["answered_by"]) == ("absorbed", f"{scene.room}-1")
    (run,) = await scene.runs(1)
    assert run["lane"].startswith("voice/")
    assert await scene.posted() == []
    # What one presence handed over, another does not get to read.
    headers = {"Authorization": f"Bearer {scene.house.token()}"}
    assert (await scene.house.captain.get(f"/v1/turns/{scene.room}-1", headers=headers)).status_code == 404


@pytest.mark.requirement("ROOM-3", "LANE-15")
async def test_an_update_is_posted_as_a_reply_amid_the_turn_and_the_answer_after_it(scene: Scene) -> None:
    await scene.script(
        calls(call("send_text_update", {"text": "Looking it up."}), before="I had better look."),
        gated("found", "It is ", "a heron.", after=2),
    )
    one = await scene.say("Clankie, which bird is this?")
    (update,) = await scene.replies(1)
    assert (update["content"], update["message_reference"]["message_id"]) == ("Looking it up.", one)
    assert scene.events(one) == ["accepted"]
    _, second = await scene.requests(2)
    assert told_by_tools(second) == ["Posted."]
    await scene.open("found")

    assert await scene.concluded(one) == [["accepted", "replied"]]
    assert await scene.posted() == ["Looking it up.", "It is a heron."]
    (run,) = await scene.runs(1)
    assert run["tool_calls"] == 1


@pytest.mark.requirement("ROOM-3")
async def test_an_update_that_the_room_refuses_is_told_to_the_model_and_costs_nothing_else(scene: Scene) -> None:
    await scene.script(calls(call("send_text_update", {"text": "Wait."})), text("Here."))
    await scene.house.stage.fault(
        method="POST", route=f"/channels/{scene.room}/messages", status=403, body={"code": 50013, "message": "no"}
    )
    one = await scene.say("Clankie, go on")
    await scene.concluded(one)
    _, second = await scene.requests(2)
    (told,) = told_by_tools(second)
    assert told.startswith("Not posted: ")
    assert "discord_50013" in told
    assert await scene.posted() == ["Here."]


@pytest.mark.requirement("ROOM-3")
async def test_a_fourth_update_of_a_turn_is_refused(scene: Scene) -> None:
    updates: list[Call] = [call("send_text_update", {"text": f"Part {number}."}) for number in range(1, 5)]
    await scene.script(step(Say("One by one."), *updates, Finish("tool_calls")), text("Done."))
    one = await scene.say("Clankie, tell us as you go")
    await scene.concluded(one)
    assert await scene.posted() == ["Part 1.", "Part 2.", "Part 3.", "Done."]
    _, second = await scene.requests(2)
    told = told_by_tools(second)
    assert told[:3] == ["Posted."] * 3
    assert told[3].startswith("Not posted: ")
