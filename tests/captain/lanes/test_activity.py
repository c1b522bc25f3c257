"""Work in tools is shown to the room as counts by category, again and again while it lasts, and cleared at its end."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from clankie_captain.lanes.signals import Sign
from clankie_settings import bounds
from clankie_settings.ids import DeliveryId
from clankie_settings.wire.action import Clear, ToolActivity, Typing
from clankie_settings.wire.failure import FailureCode
from tests.captain.lanes.fakes import Explode, Fail, Say, Tool, Write
from tests.captain.lanes.house import DISCORD, SOON, House, house

pytestmark = pytest.mark.requirement("ROOM-4")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captain.db"


async def shown(inbox: "asyncio.Queue[Sign]") -> Sign:
    async with asyncio.timeout(SOON.total_seconds()):
        return await inbox.get()


def card(state: str, elapsed_s: int = 0, **categories: int) -> ToolActivity:
    return ToolActivity(delivery_id="m1", state=state, categories=categories, elapsed_s=elapsed_s)


async def pass_time(captain: House, span: timedelta) -> None:
    """Let a repeated sign sleep before its time passes."""
    before = captain.clock.sleeping
    async with asyncio.timeout(SOON.total_seconds()):
        while captain.clock.sleeping < max(before, 2):  # noqa: ASYNC110 - the clock is a value
            await asyncio.sleep(0)
    captain.clock.advance(span)


async def test_calls_are_counted_as_they_begin_and_the_last_end_is_said(path: Path) -> None:
    async with house(path) as captain:
        with captain.signals.inbox(DISCORD) as inbox:
            await captain.say("m1", "look it up")
            thought = await captain.thought()
            await thought.do(Tool("a_private_name", "started"))
            assert await shown(inbox) == card("working", tools=1)
            await thought.do(Tool("send_text_update", "started"))
            assert await shown(inbox) == card("working", tools=1, updates=1)
            await thought.do(Tool("a_private_name", "ended"))
            assert await shown(inbox) == card("working", tools=1, updates=1)
            await thought.do(Tool("send_text_update", "ended"))
            assert await shown(inbox) == card("done", tools=1, updates=1)


async def test_it_is_said_again_every_five_seconds_with_the_time_that_has_passed(path: Path) -> None:
    async with house(path) as captain:
        with captain.signals.inbox(DISCORD) as inbox:
            await captain.say("m1", "look it up")
            thought = await captain.thought()
            await thought.do(Tool("web", "started"))
            assert await shown(inbox) == card("working", tools=1)
            for round_number in (1, 2):
                await pass_time(captain, bounds.ACTIVITY_EVERY)
                assert await shown(inbox) == card("working", 5 * round_number, tools=1)
            await thought.do(Tool("web", "ended"))
            assert await shown(inbox) == card("done", 10, tools=1)


@pytest.mark.requirement("FAIL-6")
@pytest.mark.parametrize("end", [Say("done"), Fail(FailureCode.CAPTAIN_MODEL_FAILED), Explode(), None])
async def test_it_is_cleared_however_the_turn_ends(path: Path, end: Say | Fail | Explode | None) -> None:
    async with house(path) as captain:
        with captain.signals.inbox(DISCORD) as inbox:
            await captain.say("m1", "look it up")
            thought = await captain.thought()
            await thought.do(Tool("web", "started"))
            await shown(inbox)
            if end is None:
                await captain.desk.cancel(DISCORD, DeliveryId("m1"))
            else:
                await thought.do(end)
            await captain.result("m1")
            assert await shown(inbox) == Clear(delivery_id="m1")
            captain.clock.advance(3 * bounds.ACTIVITY_EVERY)
            await asyncio.sleep(0)
            assert inbox.empty()


async def test_a_turn_without_tools_shows_none(path: Path) -> None:
    async with house(path) as captain:
        with captain.signals.inbox(DISCORD) as inbox:
            await captain.say("m1", "hello")
            thought = await captain.thought()
            await thought.do(Write("Hello"))
            await thought.do(Say("Hello"))
            await captain.result("m1")
            assert [await shown(inbox), await shown(inbox)] == [Typing(delivery_id="m1"), Clear(delivery_id="m1")]
            assert inbox.empty()
