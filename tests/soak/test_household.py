"""What keeps a soak going, and what tells why it does not go on."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from clankie_settings.clock import SystemClock
from clankie_stage.client import StageClient
from clankie_stage.provider.client import ProviderClient
from tests.soak.household import Household
from tests.soak.probes import settings_of
from tests.soak.rows import Store
from tests.soak.standstill import story
from tests.soak.together import SoakError, together
from tests.system.house import House, plain_environment

SLEEPER = "import time; print('up'); time.sleep(60)"
NOBODY = "http://127.0.0.1:9"
CLOCK = SystemClock()


@pytest_asyncio.fixture
async def household(tmp_path: Path) -> AsyncIterator[Household]:
    sleeper = tmp_path / "sleeper.py"
    sleeper.write_text(SLEEPER, "utf-8")
    program = (str(sleeper),)
    async with (
        StageClient(NOBODY) as stage,
        httpx.AsyncClient(base_url=NOBODY, trust_env=False) as captain,
        ProviderClient.connected(NOBODY) as provider,
    ):
        house = House(tmp_path, tmp_path, plain_environment(tmp_path), stage, provider, captain, program)
        household = Household(house, {"captain": program, "bridge": program}, CLOCK)
        yield household
        for each in house.programs.values():
            await each.kill()


async def up(household: Household, starts: int) -> None:
    async with asyncio.timeout(20):
        while household.starts["captain"] < starts:
            await CLOCK.sleep(timedelta(milliseconds=10))
    await household.house.programs["captain"].said("up")


async def test_a_service_comes_back_though_its_killer_is_called_off(household: Household) -> None:
    keeping = asyncio.create_task(household.keep("captain"))
    await up(household, 1)
    killing = asyncio.create_task(household.kill("captain", timedelta()))
    await asyncio.sleep(0)
    killing.cancel()
    await up(household, 2)
    assert not keeping.done()
    assert household.ends == []
    keeping.cancel()


async def test_a_standstill_is_told_with_processes_their_words_and_the_store(household: Household) -> None:
    keeping = asyncio.create_task(household.keep("captain"))
    await up(household, 1)
    store = Store(household.house.state / "captain.db")
    assert "the store cannot be read" in await story(household, store, "standing")
    await settings_of(store.path)
    household.house.programs["captain"].suspend()
    told = await story(household, store, "standing")
    assert "standing\ncaptain: 1 starts" in told
    assert "T (stopped)" in told
    assert "  up" in told
    assert "bridge: never started" in told
    assert "captain's readiness: " in told
    assert "cannot be read" not in told
    keeping.cancel()
    await household.house.programs["captain"].kill()
    assert "ended with -9" in await story(household, store, "standing")


async def test_a_work_that_is_called_off_from_within_ends_the_soak() -> None:
    inner = asyncio.ensure_future(asyncio.Event().wait())

    async def leaning() -> None:
        await inner

    async def soaked() -> None:
        async with together([leaning()]):
            await asyncio.sleep(0)
            inner.cancel()
            await asyncio.Event().wait()

    with pytest.raises(SoakError, match="leaning was called off from within"):
        await soaked()
