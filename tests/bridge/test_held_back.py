"""C49: a bridge that asks Discord nothing is not well, and says until when and what to do."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from clankie_bridge.app import life
from clankie_bridge.core import breaker
from clankie_cli import pulse, status
from clankie_settings.clock import SystemClock
from clankie_stage.app import Stage
from tests.bridge.conftest import PATIENCE_S, RunningBridge, StartBridge
from tests.bridge.loopback_captain import LoopbackCaptain, echo

POST = "/channels/*/messages"


class LeapingClock(SystemClock):
    """Leaps ahead where a test lets it."""

    ahead = timedelta()

    def elapsed(self) -> timedelta:
        return super().elapsed() + self.ahead


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110 -- a file announces nothing
            await asyncio.sleep(0)


async def test_a_bridge_that_discord_holds_back_is_not_alive_until_it_may_ask_again(
    stage: Stage,
    captain: LoopbackCaptain,
    start: StartBridge,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for every in ("_ALIVE_EVERY", "_LIFE_SOUGHT_EVERY"):
        monkeypatch.setattr(life, every, timedelta(milliseconds=20))
    captain.think, clock = echo, LeapingClock()
    bridge: RunningBridge = await start(clock=clock)
    place = str(bridge.settings.state / "bridge" / "alive")

    def told() -> str | None:
        return status.held_back(bridge.settings.state, datetime.now(UTC))

    await until(lambda: pulse.main([place]) == 0)
    assert told() is None
    monkeypatch.setattr(breaker, "REFUSALS", 1)
    stage.control.fault(method="POST", route=POST, status=403, body={"code": 50013, "message": "x"})
    said = stage.control.say("Ann", "Clankie, hello")["id"]
    await until(lambda: told() is not None)
    assert pulse.main([place]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line == f"the bridge is {told()}"
    assert "until" in line
    assert "DISCORD_BOT_TOKEN" in line
    clock.ahead = breaker.HELD_FOR
    await until(lambda: pulse.main([place]) == 0)
    assert told() is None
    await captain.until_receipts(said)


async def test_a_bridge_that_ends_while_it_is_held_back_leaves_no_word_of_it(
    stage: Stage, captain: LoopbackCaptain, start: StartBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    del captain
    monkeypatch.setattr(life, "_LIFE_SOUGHT_EVERY", timedelta(milliseconds=20))
    monkeypatch.setattr(breaker, "REFUSALS", 1)
    stage.control.fault(method="GET", route="/applications/@me", status=403, body={"code": 0, "message": "x"})
    bridge: RunningBridge = await start(connected=False)
    await until(lambda: status.held_back(bridge.settings.state, datetime.now(UTC)) is not None)
    await bridge.killed()
    assert status.held_back(bridge.settings.state, datetime.now(UTC)) is None
