"""The real captain, served over HTTP on loopback; only its model loop is a fake, at the port."""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx
import uvicorn
from fastapi import FastAPI
from pydantic import SecretStr

from clankie_captain import app as composition
from clankie_captain.core.compaction import Digest
from clankie_captain.core.run import Answered, Broken, Draft, Finish, Order
from clankie_captain.ports import Loop, RunLine, Vitals
from clankie_settings.schema import CaptainSettings, PresenceSettings
from clankie_stage.discord.changes import Changes

CAPTAIN_TOKEN = "the-token-of-discord"
SECOND_TOKEN = "the-token-of-a-second-presence"
OPERATOR_TOKEN = "the-token-of-the-operator"
PATIENCE_S = 60.0

Script = Callable[[Order, RunLine], Awaitable[Finish]]


class ToldLoop(Loop):
    """Hears its order and whatever was steered, waits while it is held, and then does what a test told it to."""

    def __init__(self) -> None:
        self.orders: list[Order] = []
        self.changes = Changes()
        self.free = asyncio.Event()
        self.free.set()
        self.script: Script = answers("an answer")

    async def think(self, order: Order, line: RunLine) -> Finish:
        self.orders.append(order)
        self.changes.announce()
        await line.boundary()
        await line.record([Draft("request", "{}")])
        await self.free.wait()
        return await self.script(order, line)

    @property
    def window(self) -> int | None:
        return None

    @property
    def searcher(self) -> None:
        return None

    async def put_together(self, digest: Digest, vitals: Vitals) -> str | Broken:
        raise AssertionError("nothing here is long enough for notes")

    async def aclose(self) -> None:
        """Nothing to close."""

    async def until_asked(self, times: int = 1) -> None:
        await self.changes.until(lambda: len(self.orders) >= times or None, PATIENCE_S)


def answers(text: str | None) -> Script:
    async def script(_order: Order, line: RunLine) -> Finish:
        await line.record([Draft("response", "{}")])
        return Answered(text)

    return script


def settings(state: Path, **changed: Any) -> CaptainSettings:
    values: dict[str, Any] = {
        "state": state,
        "discord_attachment_root": state / "attachments",
        "captain_token": SecretStr(CAPTAIN_TOKEN),
        "operator_token": SecretStr(OPERATOR_TOKEN),
        "images": "off",
        "presences": {"second": PresenceSettings(token=SecretStr(SECOND_TOKEN))},
    }
    return CaptainSettings(**{**values, **changed})


class _Server(uvicorn.Server):
    """Says when it serves, and leaves the signals of the test process alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.serving = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.serving.set()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@dataclass
class RunningCaptain:
    """One life of a captain on a state folder."""

    state: Path
    app: FastAPI
    loop: ToldLoop
    address: str
    client: httpx.AsyncClient
    _server: _Server
    _life: "asyncio.Task[None]" = field(repr=False)

    @classmethod
    async def start(cls, state: Path, **changed: Any) -> Self:
        loop = ToldLoop()
        app = composition.build(settings(state, **changed), make_loop=lambda _settings, _clock: loop)
        listener = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="on", ws="none", timeout_graceful_shutdown=5
        )
        server = _Server(config)
        life = asyncio.create_task(server.serve(sockets=[listener]))
        ready = asyncio.create_task(server.serving.wait())
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.wait({life, ready}, return_when=asyncio.FIRST_COMPLETED)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        return cls(state, app, loop, address, caller(address), server, life)

    async def stop(self) -> None:
        """As at a SIGTERM: whoever waits is let go, runs are left to the next captain."""
        composition.drain(self.app)
        self._server.should_exit = True
        async with asyncio.timeout(PATIENCE_S):
            await self._life
        await self.client.aclose()

    async def until_held(self, calls: int) -> None:
        """Until so many calls are in the captain's hands and none of them is answered."""
        async with asyncio.timeout(PATIENCE_S):
            while len(self._server.server_state.tasks) < calls:
                await self.client.get("/healthz")
                await asyncio.sleep(0)

    async def restarted(self) -> "RunningCaptain":
        await self.stop()
        return await RunningCaptain.start(self.state)

    async def post(self, document: object, *, wait: object = None, **headers: str) -> httpx.Response:
        prefer = {} if wait is None else {"Prefer": f"wait={wait}"}
        return await self.client.post("/v1/turns", json=document, headers={**prefer, **headers})


def caller(address: str, token: str | None = CAPTAIN_TOKEN) -> httpx.AsyncClient:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=address, headers=headers, timeout=PATIENCE_S, trust_env=False)


@dataclass(frozen=True)
class Event:
    """One event of the stream; a comment has neither name nor number."""

    name: str | None = None
    id: str | None = None
    data: str | None = None
    comment: str | None = None


@asynccontextmanager
async def actions(
    captain: RunningCaptain, after: object = None, presence: str = "discord"
) -> AsyncGenerator[AsyncIterator[Event]]:
    """The stream of a presence's actions, once the captain has said that it is open."""
    async with stream(captain.client, f"/v1/presences/{presence}/actions", after) as events:
        yield events


@asynccontextmanager
async def stream(client: httpx.AsyncClient, path: str, after: object = None) -> AsyncGenerator[AsyncIterator[Event]]:
    """The events of a stream, once the captain has said that it is open."""
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    async with client.stream("GET", path, headers=headers) as response:
        assert response.status_code == 200
        events = _events(response)
        assert (await anext(events)).comment is not None
        yield events


async def _events(response: httpx.Response) -> AsyncIterator[Event]:
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        if line.startswith(":"):
            fields["comment"] = line[1:].strip()
        elif line:
            name, _, value = line.partition(":")
            fields[{"event": "name"}.get(name, name)] = value.strip()
        elif fields:
            yield Event(**fields)
            fields = {}
