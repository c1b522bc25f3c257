"""Either process may be killed at any moment, and the gateway may break: nothing is lost, nothing is said twice."""

import asyncio
import itertools
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing

import httpx
import pytest
import pytest_asyncio

from clankie_bridge.core.notices import notice
from clankie_settings.wire.failure import FailureCode
from clankie_stage.provider.records import Record, extends
from clankie_stage.provider.steps import call, calls, failed, gated, key_error, text
from tests.system.house import House, whole_house
from tests.system.program import PATIENCE_S
from tests.system.scene import Scene, heard_in, talk_in

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

RESUME = 6
"""The gateway's opcode by which a bot takes its events up again. Source: Discord's documentation."""

ROOMS = 4


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with whole_house(tmp_path_factory.mktemp("restarts")) as running:
        yield running
        await running.until(lambda: not undone(running) or None, "every accepted delivery is done")


def undone(house: House) -> list[str]:
    """The accepted deliveries without a result."""
    with closing(sqlite3.connect(f"file:{house.state / 'captain.db'}?mode=ro", uri=True)) as store:
        return [row[0] for row in store.execute("SELECT id FROM delivery WHERE state != 'done'")]


@pytest.mark.requirement("WIRE-5", "WIRE-6", "FAIL-6", "LANE-13")
async def test_a_captain_that_is_killed_amid_a_turn_answers_it_once_for_everybody_who_waits(scene: Scene) -> None:
    house = scene.house
    await scene.script(gated("never", "Lost."), text("Found again."))
    one = await scene.say("Clankie, think hard")
    await scene.requests(1)
    await scene.accepted(one)
    sent = asyncio.Event()
    waiting = asyncio.create_task(wait_once(house, one, sent))
    await sent.wait()
    await house.kill("captain")
    with pytest.raises(httpx.TransportError):
        await waiting
    await house.start_captain()

    assert await scene.concluded(one) == [["accepted", "replied"]]
    assert (await house.result(one))["text"] == "Found again."
    assert await scene.posted() == ["Found again."]
    interrupted, again = await scene.requests(2)
    assert interrupted.state == "hung_up"
    assert extends(interrupted, again)
    (run,) = await scene.runs(1)
    assert (run["attempt"], run["outcome"]) == (2, "replied")


async def wait_once(house: House, delivery_id: str, sent: asyncio.Event) -> httpx.Response:
    """Wait for a result over one connection; ``sent`` is set once the captain was asked."""

    async def trace(event: str, _: object) -> None:
        if event == "http11.receive_response_headers.started":
            sent.set()

    headers = {"Authorization": f"Bearer {house.token()}", "Prefer": "wait=60"}
    return await house.captain.get(f"/v1/turns/{delivery_id}", headers=headers, timeout=70, extensions={"trace": trace})


@pytest.mark.requirement("WIRE-6", "ING-5", "OUT-2")
async def test_messages_to_a_captain_that_is_down_are_answered_later_and_once(scene: Scene) -> None:
    house = scene.house
    await house.kill("captain")
    one = await scene.say("Clankie, one")
    two = await scene.say("Clankie, two", "Bob")
    await house.programs["bridge"].said('"event": "captain_away"', count=1 + said_before(house, "captain_away"))
    assert scene.events(one) == []
    await scene.script(gated("both", "Both."), text("Both."), text("Both."))
    await house.start_captain()
    await scene.accepted(one, two)
    await scene.open("both")
    assert await scene.concluded(one, two) == [["accepted", "replied"], ["accepted", "absorbed"]]
    assert await scene.posted() == ["Both."]


def said_before(house: House, event: str) -> int:
    """How often the bridge has said something in this life."""
    return sum(f'"event": "{event}"' in line for line in house.programs["bridge"].lines)


@pytest.mark.requirement("ING-5")
async def test_a_gateway_that_is_cut_is_taken_up_again_and_nothing_is_missed_or_doubled(scene: Scene) -> None:
    stage = scene.house.stage
    await scene.script(gated("first", "Early."), text("All three."), text("All three."))
    one = await scene.say("Clankie, before")
    await scene.requests(1)
    mark = await stage.mark()
    await stage.call("drop")
    two = await scene.say("Clankie, while you are away")
    await stage.wait({"kind": "gateway_in", "op": RESUME}, after=mark, within_s=PATIENCE_S)
    three = await scene.say("Clankie, after")
    await scene.accepted(one, two, three)
    await scene.open("first")
    assert await scene.concluded(one, two, three) == [
        ["accepted", "replied"],
        ["accepted", "absorbed"],
        ["accepted", "absorbed"],
    ]
    assert await scene.posted() == ["All three."]
    assert [words for _, words in heard_in((await scene.requests(2))[-1])] == [
        "Clankie, before",
        "Clankie, while you are away",
        "Clankie, after",
    ]


@pytest.mark.requirement("ING-5", "WIRE-5")
async def test_events_that_are_sent_twice_are_answered_once(scene: Scene) -> None:
    await scene.script(gated("thinking", "Once."))
    one = await scene.say("Clankie, once or twice?")
    await scene.requests(1)
    await scene.accepted(one)
    await scene.house.stage.call("duplicate", count=1)
    await scene.house.until(lambda: "deduplicated" in scene.events(one), "the second event was seen")
    await scene.open("thinking")
    await scene.concluded(one)
    assert scene.events(one) == ["accepted", "deduplicated", "replied"]
    assert await scene.posted() == ["Once."]


@pytest.mark.requirement("WIRE-5", "ING-5")
async def test_a_bridge_that_is_killed_while_a_turn_runs_posts_its_reply_once_when_it_is_back(scene: Scene) -> None:
    house = scene.house
    await scene.script(gated("thinking", "Still owed."))
    one = await scene.say("Clankie, take your time")
    await scene.requests(1)
    await scene.accepted(one)
    await house.kill("bridge")
    await scene.open("thinking")
    settled = await house.result(one)
    assert (settled["state"], settled["owed"]) == ("replied", True)
    assert await scene.posted() == []

    await house.start_bridge()
    assert (await scene.concluded(one))[0][-1] == "replied"
    assert await scene.posted() == ["Still owed."]
    assert (await house.result(one))["owed"] is False


@pytest.mark.requirement("CTX-1", "CTX-2")
async def test_a_restart_makes_no_lane_forget_and_sends_nothing_again(scene: Scene) -> None:
    house = scene.house
    await scene.script(text("Blue."), text("Sure."), text("Very sure."))
    await scene.say("I painted the shed", "Bob")
    await scene.concluded(await scene.say("Clankie, which colour would you take?"))
    await asyncio.gather(house.kill("bridge"), house.kill("captain"))
    # Somebody else's would be answered: what was missed is handed over as it is when it comes live.
    gap = await scene.say("the neighbours hate it", "Bob", webhook="Relay")
    await asyncio.gather(house.start_captain(), house.start_bridge())
    for question in ("Clankie, are you sure?", "Clankie, very sure?"):
        await scene.concluded(await scene.say(question))
    first, second, third = await scene.requests(3)
    talk = [('"Bob"', "I painted the shed"), ('"Relay"', "the neighbours hate it")]
    assert [talk_in(each) for each in (first, second, third)] == [talk[:1], talk, talk]
    assert scene.events(gap) == ["dropped"]
    expect_growth([first, second, third])


def expect_growth(requests: list[Record]) -> None:
    """Each request's messages begin with the bytes of those before. Source: LANE-13."""
    assert [extends(earlier, later) for earlier, later in itertools.pairwise(requests)] == [True] * (len(requests) - 1)


@pytest.mark.requirement("LANE-13", "LANE-14")
async def test_a_lane_only_grows_over_plain_tool_steered_failed_and_restarted_turns(scene: Scene) -> None:
    house = scene.house
    await scene.script(
        text("Plain."),
        calls(call("send_text_update", {"text": "Wait."}), before="I look."),
        text("Tool."),
        gated("steer", "Unposted."),
        text("Steered."),
        failed(key_error()),
        gated("never", "Lost."),
        text("Restarted."),
        text("Plain again."),
    )
    await scene.concluded(await scene.say("Clankie, plain “ü” \\ \u2028 👋"))
    await scene.concluded(await scene.say("Clankie, with a tool"))
    steered = [await scene.say("Clankie, steered")]
    await scene.requests(4)
    steered.append(await scene.say("Clankie, by Bob", "Bob"))
    await scene.accepted(*steered)
    await scene.open("steer")
    await scene.concluded(*steered)
    assert await scene.concluded(await scene.say("Clankie, failing")) == [["accepted", "failed"]]
    restarted = await scene.say("Clankie, restarted")
    await scene.requests(7)
    await scene.accepted(restarted)
    await house.kill("captain")
    await house.start_captain()
    await scene.concluded(restarted)
    await scene.concluded(await scene.say("Clankie, plain again"))

    told = notice(FailureCode.CAPTAIN_MODEL_FAILED)
    assert await scene.posted() == ["Plain.", "Wait.", "Tool.", "Steered.", told, "Restarted.", "Plain again."]
    requests = await scene.requests(9)
    assert len(requests) == 9
    assert [each.refused for each in requests] == [""] * 9
    expect_growth(requests)


@pytest.mark.requirement("LANE-2", "FAIL-6")
async def test_a_killed_captain_leaves_a_whole_store_and_finishes_every_delivery(scene: Scene) -> None:
    house = scene.house
    rooms = [await Scene.opened(house, f"crowd-{number}") for number in range(ROOMS)]
    said: list[tuple[Scene, str]] = []
    for number, room in enumerate(rooms):
        await room.script(gated(f"never-{number}", "Lost."), text("Here."), text("Here."))
        said += [(room, await room.say(f"Clankie, {count}")) for count in range(3)]
    for room, message in said:
        await room.accepted(message)
        await room.requests(1)  # the first answer is under way, and will be lost
    await house.kill("captain")
    with closing(sqlite3.connect(house.state / "captain.db")) as store:
        assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert store.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
    assert len(undone(house)) == len(said)

    await house.start_captain()
    for room in rooms:
        own = [message for each, message in said if each is room]
        ends = [events[-1] for events in await room.concluded(*own)]
        assert ends == ["replied", "absorbed", "absorbed"]
        assert await room.posted() == ["Here."]
    assert undone(house) == []
