"""Machine turns of those whom the owner trusts, with real processes: one at a time, and apart from the room's talk."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from clankie_stage.discord.scenery import BOB_ID, OWNER_ID
from clankie_stage.provider.steps import call, calls, gated, text
from tests.system.house import CAPTAIN, House, whole_house
from tests.system.scene import Scene, heard_in, told_by_tools

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

TOML = f'room_loop = "all"\nsystem_actors = ["{OWNER_ID}", "{BOB_ID}"]\n'


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with whole_house(tmp_path_factory.mktemp("machine_turns"), CAPTAIN, TOML) as running:
        yield running


@pytest.mark.requirement("LOOP-7", "GRANT-2")
async def test_what_a_machine_turn_reads_is_shown_to_nobody_elses_turn(scene: Scene) -> None:
    (scene.house.state / "workspace" / "diary.md").write_text("CANARY-file", "utf-8")
    await scene.script(calls(call("read_file", {"path": "diary.md"})), text("Read."), text("Hello."), text("Again."))
    asked = await scene.say("Clankie, read it", "owner")
    assert await scene.concluded(asked) == [["accepted", "replied"]]
    other = await scene.say("Clankie, what did you read?")
    assert await scene.concluded(other) == [["accepted", "replied"]]
    later = await scene.say("Clankie, another", "owner")
    assert await scene.concluded(later) == [["accepted", "replied"]]
    first, second, social, again = await scene.requests(4)
    assert [b'"name":"read_file"' in each.raw for each in (first, social)] == [True, False]
    assert "CANARY-file" in told_by_tools(second)[0]
    assert b"CANARY-file" not in social.raw
    assert b"CANARY-file" not in again.raw
    lanes = [line["lane"] for line in await scene.runs(3)]
    assert [each.partition("/")[0] for each in lanes] == ["turns", "rooms", "turns"]
    assert lanes[0] != lanes[2]


@pytest.mark.requirement("GRANT-2")
async def test_machine_turns_of_a_room_go_one_at_a_time_and_their_own_actor_steers(scene: Scene) -> None:
    await scene.script(gated("answer", "Half."), text("To the owner."), text("To Bob."))
    one = await scene.say("Clankie, one", "owner")
    await scene.house.provider.arrived("answer")
    two = await scene.say("Clankie, two", "Bob")
    more = await scene.say("Clankie, more", "owner")
    await scene.accepted(two, more)
    assert len(await scene.requests(1)) == 1
    await scene.open("answer")
    assert await scene.concluded(one, two, more) == [
        ["accepted", "replied"],
        ["accepted", "replied"],
        ["accepted", "absorbed"],
    ]
    _, second, third = await scene.requests(3)
    assert heard_in(second)[-1][1] == "Clankie, more"
    assert heard_in(third) == [("Bob", "Clankie, two")]
    assert "assistant" not in {message["role"] for message in third.messages}
    assert {author for author, _ in heard_in(second)} == {"The owner"}
