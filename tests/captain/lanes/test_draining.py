"""A captain that stops waits until its last words are in their room, and for no older debt."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from clankie_captain.core.settlement import Settled
from clankie_captain.lanes.draining import FRESH, LOOK_EVERY, Draining
from clankie_captain.lanes.waiters import Waiters
from clankie_captain.store.runs import RunStore
from clankie_settings import bounds
from clankie_settings.ids import DeliveryId
from clankie_settings.wire.receipt import Receipt
from tests.captain.lanes.fakes import Say
from tests.captain.lanes.house import DISCORD, SOON, House, house


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing ends because real time is over."""
    monkeypatch.setattr(bounds, "DRAIN_TELLING", timedelta(hours=1))


def draining(captain: House) -> Draining:
    return Draining(
        captain.desk,
        captain.registry,
        captain.deliveries,
        RunStore(captain.database),
        Waiters[Settled](),
        captain.receipts,
        captain.signals,
        timedelta(seconds=10),
        captain.clock,
    )


async def replied(captain: House, delivery: str) -> None:
    await captain.say(delivery, "are you there?")
    await (await captain.thought()).do(Say("yes"))
    await captain.result(delivery)


@pytest.mark.requirement("DUR-5")
async def test_a_reply_that_settled_right_before_the_stop_is_waited_for(tmp_path: Path) -> None:
    async with house(tmp_path / "captain.db") as captain:
        await replied(captain, "old")
        captain.clock.advance(FRESH + LOOK_EVERY)
        await replied(captain, "fresh")
        sleeping = captain.clock.sleeping
        stopping = asyncio.create_task(draining(captain).finish())
        async with asyncio.timeout(SOON.total_seconds()):
            while captain.clock.sleeping == sleeping:
                assert not stopping.done()
                await asyncio.sleep(0)
        posted = Receipt(part=1, of=1, message_id="1", posted_at=captain.clock.now())
        await captain.deliveries.receive(DISCORD, DeliveryId("fresh"), posted)
        captain.clock.advance(LOOK_EVERY)
        async with asyncio.timeout(SOON.total_seconds()):
            await stopping


@pytest.mark.requirement("DUR-5")
async def test_what_nobody_posted_for_longer_holds_up_no_stop(tmp_path: Path) -> None:
    async with house(tmp_path / "captain.db") as captain:
        await replied(captain, "old")
        captain.clock.advance(FRESH + LOOK_EVERY)
        async with asyncio.timeout(SOON.total_seconds()):
            await draining(captain).finish()
