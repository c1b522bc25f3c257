"""The captain's store on a real SQLite file, and the few steps that every test of it takes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Connection, Row, text

from clankie_captain.core.lane import LaneKey
from clankie_captain.core.reply import Reply, Said
from clankie_captain.core.run import Broken, Draft, Usage
from clankie_captain.core.turns import Acceptance, Ended, Heard, LiveRun, Pending, Settling
from clankie_captain.store.actions import ActionStore
from clankie_captain.store.deliveries import DeliveryStore
from clankie_captain.store.engine import Database
from clankie_captain.store.lanes import LaneStore
from clankie_captain.store.presences import PresenceStore
from clankie_captain.store.runs import RunStore
from clankie_settings.ids import LaneId, MessageId, PresenceId, RunId, TurnId
from clankie_settings.wire.trigger import Trigger, content_hash
from tests.captain.core.speech import NOON, trigger

ROOM = LaneKey(LaneId("rooms/discord:200:300"), "room", "social")
OTHER_ROOM = LaneKey(LaneId("rooms/discord:200:302"), "room", "social")
CONVERSATION = LaneKey(LaneId("conversations/desk"), "conversation", "system")
DISCORD = PresenceId("discord")
ANSWER = Draft("response", '{"answer": 1}')
ASKED = Draft("request", '{"asked": 1}')


def address(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path}"


@dataclass
class Shelf:
    """One opened database with the stores on it."""

    path: Path
    database: Database
    lanes: LaneStore
    runs: RunStore
    deliveries: DeliveryStore
    presences: PresenceStore
    actions: ActionStore
    numbers: "count[int]" = field(default_factory=lambda: count(1))

    @classmethod
    async def open(cls, path: Path) -> Self:
        database = await Database.open(address(path))
        return cls(
            path,
            database,
            LaneStore(database),
            RunStore(database),
            DeliveryStore(database),
            PresenceStore(database),
            ActionStore(database),
        )

    async def reopened(self) -> "Shelf":
        """The same file as a captain finds it that was started anew."""
        await self.database.close()
        return await Shelf.open(self.path)

    def fresh_run(self) -> RunId:
        return RunId(f"run_{self.path.stem}_{next(self.numbers)}")

    async def accept(
        self, said: Trigger | str = "400", lane: LaneKey = ROOM, at: datetime = NOON, **changed: Any
    ) -> Acceptance:
        given = said if isinstance(said, Trigger) else trigger(said, **changed)
        turn = TurnId(f"turn_{given.presence_id}_{given.delivery_id}_{next(self.numbers)}")
        return await self.lanes.accept(given, lane, turn, self.fresh_run(), at)

    async def started(self, said: Trigger | str = "400", lane: LaneKey = ROOM, **changed: Any) -> LiveRun:
        accepted = await self.accept(said, lane, **changed)
        assert accepted.started is not None
        return accepted.started

    async def hears(self, run: LiveRun, *pending: Pending, drafts: Sequence[Draft] = (ASKED,)) -> None:
        """One request of the run, with these deliveries' words in it."""
        heard = [Heard(each.presence, each.delivery, _lacking(each), content_hash(each.trigger)) for each in pending]
        await self.lanes.record(run, drafts, heard, NOON)

    async def hears_all(self, run: LiveRun) -> None:
        """One request with the owner's words and all that was steered."""
        owner = await self.lanes.owner(run)
        await self.hears(run, *([] if owner.heard else [owner]), *(await self.lanes.take(run, NOON)))

    async def settle(self, run: LiveRun, ending: Reply | Broken = Said("an answer"), at: datetime = NOON) -> Settling:  # noqa: B008
        return await self.runs.settle(run, ending, Usage(), self.fresh_run(), at)

    async def ended(self, run: LiveRun, ending: Reply | Broken = Said("an answer")) -> Ended:  # noqa: B008
        settled = await self.settle(run, ending)
        assert isinstance(settled, Ended)
        return settled

    async def rows(self, statement: str, **values: Any) -> Sequence[Row[Any]]:
        def work(connection: Connection) -> Sequence[Row[Any]]:
            return connection.execute(text(statement), values).all()

        return await self.database.transact(work)

    async def entries(self, kind: str) -> list[str]:
        """The payloads of the lane log of one kind, over all lanes, in order."""
        found = await self.rows("SELECT payload FROM entry WHERE kind = :kind ORDER BY lane, seq", kind=kind)
        return [row.payload for row in found]


def _lacking(pending: Pending) -> tuple[MessageId, ...]:
    asked = [each.message_id for each in pending.trigger.context]
    quoted = [pending.trigger.reply_to.message_id] if pending.trigger.reply_to else []
    return tuple(MessageId(each) for each in [*quoted, *asked] if each not in pending.known)
