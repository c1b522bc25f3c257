"""Everything as it runs at home: stage, captain and bridge as real processes on loopback ports."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx

from clankie_settings import secrets
from clankie_stage.client import StageClient
from clankie_stage.discord.scenery import GUILD_ID, OWNER_ID
from clankie_stage.provider.client import ProviderClient
from tests.ports import free_port
from tests.system.program import PATIENCE_S, Program

Found = TypeVar("Found")
Json = dict[str, Any]

LOOK_EVERY_S = 0.02
"""A look at a file every so often, as long as every process lives."""

NOBODY_PINGED: Json = {"parse": [], "replied_user": False}
"""The only ``allowed_mentions`` that Clankie ever sends. Source: ROOM-6."""

CAPTAIN = ("-m", "clankie_captain")
BRIDGE = ("-m", "clankie_bridge")

PATIENT = (str(Path(__file__).with_name("patient_captain.py")),)
"""A captain for whose pictures no machine is too slow."""


def plain_environment(folder: Path) -> dict[str, str]:
    """What a person's shell has, with a home of its own."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder)}


@dataclass(slots=True)
class House:
    """Running processes, a client for each of them, and the state folder that captain and bridge share."""

    folder: Path
    state: Path
    env: dict[str, str]
    stage: StageClient
    provider: ProviderClient
    captain: httpx.AsyncClient
    captain_program: Sequence[str] = CAPTAIN
    bridge_program: Sequence[str] = BRIDGE
    programs: dict[str, Program] = field(default_factory=dict[str, Program])
    past: list[Program] = field(default_factory=list[Program])

    @property
    def output(self) -> dict[str, str]:
        """What each process wrote last."""
        return {program.name: program.tail for program in [*self.past, *self.programs.values()]}

    async def start_captain(self) -> None:
        """Start the captain, and wait until it takes deliveries."""
        await self._start("captain", self.captain_program)
        await self.until_async(self._is_ready, "the captain is ready")

    async def start_bridge(self) -> None:
        """Start the bridge, and wait until it is connected."""
        program = await self._start("bridge", self.bridge_program)
        await program.said("gateway_ready")

    async def died(self, name: str) -> int:
        """Wait until a process has ended by itself; its exit code, negative for a signal."""
        program = self.programs.pop(name)
        self.past.append(program)
        return await program.exit_code()

    async def kill(self, name: str) -> None:
        """Kill a process as a power cut would."""
        program = self.programs.pop(name)
        self.past.append(program)
        await program.kill()

    async def stop(self, name: str) -> int:
        """Stop a process in good order; its exit code."""
        program = self.programs.pop(name)
        self.past.append(program)
        return await program.stop()

    async def until(self, look: Callable[[], Found | None], what: str) -> Found:
        """What a look at a file finds, once it finds something.

        Raises:
            AssertionError: A process ended, or time ran out, before.
        """

        async def looked() -> Found | None:
            return look()

        return await self.until_async(looked, what)

    async def until_async(self, look: Callable[[], Any], what: str) -> Any:
        """The same for a look that takes time itself."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + PATIENCE_S
        while not (found := await look()):
            if loop.time() > deadline:
                raise AssertionError(f"it did not come about that {what}")
            lives = [program.ended for program in self.programs.values()]
            dead, _ = await asyncio.wait(lives, timeout=LOOK_EVERY_S)
            for each in dead:
                raise AssertionError(f"{each.get_name()} ended with {each.result()} before {what}")
        return found

    def evidence(self) -> list[Json]:
        """What the bridge wrote down, oldest first."""
        return _lines(self.state / "bridge" / "evidence.jsonl")

    def settled(self) -> list[Json]:
        """A line for each settled run, oldest first."""
        return _lines(self.state / "turn-settled.jsonl")

    def token(self, name: str = "captain-token") -> str:
        """A token that was made in the state folder."""
        return secrets.token(None, self.state, name).get_secret_value()

    async def result(self, delivery_id: str, token: str | None = None, wait_s: int = 20) -> Json:
        """What the captain says of a delivery, waited for as a presence waits: again after a lost connection."""

        async def ask() -> Json | None:
            headers = {"Authorization": f"Bearer {token or self.token()}", "Prefer": f"wait={wait_s}"}
            try:
                answer = await self.captain.get(f"/v1/turns/{delivery_id}", headers=headers, timeout=wait_s + 10)
            except httpx.TransportError:
                return None
            assert answer.status_code in (200, 202), answer.text
            return answer.json()

        return await self.until_async(ask, f"the captain answers for {delivery_id}")

    async def check_pings(self) -> None:
        """Nothing that was ever sent to a room may ping anybody. Source: ROOM-6."""
        sent = await self.stage.recorded({"kind": "rest", "path": "/channels/*/messages*"})
        # An order to fail strikes before the body is read.
        bodies: list[Json] = [each["what"]["body"] for each in sent if each["what"].get("body")]
        assert [body for body in bodies if body.get("allowed_mentions") != NOBODY_PINGED] == []

    async def _start(self, name: str, arguments: Sequence[str]) -> Program:
        program = await Program.started(name, arguments, self.env, self.folder)
        self.programs[name] = program
        return program

    async def _is_ready(self) -> bool:
        try:
            return (await self.captain.get("/readyz")).is_success
        except httpx.TransportError:
            return False


@asynccontextmanager
async def bare_house(
    folder: Path, captain_program: Sequence[str] = CAPTAIN, toml: str = "", **settings: str
) -> AsyncGenerator[House]:
    """A house in which only the stage runs yet; however the test ends, every process ends with it."""
    (folder / "clankie.toml").write_text(toml, encoding="utf-8")
    async with AsyncExitStack() as ending:
        plain = plain_environment(folder)
        stage = await Program.started("stage", ["-m", "clankie_stage", "--port", "0"], plain, folder)
        ending.push_async_callback(stage.kill)
        url = (await stage.said("stage listening on ")).rpartition(" ")[2]
        captain_url = f"http://127.0.0.1:{free_port()}"
        client = await ending.enter_async_context(StageClient(url))
        env = plain | {
            "CLANKIE_STATE": str(folder / "state"),
            "CLANKIE_CAPTAIN_URL": captain_url,
            "CLANKIE_MODEL": "rehearsal",
            "CLANKIE_MODEL_BASE_URL": f"{url}/provider/v1",
            "DISCORD_BOT_TOKEN": (await client.call("describe"))["token"],
            "CLANKIE_DISCORD_REST_URL": f"{url}/api/v10",
            "CLANKIE_CDN_LOOPBACK": f"{url}/cdn",
            "CLANKIE_DISCORD_GUILDS": GUILD_ID,
            "CLANKIE_DISCORD_DM_POLICY": "allowlist",
            "CLANKIE_OWNER_ID": OWNER_ID,
            "CLANKIE_ACTOR_MESSAGES": "1000",
        }
        provider = await ending.enter_async_context(ProviderClient.connected(f"{url}/provider"))
        captain = await ending.enter_async_context(
            httpx.AsyncClient(base_url=captain_url, trust_env=False, timeout=PATIENCE_S)
        )
        house = House(folder, folder / "state", env | settings, client, provider, captain, captain_program)
        house.programs["stage"] = stage
        ending.push_async_callback(_kill_all, house)
        yield house


@asynccontextmanager
async def whole_house(
    folder: Path, captain_program: Sequence[str] = CAPTAIN, toml: str = "", **settings: str
) -> AsyncGenerator[House]:
    """A house in which everything runs; at its end nothing may have pinged anybody. Source: ROOM-6."""
    async with bare_house(folder, captain_program, toml, **settings) as house:
        await asyncio.gather(house.start_captain(), house.start_bridge())
        yield house
        await house.check_pings()


async def _kill_all(house: House) -> None:
    for program in house.programs.values():
        await program.kill()


def _lines(path: Path) -> list[Json]:
    if not path.exists():
        return []
    # The last line may be half written.
    return [json.loads(line) for line in path.read_text("utf-8").splitlines(keepends=True) if line.endswith("\n")]
