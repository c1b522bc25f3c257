"""The bridge's own client and patience against the captain's own application, over connections that break."""

import asyncio

import pytest
from pydantic import SecretStr

from clankie_bridge.captain.connection import Connection
from clankie_bridge.captain.patience import Patience
from clankie_bridge.captain.turns import CaptainTurns
from clankie_bridge.errors import DeliveryConflict
from clankie_settings import bounds
from clankie_settings.wire.result import Pending, Replied
from tests.bridge.conftest import KeptLog
from tests.bridge.discord.test_send import StillClock
from tests.captain.api.running import CAPTAIN_TOKEN, RunningCaptain
from tests.captain.core.speech import trigger
from tests.soak.crossing import Crossing


@pytest.mark.requirement("WIRE-5", "WIRE-6", "WIRE-8")
async def test_a_long_turn_whose_call_is_cut_and_made_again_is_one_run_and_one_reply(captain: RunningCaptain) -> None:
    """C07."""
    captain.loop.free.clear()
    clock, direct = StillClock(), Connection(captain.address, SecretStr(CAPTAIN_TOKEN))
    patience = Patience(clock, lambda: 0.0, KeptLog())
    async with Crossing.open(int(captain.address.rpartition(":")[2])) as crossing, direct:
        async with Connection(f"http://127.0.0.1:{crossing.port}", SecretStr(CAPTAIN_TOKEN)) as cut:
            through = CaptainTurns(cut)
            call = asyncio.create_task(
                patience.until_done(lambda: through.hand_over(trigger(), wait_s=bounds.WAIT_SECONDS))
            )
            await captain.loop.until_asked()
            assert crossing.cut()
            # The one that was cut, and the one that was made again.
            await captain.until_held(2)
            beside = CaptainTurns(direct)
            assert await beside.hand_over(trigger()) == Pending(state="running", delivery_id="400")
            with pytest.raises(DeliveryConflict):
                await beside.hand_over(trigger(body="other words"))
            crossing.deaf = 1
            captain.loop.free.set()
            result = await call
        assert isinstance(result, Replied)
        assert [(each.delivery_id, each.result) for each in await beside.owed()] == [("400", result)]
    assert len(clock.waits) == 2, "one call was cut, and one answer was lost"
    assert len(captain.loop.orders) == 1
