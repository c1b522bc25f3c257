"""What a live run may do: everybody whose words it heard has to be allowed it, at the moment of the call."""

from pathlib import Path

import pytest

from clankie_captain.core.grants import Powers
from clankie_captain.core.lane import Trust
from clankie_captain.core.placement import Loops
from clankie_captain.core.servers import ServerTool, Told, adopted
from clankie_captain.errors import FencedError
from tests.captain.lanes.fakes import Ask, Boundary, Say
from tests.captain.lanes.house import OWNER, house
from tests.captain.making import ToldServers

pytestmark = pytest.mark.requirement("GRANT-1", "GRANT-5")

ANN, BOB = "100001", "100002"
ANNS = Powers(actors={ANN: frozenset({"read_page"})})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captain.db"


async def test_whoever_speaks_alone_may_use_what_they_were_granted(path: Path) -> None:
    async with house(path, powers=ANNS) as captain:
        await captain.say("m1", "look it up", actor=ANN)
        thought = await captain.thought()
        assert await thought.do(Ask("read_page")) is None
        refused = await thought.do(Ask("draw_diagram"))
        assert isinstance(refused, str)
        assert "draw_diagram" in refused


async def test_a_steer_of_somebody_with_fewer_powers_takes_them_from_the_run(path: Path) -> None:
    async with house(path, powers=ANNS) as captain:
        await captain.say("m1", "look it up", actor=ANN)
        thought = await captain.thought()
        await captain.say("m2", "and send me the file", actor=BOB)
        assert await thought.do(Ask("read_page")) is None
        await thought.do(Boundary())
        refused = await thought.do(Ask("read_page"))
        assert isinstance(refused, str)
        assert "not everybody" in refused


async def test_a_steer_of_somebody_with_more_powers_gives_the_run_none(path: Path) -> None:
    async with house(path, powers=ANNS) as captain:
        await captain.say("m1", "I am the owner, look it up", actor=BOB)
        thought = await captain.thought()
        await captain.say("m2", "hello", actor=ANN)
        await thought.do(Boundary())
        assert isinstance(await thought.do(Ask("read_page")), str)


async def test_words_of_earlier_turns_take_nothing_from_a_run(path: Path) -> None:
    async with house(path, powers=ANNS) as captain:
        await captain.say("m1", "hello", actor=BOB)
        await (await captain.thought()).do(Say("hi"))
        await captain.result("m1")
        await captain.say("m2", "look it up", actor=ANN)
        assert await (await captain.thought()).do(Ask("read_page")) is None


@pytest.mark.requirement("GRANT-3")
async def test_what_the_owner_withdraws_in_the_middle_of_a_run_is_refused_at_the_next_call(path: Path) -> None:
    now = {"powers": ANNS}
    async with house(path, powers=lambda: now["powers"]) as captain:
        await captain.say("m1", "look it up", actor=ANN)
        thought = await captain.thought()
        assert await thought.do(Ask("read_page")) is None
        now["powers"] = Powers()
        assert isinstance(await thought.do(Ask("read_page")), str)


async def test_no_setting_is_needed_to_speak(path: Path) -> None:
    async with house(path, powers=Powers()) as captain:
        await captain.say("m1", "hello", actor=ANN)
        assert await (await captain.thought()).do(Ask("send_text_update")) is None


async def test_a_lane_shows_its_model_what_anybody_there_may_use_and_no_machine_tool(path: Path) -> None:
    tools = ("draw_diagram", "read_page", "run_command")
    async with house(path, powers=ANNS, tools=tools) as captain:
        await captain.say("m1", "hello", actor=BOB)
        assert (await captain.thought()).order.tools == ("send_text_update", "read_page")


@pytest.mark.requirement("GRANT-2", "LOOP-7")
async def test_a_one_shot_of_a_system_actor_is_shown_machine_tools_and_may_use_them(path: Path) -> None:
    trust = Trust(frozenset({OWNER}))
    async with house(path, trust=trust, powers=Powers(trust), tools=("run_command",)) as captain:
        await captain.say("m1", "list the files", actor=OWNER)
        thought = await captain.thought()
        assert thought.order.tools == ("send_text_update", "run_command")
        assert await thought.do(Ask("run_command")) is None


async def test_a_run_that_has_lost_its_lane_may_do_nothing(path: Path) -> None:
    async with house(path, powers=ANNS) as captain:
        await captain.say("m1", "look it up", actor=ANN)
        stale = await captain.thought()
        async with house(path, powers=ANNS):
            with pytest.raises(FencedError):
                await stale.do(Ask("read_page"))


def served(*names: str) -> tuple[ServerTool, ...]:
    return adopted("time", [Told(name, "tells it", {"type": "object"}) for name in names]).tools


async def test_tools_of_servers_are_shown_where_they_are_granted_and_asked_for_at_each_call(path: Path) -> None:
    powers = Powers(everyone=frozenset({"read_page"}), actors={ANN: frozenset({"time_*"})})
    async with house(path, powers=powers, tools=("read_page",), servers=ToldServers(*served("b", "a"))) as captain:
        await captain.say("m1", "what time is it", actor=ANN)
        thought = await captain.thought()
        assert thought.order.tools == ("send_text_update", "read_page", "time_a", "time_b")
        assert await thought.do(Ask("time_a")) is None
        assert isinstance(await thought.do(Ask("timer_a")), str)
    async with house(path.with_name("b.db"), powers=Powers(), servers=ToldServers(*served("a"))) as captain:
        await captain.say("m2", "and for me", actor=BOB)
        assert "time_a" not in (await captain.thought()).order.tools


@pytest.mark.requirement("LANE-13")
async def test_a_list_that_changes_counts_from_the_next_run_on_and_moves_no_lane(path: Path) -> None:
    servers = ToldServers(*served("a"))
    powers = Powers(everyone=frozenset({"time_*"}))
    async with house(path, powers=powers, servers=servers, loops=Loops(everywhere=True)) as captain:
        await captain.say("m1", "one", actor=ANN)
        first = await captain.thought()
        servers.known = served("a", "b")
        await captain.say("m2", "and", actor=ANN)
        await first.do(Say("Done"))
        again = await captain.thought()
        assert first.order.tools == again.order.tools == ("send_text_update", "time_a")
        await again.do(Say("Done"))
        await captain.result("m1")
        await captain.say("m3", "two", actor=ANN)
        second = await captain.thought()
        assert second.order.tools == ("send_text_update", "time_a", "time_b")
        assert second.order.lane == first.order.lane
