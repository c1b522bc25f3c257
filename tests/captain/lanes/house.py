"""The captain's real lanes on a real database, with a loop that a test tells what to do."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from clankie_captain.core import stall
from clankie_captain.core.compaction import Ceilings
from clankie_captain.core.grants import ALWAYS, Powers
from clankie_captain.core.lane import OPERATOR, Trust
from clankie_captain.core.placement import Loops
from clankie_captain.core.settlement import Settled
from clankie_captain.core.turns import LiveRun, Turn
from clankie_captain.lanes.children import Children
from clankie_captain.lanes.commands import Commands
from clankie_captain.lanes.compactor import Compactor, CompactorParts
from clankie_captain.lanes.conversations import Conversations
from clankie_captain.lanes.desk import Desk
from clankie_captain.lanes.gallery import Gallery
from clankie_captain.lanes.grants import Grants
from clankie_captain.lanes.line import LineParts
from clankie_captain.lanes.recovery import recover
from clankie_captain.lanes.registry import Registry
from clankie_captain.lanes.runner import Runner, RunnerParts
from clankie_captain.lanes.signals import Signals
from clankie_captain.lanes.waiters import Waiters
from clankie_captain.ports import Hands, Lanes, NoServers, Resolver, Runs, Servers
from clankie_captain.store import tables
from clankie_captain.store.actions import ActionStore
from clankie_captain.store.arrivals import Terms
from clankie_captain.store.calls import CallStore
from clankie_captain.store.changes import ChangeStore
from clankie_captain.store.children import ChildStore
from clankie_captain.store.compactions import CompactionStore
from clankie_captain.store.control import ControlStore
from clankie_captain.store.deliveries import DeliveryStore
from clankie_captain.store.engine import Database
from clankie_captain.store.events import EventStore
from clankie_captain.store.lanes import LaneStore
from clankie_captain.store.pictures import PictureStore
from clankie_captain.store.runs import RunStore
from clankie_settings.ids import DeliveryId, PresenceId
from clankie_settings.wire.operator import OperatorDelivery, OperatorMessage
from clankie_settings.wire.receipt import ActionReceipt
from clankie_settings.wire.trigger import Actor, Room, Trigger
from tests.captain.lanes.fakes import CountedIds, KeptCompactions, KeptTurnLog, StillClock, Thought, ToldLoop, Writing
from tests.captain.lanes.showing import KeptPictures, MemoryShelf, ToldResolver
from tests.captain.making import ToldMachine, ToldWorkshop

DISCORD = PresenceId("discord")
OWNER = "100000"
SOON = timedelta(seconds=60)


@dataclass
class House:
    """Everything behind the captain's door."""

    desk: Desk
    loop: ToldLoop
    clock: StillClock
    signals: Signals
    receipts: Waiters[ActionReceipt]
    registry: Registry
    deliveries: DeliveryStore
    actions: ActionStore
    turn_log: KeptTurnLog
    database: Database
    commands: Commands
    conversations: Conversations
    events: EventStore
    compactions: KeptCompactions
    children: Children

    async def say(self, delivery: str, body: str, /, **more: Any) -> Turn:
        """Hand over a message."""
        return await self.desk.accept(trigger(delivery, body, **more))

    async def ask(self, client: str, body: str, delivery: OperatorDelivery | None = None, name: str = "desk") -> str:
        """Hand over a message of the operator's; its run receipt."""
        message = OperatorMessage(text=body, delivery=delivery, client_id=client)
        return (await self.conversations.say(name, message)).delivery

    async def receipt(self, receipt: str) -> Settled:
        """What a message of the operator's got, once it has."""
        return await self.result(receipt, OPERATOR)

    async def entries(self, kind: str) -> list[str]:
        """The payloads of all lanes' entries of one kind, in order."""

        def work(connection: Connection) -> list[str]:
            one = tables.entry.c
            found = connection.execute(select(one.payload).where(one.kind == kind).order_by(one.lane, one.seq))
            return list(found.scalars())

        return await self.database.transact(work)

    async def thought(self) -> Thought:
        """The next stretch that begins."""
        async with asyncio.timeout(SOON.total_seconds()):
            return await self.loop.thoughts.get()

    async def writing(self) -> Writing:
        """The next notes that are to be written."""
        async with asyncio.timeout(SOON.total_seconds()):
            return await self.loop.writings.get()

    async def result(self, delivery: str, presence: PresenceId = DISCORD) -> Settled:
        """What a delivery got, once it has."""
        async with asyncio.timeout(SOON.total_seconds()):
            turn = await self.desk.outcome(presence, DeliveryId(delivery), None)
        assert turn.result is not None
        return turn.result


def trigger(
    delivery: str,
    body: str,
    /,
    actor: str = "100001",
    channel: str = "2",
    addressed: bool = True,
    kind: str = "mention",
    **more: Any,
) -> Trigger:
    """A message of a guild room."""
    fields: dict[str, object] = {
        "wire_version": 1,
        "delivery_id": delivery,
        "presence_id": "discord",
        "kind": kind,
        "room": Room(platform="discord", guild_id="1", channel_id=channel),
        "actor": Actor(actor_id=actor, display_name=f"person {actor}"),
        "message_id": delivery,
        "sent_at": StillClock().now(),
        "body": body,
        "addressed": addressed,
        **more,
    }
    return Trigger.model_validate(fields)


def _registry(
    parts: RunnerParts, compactions: CompactionStore, log: KeptCompactions, settlements: Waiters[Settled], most: int
) -> Registry:
    line = parts.line
    compactor = CompactorParts(
        line.lanes, compactions, parts.loop, log, line.signals, parts.limits, line.clock, line.ids
    )

    def make(live: LiveRun) -> Runner | Compactor:
        return Runner(parts, live, registry.start) if live.kind == "turn" else Compactor(compactor, live)

    registry = Registry(make, settlements, most)
    return registry


def _gallery(database: Database, resolver: Resolver | None, clock: StillClock, hold: timedelta) -> Gallery:
    return Gallery(resolver or ToldResolver(), MemoryShelf(), PictureStore(database), KeptPictures(), clock, hold)


async def _awake(gallery: Gallery, runs: Runs, registry: Registry, clock: StillClock, ids: CountedIds) -> None:
    await gallery.recover()
    await recover(runs, registry, clock, ids)


async def _closed(registry: Registry, gallery: Gallery, database: Database) -> None:
    await registry.stop()
    await gallery.stop()
    await database.close()


def _hands(servers: Servers | None) -> Hands:
    return Hands(ToldWorkshop(), ToldMachine(), servers=servers or NoServers())


def _given(powers: Powers | Callable[[], Powers] | None, trust: Trust) -> Callable[[], Awaitable[Powers]]:
    async def now() -> Powers:
        return powers() if callable(powers) else powers or Powers(trust)

    return now


@asynccontextmanager
async def house(
    path: Path,
    *,
    most: int = 16,
    begin_gate: asyncio.Event | None = None,
    clock: StillClock | None = None,
    ids: CountedIds | None = None,
    runs: Callable[[RunStore], Runs] = lambda store: store,
    lanes: Callable[[LaneStore], Lanes] = lambda store: store,
    trust: Trust | None = None,
    stall_after: timedelta = timedelta(minutes=5),
    terms: Terms | None = None,
    ceilings: Ceilings | None = None,
    resolver: Resolver | None = None,
    hold: timedelta = SOON,
    powers: Powers | Callable[[], Powers] | None = None,
    tools: Sequence[str] = (),
    loops: Loops | None = None,
    servers: Servers | None = None,
) -> AsyncGenerator[House]:
    """A captain's lanes on the database at ``path``; leaving stops it as a kill would: nothing is settled."""
    database = await Database.open(f"sqlite+aiosqlite:///{path}")
    clock, ids = clock or StillClock(), ids or CountedIds()
    loop, signals, receipts, settlements = ToldLoop(begin_gate), Signals(), Waiters[ActionReceipt](), Waiters[Settled]()
    turn_log, actions, log, hands = KeptTurnLog(), ActionStore(database), KeptCompactions(), _hands(servers)
    run_store, lane_store, nursery = runs(RunStore(database)), lanes(LaneStore(database, terms)), ChildStore(database)
    deliveries, changes, calls = DeliveryStore(database), ChangeStore(database), CallStore(database)
    gallery = _gallery(database, resolver, clock, hold)
    grants = Grants(lane_store, _given(powers, trust or Trust()), (*ALWAYS, *tools), loops)
    line = LineParts(lane_store, actions, signals, receipts, clock, ids, calls, gallery, grants, hands, nursery)
    runner = RunnerParts(run_store, line, loop, turn_log, stall.limits(stall_after), None, ceilings or Ceilings())
    registry = _registry(runner, CompactionStore(database), log, settlements, most)
    desk = Desk(lane_store, deliveries, changes, registry, settlements, signals, grants, clock, ids, gallery)
    try:
        await _awake(gallery, run_store, registry, clock, ids)
        yield House(desk, loop, clock, signals, receipts, registry, deliveries, actions, turn_log, database,
                    Commands(ControlStore(database), registry, grants, OWNER, clock),
                    Conversations(desk, clock, ids), EventStore(database), log, Children(nursery, registry, settlements,
                    signals, clock))  # fmt: skip
    finally:
        await _closed(registry, gallery, database)
