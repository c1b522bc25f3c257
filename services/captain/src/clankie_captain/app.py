"""The composition root: the only place that constructs the captain's parts."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Final

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
from clankie_captain.core import stall
from clankie_captain.core.allowance import Allowance
from clankie_captain.core.children import FORK
from clankie_captain.core.compaction import Ceilings
from clankie_captain.core.grants import ALWAYS
from clankie_captain.core.placement import Placing, placed
from clankie_captain.core.settlement import Settled
from clankie_captain.core.turns import LiveRun
from clankie_captain.errors import ConfigurationError
from clankie_captain.lanes.children import Children
from clankie_captain.lanes.commands import Commands
from clankie_captain.lanes.compactor import Compactor, CompactorParts
from clankie_captain.lanes.conversations import OPERATOR_ACTOR, Conversations
from clankie_captain.lanes.desk import Desk
from clankie_captain.lanes.draining import Draining
from clankie_captain.lanes.gallery import Gallery
from clankie_captain.lanes.grants import Grants
from clankie_captain.lanes.line import LineParts
from clankie_captain.lanes.recovery import recover
from clankie_captain.lanes.registry import Registry
from clankie_captain.lanes.rulebook import (
    Rulebook,
    Source,
    loops,
    powers,
    refuse_unknown_tools,
)
from clankie_captain.lanes.runner import Runner, RunnerParts
from clankie_captain.lanes.signals import Signals
from clankie_captain.lanes.turn_log import TurnFile, TurnLogs
from clankie_captain.lanes.voices import Voices
from clankie_captain.lanes.waiters import Waiters
from clankie_captain.machine.furnishing import fitted, tried
from clankie_captain.mcp.fleet import Fleet
from clankie_captain.media.decoding import WorkerDecoder
from clankie_captain.media.fetch import PictureFetch
from clankie_captain.media.film_program import film_program
from clankie_captain.media.furnishing import command_passage, furnished
from clankie_captain.media.guard import GuardedTransport, Resolve, SystemResolver
from clankie_captain.media.passage import Passage
from clankie_captain.media.resolver import BlindResolver, StoringResolver
from clankie_captain.media.shelf import Shelf
from clankie_captain.media.web import equipped
from clankie_captain.metrics import Metrics
from clankie_captain.ports import Hands, Loop, Resolver
from clankie_captain.store.actions import ActionStore
from clankie_captain.store.album import Album
from clankie_captain.store.archive.restoring import refuse_half_restored
from clankie_captain.store.arrivals import Terms
from clankie_captain.store.backup import Backups
from clankie_captain.store.calls import CallStore
from clankie_captain.store.changes import ChangeStore
from clankie_captain.store.children import ChildStore
from clankie_captain.store.compactions import CompactionStore
from clankie_captain.store.control import ControlStore
from clankie_captain.store.deliveries import DeliveryStore
from clankie_captain.store.engine import Database, StateLock
from clankie_captain.store.events import EventStore
from clankie_captain.store.forgetting import Forgetting
from clankie_captain.store.keeping import Keeping
from clankie_captain.store.lanes import LaneStore
from clankie_captain.store.leases import LeaseStore
from clankie_captain.store.pictures import PictureStore
from clankie_captain.store.presences import PresenceStore
from clankie_captain.store.retention import Retention
from clankie_captain.store.retention import Terms as Keep
from clankie_captain.store.rooms import RoomLeaseStore
from clankie_captain.store.runs import RunStore
from clankie_captain.store.transcripts import TranscriptStore
from clankie_captain.store.upkeep import Upkeep
from clankie_settings import secrets
from clankie_settings.clock import Clock, Ids, RandomIds, SystemClock
from clankie_settings.crashing import Crash, NoCrash
from clankie_settings.ids import PresenceId
from clankie_settings.schema import CaptainSettings
from clankie_settings.servers import Server
from clankie_settings.wire.receipt import ActionReceipt

DISCORD: Final = PresenceId("discord")
"""The presence whose token is ``CLANKIE_CAPTAIN_TOKEN``."""

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
    keys, database, persona = _keys(settings), _database_url(settings), _persona(settings.persona_file)
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
                ground = _Ground(settings, store, loop, persona, time, fresh, points, source, tuple(servers), placing)
                await _at_work(app, ground, keys, servers, stack)
            except Exception as error:
                app.state.refusal = error
                raise
            yield
            drain(app)

    app = FastAPI(title="Clankie captain", version=version("clankie-captain"), lifespan=lifespan, docs_url=None)
    return _furnished(app)


async def _at_work(
    app: FastAPI, ground: "_Ground", keys: Keys, servers: Mapping[str, Server], stack: AsyncExitStack
) -> None:
    settings, time, fresh, metrics = ground.settings, ground.clock, ground.ids, Metrics()
    # Two for all: what a page or a command asks for in crowds holds up none of the captain's own fetching.
    resolve, others = SystemResolver().resolve, SystemResolver().resolve
    gallery = _gallery(ground, metrics, resolve, stack)
    workshop = furnished(settings, lambda: Passage(others))
    stack.push_async_callback(workshop.aclose)
    web = equipped(settings, ground.loop.searcher, GuardedTransport(resolve=resolve))
    stack.push_async_callback(web.aclose)
    machine = fitted(settings, time, fresh, lambda: command_passage(others))
    fleet = Fleet.of(servers, settings, time, fresh, metrics)
    hands = Hands(workshop, machine, web=web, servers=fleet)
    captain, runs = _captain(ground, keys, metrics, gallery, hands)
    app.state.draining = draining = _draining(captain, runs, settings)
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


@dataclass(frozen=True, slots=True)
class _Ground:
    """What the captain stands on; what decides grants is read again from ``source`` where there is one.

    ``servers`` are the names of those whose tools may be granted.
    """

    settings: CaptainSettings
    store: Database
    loop: Loop
    persona: str | None
    clock: Clock
    ids: Ids
    crash: Crash
    source: Source | None
    servers: tuple[str, ...]
    placing: Placing

    @property
    def ceilings(self) -> Ceilings:
        """How much a lane's requests may hold."""
        rooms = {key: room.context_cap for key, room in self.settings.rooms.items() if room.context_cap is not None}
        return Ceilings(self.settings.model_window or self.loop.window, rooms)

    @property
    def terms(self) -> Terms:
        """On what terms deliveries are admitted."""
        exempt = (self.settings.owner_id, OPERATOR_ACTOR)
        allowance = Allowance(
            messages=self.settings.actor_messages,
            room_tokens=self.settings.room_tokens_a_day,
            tokens=self.settings.tokens_a_day,
            exempt=frozenset(each for each in exempt if each is not None),
        )
        return Terms(allowance, self.settings.names)


def _gallery(ground: _Ground, metrics: Metrics, resolve: Resolve, stack: AsyncExitStack) -> Gallery:
    settings, shelf = ground.settings, Shelf(ground.settings.discord_attachment_root)
    if settings.images == "on":
        fetch = PictureFetch.over(settings.cdn_loopback, resolve)
        stack.push_async_callback(fetch.aclose)
        resolver: Resolver = StoringResolver(fetch, WorkerDecoder(film_program()), shelf)
    else:
        resolver = BlindResolver()
    gallery = Gallery(resolver, shelf, PictureStore(ground.store), metrics, ground.clock)
    stack.push_async_callback(gallery.stop)
    return gallery


def _captain(ground: _Ground, keys: Keys, metrics: Metrics, gallery: Gallery, hands: Hands) -> tuple[Captain, RunStore]:
    store, clock, ids = ground.store, ground.clock, ground.ids
    lanes, runs, deliveries = LaneStore(store, ground.terms), RunStore(store, ground.crash), DeliveryStore(store)
    held, signals, receipts = ActionStore(store), Signals(), Waiters[ActionReceipt]()
    settlements = Waiters[Settled]()
    rulebook = Rulebook(powers(ground.settings), ground.source, tuple(TOOLS), ground.servers)
    shown = [tool for tool in TOOLS if tool in {*ALWAYS, FORK, *hands.tools}]
    grants = Grants(lanes, rulebook.powers, shown, loops(ground.settings), ground.placing)
    calls, nursery, changes, crash = CallStore(store), ChildStore(store), ChangeStore(store), ground.crash
    line = LineParts(lanes, held, signals, receipts, clock, ids, calls, gallery, grants, hands, nursery, crash)
    registry = _registry(ground, runs, line, settlements, metrics)
    desk = Desk(lanes, deliveries, changes, registry, settlements, signals, grants, clock, ids, gallery, crash)
    captain = Captain(
        keys=keys,
        desk=desk,
        commands=Commands(ControlStore(store), registry, grants, ground.settings.owner_id, clock),
        conversations=Conversations(desk, clock, ids),
        children=Children(nursery, registry, settlements, signals, clock),
        events=EventStore(store),
        metrics=metrics,
        transcripts=TranscriptStore(store),
        deliveries=deliveries,
        presences=PresenceStore(store),
        leases=LeaseStore(store),
        voices=Voices(RoomLeaseStore(store), signals, clock),
        actions=held,
        registry=registry,
        signals=signals,
        settlements=settlements,
        receipts=receipts,
        keeping=_keeping(ground),
        clock=clock,
        crash=crash,
        started_at=clock.now(),
        version=version("clankie-captain"),
    )
    return captain, runs


def _draining(captain: Captain, runs: RunStore, settings: CaptainSettings) -> Draining:
    return Draining(
        captain.desk,
        captain.registry,
        captain.deliveries,
        runs,
        captain.settlements,
        captain.receipts,
        captain.signals,
        settings.drain_within,
        captain.clock,
    )


def _registry(
    ground: _Ground, runs: RunStore, line: LineParts, settlements: Waiters[Settled], metrics: Metrics
) -> Registry:
    parts = RunnerParts(
        runs=runs,
        line=line,
        loop=ground.loop,
        turn_log=TurnLogs(metrics, TurnFile(ground.settings.state / "turn-settled.jsonl")),
        limits=stall.limits(ground.settings.stall_after),
        persona=ground.persona,
        ceilings=ground.ceilings,
    )
    compactor = CompactorParts(
        lanes=line.lanes,
        compactions=CompactionStore(ground.store),
        loop=ground.loop,
        log=metrics,
        signals=line.signals,
        limits=parts.limits,
        clock=line.clock,
        ids=line.ids,
    )

    def make(live: LiveRun) -> Runner | Compactor:
        return Runner(parts, live, registry.start) if live.kind == "turn" else Compactor(compactor, live)

    registry = Registry(make, settlements, ground.settings.live_runs)
    return registry


def _keeping(ground: _Ground) -> Keeping:
    settings, store, upkeep = ground.settings, ground.store, Upkeep(ground.store)
    album, keep = Album(store, settings.discord_attachment_root), Keep(settings.keep_days, settings.keep_picture_days)
    return Keeping(
        Backups(upkeep, settings.state, settings.discord_attachment_root),
        Forgetting(store, upkeep, album),
        Retention(store, upkeep, album, keep, ground.clock),
    )


def _keys(settings: CaptainSettings) -> Keys:
    discord = secrets.token(settings.captain_token, settings.state, "captain-token").get_secret_value()
    operator = secrets.token(settings.operator_token, settings.state, "operator-token").get_secret_value()
    own = {PresenceId(name): each.token.get_secret_value() for name, each in settings.presences.items()}
    if DISCORD in own:
        raise ConfigurationError("presences.discord: its token is CLANKIE_CAPTAIN_TOKEN; remove the table")
    presences = {DISCORD: discord, **own}
    if len({*presences.values(), operator}) != len(presences) + 1:
        raise ConfigurationError("two tokens are alike; give each presence and the operator one of their own")
    return Keys(presences, operator)


def _database_url(settings: CaptainSettings) -> str:
    url = settings.database_url or f"sqlite+aiosqlite:///{settings.state / 'captain.db'}"
    if not url.startswith("sqlite+aiosqlite:"):
        raise ConfigurationError("CLANKIE_DATABASE_URL: this version keeps its lanes in SQLite; unset the variable")
    return url


def _persona(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return path.expanduser().read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError("CLANKIE_PERSONA_FILE: the file cannot be read as UTF-8 text") from error
