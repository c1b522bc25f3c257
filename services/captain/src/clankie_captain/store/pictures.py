"""What became of deliveries' pictures, and pictures that leave a lane's history. Source: IMG-7, LANE-14, LANE-16."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, bindparam, exists, func, or_, select, update

from clankie_captain.core.exhibits import picture_key
from clankie_captain.core.pictures import PICTURES, Pictures
from clankie_captain.core.stand_ins import without
from clankie_captain.core.turns import Awaiting, LiveRun
from clankie_captain.errors import FencedError
from clankie_captain.store import rows, tables
from clankie_captain.store.engine import Database
from clankie_settings.ids import DeliveryId, PresenceId
from clankie_settings.wire.trigger import Trigger

_lane, _delivery, _entry = tables.lane.c, tables.delivery.c, tables.entry.c

_OPEN: Final = (
    select(_delivery.presence, _delivery.id, _delivery.trigger)
    .where(_delivery.state.in_(("queued", "steer", "live")), _delivery.ready.is_(False), _delivery.heard.is_(False))
    .order_by(_delivery.accepted_at)
)
_UNREADY: Final = _OPEN.where(_delivery.run == bindparam("run"))


def carries_picture(connection: Connection, lane: str, trigger: Trigger) -> bool:
    """Whether a lane's history shows the picture of the talk that a delivery brings, or is about to. Source: CTX-5.

    One that was cut off, or put into notes, is shown again.
    """
    visual = trigger.context_visual
    if visual is None or visual.attachment is None:
        return False
    said, own, key = tables.lane_message.c, _delivery, picture_key(visual.attachment.id)
    mine = (own.lane == lane, own.message_id == visual.message_id)
    if connection.execute(select(exists().where(*mine, own.state != "done", own.heard.is_(False)))).scalar():
        return True
    shown = exists().where(said.lane == lane, said.message_id == key)
    heard = exists().where(*mine, own.heard)
    if not connection.execute(select(or_(shown, heard))).scalar():
        return False
    first = select(_lane.history_from).where(_lane.id == lane).scalar_subquery()
    named = func.instr(_entry.payload, f'"{visual.attachment.id}"') > 0
    return bool(
        connection.execute(
            select(exists().where(_entry.lane == lane, _entry.seq >= first, _entry.kind == "heard", named))
        ).scalar()
    )


class PictureStore:
    """The rows that tell of pictures."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def show(self, presence: PresenceId, delivery: DeliveryId, pictures: Pictures) -> None:
        """Keep what became of a delivery's pictures; it is ready with that, unless its words were heard before."""

        def work(connection: Connection) -> None:
            mine = update(tables.delivery).where(*rows.mine(presence, delivery), _delivery.heard.is_(False))
            connection.execute(mine.values(ready=True, pictures=PICTURES.dump_json(pictures).decode()))

        await self._database.transact(work)

    async def open(self) -> tuple[Awaiting, ...]:
        """Every delivery whose pictures somebody has to fetch still, the oldest first."""
        return await self._awaiting(_OPEN, {})

    async def unready(self, run: LiveRun) -> tuple[Awaiting, ...]:
        """The deliveries of a live run whose words it has not read and whose pictures are not there yet."""
        return await self._awaiting(_UNREADY, {"run": run.run})

    async def carried(self, presence: PresenceId, trigger: Trigger) -> bool:
        """Whether the lane of a delivery shows the picture of its talk already, or is about to. Source: CTX-5."""

        def work(connection: Connection) -> bool:
            lane = connection.execute(select(_delivery.lane).where(*rows.mine(presence, of))).scalar_one()
            return carries_picture(connection, lane, trigger)

        of = DeliveryId(trigger.delivery_id)
        return await self._database.transact(work)

    async def unsee(self, run: LiveRun, gone: Sequence[str]) -> None:
        """Put words in the place of pictures, wherever they stand in the lane's history.

        Raises:
            FencedError: The run is not its lane's live one.

        Source: LANE-14.
        """

        def work(connection: Connection) -> None:
            own = (_lane.id == run.lane.id, _lane.live_run == run.run, _lane.epoch == run.epoch)
            first = connection.execute(select(_lane.history_from).where(*own)).scalar()
            if first is None:
                raise FencedError(run.lane.id, run.run)
            asked = [func.instr(_entry.payload, each) > 0 for each in gone]
            here = (_entry.lane == run.lane.id, _entry.seq >= first, _entry.kind == "request")
            for row in connection.execute(select(_entry.seq, _entry.payload).where(*here, or_(*asked))).all():
                changed = without(row.payload, gone)
                mine = update(tables.entry).where(_entry.lane == run.lane.id, _entry.seq == row.seq)
                connection.execute(mine.values(payload=changed if changed is not None else row.payload))

        await self._database.transact(work)

    async def _awaiting(self, statement: Any, values: dict[str, Any]) -> tuple[Awaiting, ...]:
        def work(connection: Connection) -> tuple[Awaiting, ...]:
            return tuple(
                Awaiting(PresenceId(row.presence), DeliveryId(row.id), Trigger.model_validate_json(row.trigger))
                for row in connection.execute(statement, values).all()
            )

        return await self._database.transact(work)
