"""A whole house for one mode: stage, captain and bridge as processes of their own on loopback. Source: LOOP-8."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Self, cast

import httpx

from clankie_cli import plan
from clankie_cli.introduction import introduced
from clankie_settings import secrets
from clankie_settings.clock import Clock
from clankie_settings.environment import launch_settings
from clankie_stage.client import StageClient
from clankie_stage.provider.client import ProviderClient
from evals.observed import Mode
from evals.processes import LOOK_EVERY, START_WITHIN, HouseError, Process, free_port, said

Json = dict[str, Any]

CAPTAIN: Final = ("-m", "clankie_captain")
ONE_SHOTS: Final = str(Path(__file__).with_name("one_shot_captain.py"))


class House:
    """Running processes of one mode, and the clients to look at them.

    Attributes:
        stage: The loopback Discord.
        provider: The loopback provider; None where a real model thinks.
    """

    def __init__(
        self, folder: Path, env: dict[str, str], mode: Mode, stage: StageClient, http: httpx.AsyncClient, clock: Clock
    ) -> None:
        self.stage = stage
        self.provider: ProviderClient | None = None
        self._folder = folder
        self._env = env
        self._mode = mode
        self._http = http
        self._clock = clock
        self._processes: dict[str, Process] = {}
        self._past: list[Process] = []
        self._state = Path(env["CLANKIE_STATE"])

    @classmethod
    @asynccontextmanager
    async def open(cls, env: Mapping[str, str], mode: Mode, folder: Path, clock: Clock) -> AsyncGenerator[Self]:
        """Everything running, with these settings of the owner's, until the block is left.

        Raises:
            HouseError: Something does not start.
            SettingsError: A setting is unusable.
        """
        async with AsyncExitStack() as ending:
            own = {**env, "CLANKIE_STATE": str(folder), "CLANKIE_STAGE_PORT": "0"}
            settings = launch_settings(own)
            plan.make_trial_folder(folder)
            planned = plan.stage(settings, own)
            stage = await Process.started("stage", ("-m", planned.module, *planned.arguments), planned.env, folder)
            ending.push_async_callback(stage.kill)
            url = (await said(stage, "stage listening on ", clock)).rpartition(" ")[2]
            captain = plan.on_stage(settings, own, await introduced(url))[0]
            served = f"http://127.0.0.1:{free_port()}"
            made = {**captain.env, **_fixed(mode), "CLANKIE_CAPTAIN_URL": served}
            made.pop("CLANKIE_CAPTAIN_BIND", None)
            client = await ending.enter_async_context(StageClient(url))
            http = await ending.enter_async_context(httpx.AsyncClient(base_url=served, trust_env=False, timeout=30))
            house = cls(plan.trial_folder(folder), made, mode, client, http, clock)
            house._processes["stage"] = stage
            if made.get("CLANKIE_MODEL") == "rehearsal" and made.get("CLANKIE_MODEL_BASE_URL", "").startswith(url):
                house.provider = await ending.enter_async_context(ProviderClient.connected(f"{url}/provider"))
            ending.push_async_callback(house._kill_all)
            await asyncio.gather(house.start_captain(), house._start_bridge())
            yield house

    @property
    def env(self) -> Mapping[str, str]:
        """What the captain is set to."""
        return self._env

    async def start_captain(self) -> None:
        """Start the captain of this mode, and wait until it takes deliveries."""
        own = ("-P", ONE_SHOTS) if self._mode == "one_shot" else CAPTAIN
        await self._start("captain", own)
        await self.until(self._is_ready, "the captain is ready", START_WITHIN)

    async def _start_bridge(self) -> None:
        await self._start("bridge", ("-m", "clankie_bridge"))
        await said(self._processes["bridge"], "gateway_ready", self._clock)

    async def restart_captain(self) -> None:
        """Kill the captain as a power cut would, and start it again."""
        captain = self._processes.pop("captain")
        await captain.kill()
        self._past.append(captain)
        await self.start_captain()

    async def until(self, holds: Callable[[], Awaitable[object]], what: str, within: timedelta) -> None:
        """Return once something holds.

        Raises:
            HouseError: A process ended, or time ran out, before.
        """
        deadline = self._clock.elapsed() + within
        while not await holds():
            if dead := [each for each in self._processes.values() if each.ended]:
                raise HouseError(f"the {dead[0].name} ended before {what}")
            if self._clock.elapsed() > deadline:
                raise HouseError(f"it did not come about in {within.total_seconds():.0f} s that {what}")
            await self._clock.sleep(LOOK_EVERY)

    async def wait(self, span: timedelta) -> None:
        """Let time pass, as people do."""
        await self._clock.sleep(span)

    def evidence(self, message: str) -> set[str]:
        """What the bridge wrote down about a message."""
        lines = _lines(self._state / "bridge" / "evidence.jsonl")
        return {line["event"] for line in lines if line.get("message_id") == message}

    def settled(self, room: str) -> list[Json]:
        """The lines of runs that settled in a room."""
        return [line for line in _lines(self._state / "turn-settled.jsonl") if f":{room}" in line["lane"]]

    def latencies(self) -> dict[str, int]:
        """Milliseconds from message to reply, by delivery, from the reply receipts that the captain logs."""
        found: dict[str, int] = {}
        for process in [*self._past, *self._processes.values()]:
            for line in process.lines:
                if process.name == "captain" and '"discord.text.reply"' in line:
                    told = json.loads(line)
                    found[told["delivery"]] = told["latency_ms"]
        return found

    async def result(self, message: str) -> Json:
        """What the captain says became of a message."""
        return (await self._get(f"/v1/turns/{message}", "captain-token")).json()

    async def tools(self, message: str) -> list[str]:
        """The tools that were called in the lane of a message."""
        found: list[str] = []
        listed: Json = (await self._get(f"/v1/lanes?delivery={message}", "operator-token")).json()
        for lane in listed["lanes"]:
            page = await self._get(f"/v1/lanes/{lane['id']}/entries", "operator-token")
            for line in page.text.splitlines():
                entry: Json = json.loads(line)
                parts = cast("list[Json]", entry["payload"].get("parts") or []) if entry["kind"] == "response" else []
                found += [part["tool_name"] for part in parts if part.get("part_kind") == "tool-call"]
        return found

    async def _get(self, path: str, token: str) -> httpx.Response:
        bearer = secrets.token(None, self._state, token).get_secret_value()
        answer = await self._http.get(path, headers={"Authorization": f"Bearer {bearer}"})
        if not answer.is_success:
            raise HouseError(f"the captain answers {answer.status_code}")
        return answer

    async def _start(self, name: str, arguments: tuple[str, ...]) -> None:
        self._processes[name] = await Process.started(name, arguments, self._env, self._folder)

    async def _is_ready(self) -> bool:
        try:
            return (await self._http.get("/readyz")).is_success
        except httpx.TransportError:
            return False

    async def _kill_all(self) -> None:
        for each in reversed(self._processes.values()):
            await each.kill()


def plain_environment(folder: Path) -> dict[str, str]:
    """The settings of a house on the scripted provider: nobody's own, so that its table is the same everywhere."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "CLANKIE_MODEL": "rehearsal"}


def _fixed(mode: Mode) -> dict[str, str]:
    """What every case relies on, whatever the owner has set."""
    return {
        "CLANKIE_NAMES": "Clankie",
        "CLANKIE_REPLY_POLICY": "addressed",
        "CLANKIE_ACTOR_MESSAGES": "100000",
        "CLANKIE_CATCH_UP_MINUTES": "0",
        **({"CLANKIE_ROOM_LOOP": "all"} if mode == "loop" else {}),
    }


def _lines(path: Path) -> list[Json]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines(keepends=True) if line.endswith("\n")]
