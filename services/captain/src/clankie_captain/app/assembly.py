"""Joins the captain's parts."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.metadata import version

from clankie_captain.agent.tools import TOOLS
from clankie_captain.api.auth import Keys
from clankie_captain.api.context import Captain
from clankie_captain.core import stall
from clankie_captain.core.allowance import Allowance
from clankie_captain.core.children import FORK
from clankie_captain.core.compaction import Ceilings
from clankie_captain.core.grants import ALWAYS
from clankie_captain.core.placement import Placing
from clankie_captain.core.settlement import Settled
from clankie_captain.core.turns import LiveRun
from clankie_captain.lanes.children import Children
from clankie_captain.lanes.commands import Commands
from clankie_captain.lanes.compactor import Compactor, CompactorParts
from clankie_captain.lanes.conversations import OPERATOR_ACTOR, Conversations
from clankie_captain.lanes.desk import Desk
from clankie_captain.lanes.draining import Draining
from clankie_captain.lanes.gallery import Gallery
from clankie_captain.lanes.grants import Grants
from clankie_captain.lanes.line import LineParts
from clankie_captain.lanes.registry import Registry
from clankie_captain.lanes.rulebook import (
    Rulebook,
    Source,
    loops,
    powers,
)
from clankie_captain.lanes.runner import Runner, RunnerParts
from clankie_captain.lanes.signals import Signals
from clankie_captain.lanes.turn_log import TurnFile, TurnLogs
from clankie_captain.lanes.voices import Voices
from clankie_captain.lanes.waiters import Waiters
from clankie_captain.media.decoding import WorkerDecoder
from clankie_captain.media.fetch import PictureFetch
from clankie_captain.media.film_program import film_program
from clankie_captain.media.guard import Resolve
from clankie_captain.media.resolver import BlindResolver, StoringResolver
from clankie_captain.media.shelf import Shelf
from clankie_captain.metrics import Metrics
from clankie_captain.ports import Hands, Loop, Resolver
from clankie_captain.store.actions import ActionStore
from clankie_captain.store.album import Album
from clankie_captain.store.arrivals import Terms
from clankie_captain.store.backup import Backups
from clankie_captain.store.calls import CallStore
from clankie_captain.store.changes import ChangeStore
from clankie_captain.store.children import ChildStore
from clankie_captain.store.compactions import CompactionStore
from clankie_captain.store.control import ControlStore
from clankie_captain.store.deliveries import DeliveryStore
from clankie_captain.store.engine import Database
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
from clankie_settings.clock import Clock, Ids
from clankie_settings.crashing import Crash
from clankie_settings.schema import CaptainSettings
from clankie_settings.wire.receipt import ActionReceipt


@dataclass(frozen=True, slots=True)
class Ground:
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


def gallery_of(ground: Ground, metrics: Metrics, resolve: Resolve, stack: AsyncExitStack) -> Gallery:
    """Where pictures are looked up and kept; blind where the owner wants none seen."""
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


def captain_of(
    ground: Ground, keys: Keys, metrics: Metrics, gallery: Gallery, hands: Hands
) -> tuple[Captain, RunStore]:
    """The captain on its ground, and its runs for whoever recovers or drains them."""
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


def draining_of(captain: Captain, runs: RunStore, settings: CaptainSettings) -> Draining:
    """What stops the captain in order."""
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
    ground: Ground, runs: RunStore, line: LineParts, settlements: Waiters[Settled], metrics: Metrics
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


def _keeping(ground: Ground) -> Keeping:
    settings, store, upkeep = ground.settings, ground.store, Upkeep(ground.store)
    album, keep = Album(store, settings.discord_attachment_root), Keep(settings.keep_days, settings.keep_picture_days)
    return Keeping(
        Backups(upkeep, settings.state, settings.discord_attachment_root),
        Forgetting(store, upkeep, album),
        Retention(store, upkeep, album, keep, ground.clock),
    )
