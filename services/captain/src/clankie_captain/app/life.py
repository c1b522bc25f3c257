"""One life of the captain: open the store, join the parts, recover, serve, leave."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from types import MappingProxyType

from fastapi import FastAPI

from clankie_captain.agent.model import build_loop
from clankie_captain.agent.tools import TOOLS
from clankie_captain.api import (
    actions,
    children,
    conversations,
    health,
    keeping,
    lanes,
    leases,
    openapi,
    problems,
    turns,
)
from clankie_captain.api.auth import Keys
from clankie_captain.api.context import Captain
from clankie_captain.api.header import WireHeader
from clankie_captain.app.assembly import Ground, captain_of, draining_of, gallery_of
from clankie_captain.app.policies import database_url, keys, persona
from clankie_captain.core.placement import Placing, placed
from clankie_captain.lanes.draining import Draining
from clankie_captain.lanes.recovery import recover
from clankie_captain.lanes.rulebook import Source, refuse_unknown_tools
from clankie_captain.machine.furnishing import fitted, tried
from clankie_captain.mcp.fleet import Fleet
from clankie_captain.media.furnishing import command_passage, furnished
from clankie_captain.media.guard import GuardedTransport, SystemResolver
from clankie_captain.media.passage import Passage
from clankie_captain.media.web import equipped
from clankie_captain.metrics import Metrics
from clankie_captain.ports import Hands, Loop
from clankie_captain.store.archive.restoring import refuse_half_restored
from clankie_captain.store.engine import Database, StateLock
from clankie_settings import bounds
from clankie_settings.clock import Clock, Ids, RandomIds, SystemClock
from clankie_settings.crashing import Crash, NoCrash
from clankie_settings.schema import CaptainSettings
from clankie_settings.servers import Server

MakeLoop = Callable[[CaptainSettings, Clock], Loop]
"""What builds the loop; tests hand in one of their own."""


def build(
    settings: CaptainSettings,
    make_loop: MakeLoop = build_loop,
    clock: Clock | None = None,
    ids: Ids | None = None,
    crash: Crash | None = None,
    source: Source | None = None,
    servers: Mapping[str, Server] = MappingProxyType({}),
    placing: Placing = placed,
) -> FastAPI:
    """The captain as an application; its parts live for as long as its lifespan.

    Raises:
        ConfigurationError: A setting names something that this captain cannot do.
        TokenFileError: The state folder can neither hold nor give the tokens.
    """
    tokens, database, text = keys(settings), database_url(settings), persona(settings.persona_file)
    refuse_unknown_tools(settings, tuple(TOOLS), tuple(servers))
    time, fresh, points = clock or SystemClock(), ids or RandomIds(), crash or NoCrash()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            try:
                # Before the store opens, so that a wrong model never leaves a half-started captain.
                loop = make_loop(settings, time)
                stack.push_async_callback(loop.aclose)
                store = await _store(settings, database, stack)
                ground = Ground(settings, store, loop, text, time, fresh, points, source, tuple(servers), placing)
                await _at_work(app, ground, tokens, servers, stack)
            except Exception as error:
                app.state.refusal = error
                raise
            yield
            drain(app)

    app = FastAPI(
        title="Clankie captain",
        version=version("clankie-captain"),
        lifespan=lifespan,
        docs_url=None,
        redirect_slashes=False,
    )
    return _furnished(app)


async def _at_work(
    app: FastAPI, ground: Ground, tokens: Keys, servers: Mapping[str, Server], stack: AsyncExitStack
) -> None:
    settings, time, fresh, metrics = ground.settings, ground.clock, ground.ids, Metrics()
    # Two for all: what a page or a command asks for in crowds holds up none of the captain's own fetching.
    resolve, others = SystemResolver().resolve, SystemResolver().resolve
    gallery = gallery_of(ground, metrics, resolve, stack)
    workshop = furnished(settings, lambda: Passage(others))
    stack.push_async_callback(workshop.aclose)
    web = equipped(settings, ground.loop.searcher, GuardedTransport(resolve=resolve))
    stack.push_async_callback(web.aclose)
    machine = fitted(settings, time, fresh, lambda: command_passage(others))
    fleet = Fleet.of(servers, settings, time, fresh, metrics)
    hands = Hands(workshop, machine, servers=fleet, web=web, within=settings.stall_after * bounds.TOOL_END)
    captain, runs = captain_of(ground, tokens, metrics, gallery, hands)
    app.state.draining = draining = draining_of(captain, runs, settings)
    stack.push_async_callback(draining.leave)
    app.state.captain = captain
    await gallery.recover()
    await recover(runs, captain.registry, time, fresh)
    await tried(machine, settings)
    await _keep_tidy(captain, fleet, stack)


async def _keep_tidy(captain: Captain, fleet: Fleet, stack: AsyncExitStack) -> None:
    background = await stack.enter_async_context(asyncio.TaskGroup())
    for work in (captain.keeping.retention.run(), captain.voices.run(), fleet.run()):
        stack.callback(background.create_task(work).cancel)


async def _store(settings: CaptainSettings, url: str, stack: AsyncExitStack) -> Database:
    refuse_half_restored(settings.state)
    store = await Database.open(url, StateLock(settings.state / "captain.lock"))
    stack.push_async_callback(store.close)
    return store


def _furnished(app: FastAPI) -> FastAPI:
    app.add_middleware(WireHeader)
    for resource in (turns, actions, leases, conversations, children, lanes, keeping, health):
        app.include_router(resource.router)
    problems.install(app)
    openapi.install(app)
    return app


def close_door(app: FastAPI) -> None:
    """Take nothing new from now on. Source: DUR-5."""
    draining: Draining | None = getattr(app.state, "draining", None)
    if draining is not None:
        draining.begin()


async def drained(app: FastAPI) -> None:
    """Give what runs its time, then let all who wait go, so that the server can stop. Source: DUR-5."""
    draining: Draining | None = getattr(app.state, "draining", None)
    if draining is not None:
        await draining.finish()
        draining.let_go()


def drain(app: FastAPI) -> None:
    """Take nothing new and let all who wait go at once."""
    draining: Draining | None = getattr(app.state, "draining", None)
    if draining is not None:
        draining.let_go()


def refusal(app: FastAPI) -> Exception | None:
    """Why the captain did not start: a ``CaptainError`` is one of its own reasons, anything else a fault."""
    return getattr(app.state, "refusal", None)
