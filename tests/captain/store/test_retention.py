"""What is too old goes in small steps; what is open, live, owed or young stays."""

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from clankie_captain.core.lane import LaneKey
from clankie_captain.core.retention import snowflake
from clankie_captain.core.run import Draft
from clankie_captain.core.turns import LiveRun
from clankie_captain.store.album import Album
from clankie_captain.store.retention import Gone, Retention, Terms
from clankie_captain.store.upkeep import Upkeep
from clankie_settings.ids import DeliveryId, LaneId, MessageId
from clankie_settings.wire.receipt import Receipt
from tests.captain.core.speech import NOON
from tests.captain.store.shelf import DISCORD, Shelf

pytestmark = pytest.mark.requirement("OPS-11")

DAY = timedelta(days=1)
TERMS = Terms(days=30)
OLD, NEW = NOON, NOON + 100 * DAY


@dataclass
class Time:
    """A clock whose wall and whose passing are set apart."""

    wall: datetime = NEW
    passed: timedelta = timedelta()
    slept: list[timedelta] = field(default_factory=list[timedelta])

    def now(self) -> datetime:
        return self.wall

    def elapsed(self) -> timedelta:
        return self.passed

    async def sleep(self, duration: timedelta) -> None:
        self.slept.append(duration)


@pytest.fixture
def time() -> Time:
    return Time()


def retention(shelf: Shelf, time: Time, terms: Terms = TERMS, root: Path | None = None) -> Retention:
    album = Album(shelf.database, root or shelf.path.parent)
    return Retention(shelf.database, Upkeep(shelf.database), album, terms, time)


async def told(shelf: Shelf, delivery: str, at: datetime, *, posted: bool = True) -> None:
    """One turn from its message to its posted reply; its message's id tells its moment, as Discord's do."""
    run = (await shelf.accept(delivery, at=at)).started
    assert run is not None
    await heard(shelf, run, at)
    await shelf.settle(run, at=at)
    if posted:
        receipt = Receipt(part=1, of=1, message_id=MessageId(f"9{delivery}"), posted_at=at)
        await shelf.deliveries.receive(DISCORD, DeliveryId(delivery), receipt)


async def heard(shelf: Shelf, run: LiveRun, at: datetime) -> None:
    words = Draft("request", f'{{"words": "canary {run.owner}"}}')
    await shelf.hears(run, await shelf.lanes.owner(run), drafts=(words,))
    moment = (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    await wrote(shelf, "UPDATE entry SET at = :at WHERE run = :run", at=moment, run=run.run)


async def wrote(shelf: Shelf, statement: str, **values: object) -> None:
    def work(connection: Connection) -> None:
        connection.execute(text(statement), values)

    await shelf.database.transact(work)


async def kept(shelf: Shelf) -> set[str]:
    return {row.id for row in await shelf.rows("SELECT id FROM delivery WHERE instr(trigger, 'hello')")}


async def test_what_is_old_goes_and_what_is_young_stays(shelf: Shelf, time: Time) -> None:
    for delivery in ("400", "401"):
        await told(shelf, delivery, OLD)
    await told(shelf, "500", NEW)
    gone = await retention(shelf, time).look()
    assert (gone.entries, gone.deliveries) == (6, 2)
    assert await kept(shelf) == {"500"}
    assert b"canary 400" not in shelf.path.read_bytes()
    assert await retention(shelf, time).look() == Gone()


async def test_the_history_that_is_left_begins_with_a_run(shelf: Shelf, time: Time) -> None:
    await told(shelf, "400", OLD)
    await told(shelf, "500", NEW)
    await retention(shelf, time).look()
    run = await shelf.started("501", at=NEW)
    (first, *_) = await shelf.lanes.history(run)
    assert "canary 500" in first.payload


@pytest.mark.parametrize("slice_size", [1, 2, 5])
async def test_steps_are_small_and_all_of_them_are_taken(
    shelf: Shelf, time: Time, monkeypatch: pytest.MonkeyPatch, slice_size: int
) -> None:
    monkeypatch.setattr("clankie_captain.store.retention.SLICE", slice_size)
    for number in range(400, 408):
        await told(shelf, str(number), OLD)
    await told(shelf, "500", NEW)
    assert (await retention(shelf, time).look()).deliveries == 8
    assert await kept(shelf) == {"500"}


async def test_what_is_owed_or_live_stays_whatever_its_age(shelf: Shelf, time: Time) -> None:
    await told(shelf, "400", OLD, posted=False)
    live = await shelf.started("401", at=OLD)
    await heard(shelf, live, OLD)
    await shelf.accept("402", at=OLD)
    await retention(shelf, time).look()
    assert await kept(shelf) == {"400", "401", "402"}
    assert len(await shelf.lanes.history(live)) == 2


async def test_a_clock_that_jumped_a_year_ahead_lets_nothing_go(shelf: Shelf, time: Time) -> None:
    time.wall = OLD + DAY
    await told(shelf, snowflake(OLD), OLD)
    keeping = retention(shelf, time)
    assert await keeping.look() == Gone()
    time.wall, time.passed = OLD + 366 * DAY, timedelta(hours=1)
    assert await keeping.look() == Gone()
    assert await retention(shelf, time).look() == Gone()
    # Once it has really passed, or once somebody has spoken, it has.
    await told(shelf, snowflake(OLD + 200 * DAY), OLD + 200 * DAY)
    assert (await retention(shelf, time).look()).deliveries == 1


async def test_the_last_message_of_a_room_stays_known_without_its_words(shelf: Shelf, time: Time) -> None:
    await told(shelf, "400", OLD)
    assert (await retention(shelf, time).look()).deliveries == 1
    assert await kept(shelf) == set()
    (room,) = (await shelf.presences.rooms(DISCORD)).rooms
    assert (room.last_message_id, room.last_state) == ("400", "replied")
    assert await retention(shelf, time).look() == Gone()


async def test_runs_receipts_and_lanes_of_one_shots_go_with_their_messages(shelf: Shelf, time: Time) -> None:
    lane = LaneKey(LaneId("turns/discord:200:300~400/turn_1"), "one_shot", "system")
    run = (await shelf.accept("400", lane, at=OLD)).started
    assert run is not None
    await heard(shelf, run, OLD)
    await shelf.settle(run, at=OLD)
    receipt = Receipt(part=1, of=1, message_id=MessageId("900"), posted_at=OLD)
    await shelf.deliveries.receive(DISCORD, DeliveryId("400"), receipt)
    await told(shelf, "500", NEW)
    await retention(shelf, time).look()
    for table in ("run", "receipt", "lane", "delivery"):
        assert len(await shelf.rows(f"SELECT * FROM {table}")) == 1, table


async def test_pictures_go_after_their_rows_and_those_of_nobody_after_a_day(shelf: Shelf, time: Time) -> None:
    folder = shelf.path.parent / "pictures"
    folder.mkdir()
    old, young, stray, fresh = (letter * 64 for letter in "abcd")
    for name in (old, young, stray, fresh, "readme"):
        (folder / name).write_bytes(b"picture")
        os.utime(folder / name, (OLD.timestamp(), OLD.timestamp()))
    os.utime(folder / fresh, (NEW.timestamp(), NEW.timestamp()))
    await told(shelf, "400", OLD)
    await told(shelf, "500", NEW)
    await wrote(shelf, "UPDATE entry SET payload = :p WHERE kind = 'request' AND payload LIKE '%400%'", p=f'"{old}"')
    await wrote(shelf, "UPDATE entry SET payload = :p WHERE kind = 'request' AND payload LIKE '%500%'", p=f'"{young}"')
    gone = await retention(shelf, time, Terms(picture_days=5)).look()
    assert gone.pictures == 2
    assert {each.name for each in folder.iterdir()} == {young, fresh, "readme"}


async def test_it_looks_once_where_everything_is_kept(shelf: Shelf, time: Time) -> None:
    await told(shelf, "400", OLD)
    await retention(shelf, time, Terms()).run()
    assert time.slept == []
    assert await kept(shelf) == {"400"}
