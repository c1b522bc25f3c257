"""The real bridge with real hikari in this process, between a loopback Discord and a loopback captain."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from clankie_bridge import app
from clankie_bridge.errors import CannotStart
from clankie_settings.clock import Clock
from clankie_settings.schema import BridgeSettings
from clankie_stage.app import Stage
from clankie_stage.discord.changes import Changes
from clankie_stage.discord.scenery import ANN_ID, BOB_ID, GUILD_ID, OWNER_ID
from tests.bridge.loopback_captain import TOKEN, LoopbackCaptain

PATIENCE_S = 60.0


class KeptLog:
    """A log that keeps what was said."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.changes = Changes()

    def info(self, event: str, **fields: Any) -> None:
        self._keep("info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        self._keep("warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        self._keep("error", event, fields)

    def _keep(self, level: str, event: str, fields: dict[str, Any]) -> None:
        self.lines.append({"level": level, "event": event, **fields})
        self.changes.announce()

    def of(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == event]

    async def until(self, event: str, count: int = 1) -> list[dict[str, Any]]:
        return await self.changes.until(lambda: found if len(found := self.of(event)) >= count else None, PATIENCE_S)


class RunningBridge:
    """One life of the bridge."""

    def __init__(self, settings: BridgeSettings, log: KeptLog, clock: Clock | None) -> None:
        self.settings = settings
        self.log = log
        self.stop = asyncio.Event()
        self.life = asyncio.create_task(app.run(settings, log, self.stop, clock))

    async def ended(self) -> None:
        self.stop.set()
        async with asyncio.timeout(PATIENCE_S):
            await self.life

    async def killed(self) -> None:
        self.life.cancel()
        with contextlib.suppress(asyncio.CancelledError, CannotStart):
            await self.life

    def records(self) -> list[dict[str, Any]]:
        path = self.settings.state / "bridge" / "evidence.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def evidence(self) -> list[tuple[str, str]]:
        return [(line["message_id"], line["event"]) for line in self.records()]

    def outcome(self, message_id: str) -> list[str]:
        return [event for subject, event in self.evidence() if subject == message_id]

    async def until_outcome(self, message_id: str, *events: str) -> None:
        """Wait until evidence tells this of a message; a bridge that ends waits for nobody's result."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while self.outcome(message_id) != [*events]:  # noqa: ASYNC110 -- a file announces nothing
                    await asyncio.sleep(0)
        except TimeoutError:
            assert self.outcome(message_id) == [*events]


StartBridge = Callable[..., Any]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with Stage.running() as running:
        yield running


@pytest.fixture
async def captain() -> AsyncIterator[LoopbackCaptain]:
    async with LoopbackCaptain().running() as running:
        yield running


@pytest.fixture
async def start(
    stage: Stage, captain: LoopbackCaptain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[StartBridge]:
    """Starts a bridge and waits until it is connected."""
    # A machine that is slow is no Discord and no captain that does not answer.
    for window in ("desk.ingress._PARENT_S", "discord.history._PATIENCE_S", "captain.connection._CONNECT_S"):
        monkeypatch.setattr(f"clankie_bridge.{window}", PATIENCE_S)
    async with AsyncExitStack() as ending:

        async def started(*, connected: bool = True, clock: Clock | None = None, **changed: Any) -> RunningBridge:
            values: dict[str, Any] = {
                "state": tmp_path,
                "discord_attachment_root": tmp_path / "attachments",
                "captain_url": captain.url,
                "captain_token": SecretStr(TOKEN),
                "discord_bot_token": SecretStr(stage.token),
                "discord_rest_url": stage.rest_url,
                "discord_guilds": (GUILD_ID,),
                "discord_dm_policy": "allowlist",
                "discord_users": (),
                "owner_id": OWNER_ID,
            }
            bridge = RunningBridge(BridgeSettings(**(values | changed)), KeptLog(), clock)
            ending.push_async_callback(bridge.killed)
            if connected:
                await bridge.log.until("gateway_ready")
            return bridge

        yield started


__all__ = ["ANN_ID", "BOB_ID", "GUILD_ID"]
