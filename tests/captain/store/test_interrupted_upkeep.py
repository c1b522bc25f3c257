"""Whatever transaction a captain dies before, the next one finishes what was begun."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy import Connection

from clankie_captain.core.run import Draft
from clankie_captain.errors import LaneBusyError
from clankie_captain.store.album import Album
from clankie_captain.store.engine import Database
from clankie_captain.store.forgetting import Forgetting
from clankie_captain.store.retention import Gone, Retention, Terms
from clankie_captain.store.upkeep import Upkeep
from clankie_settings.ids import ActionId, DeliveryId, MessageId
from clankie_settings.wire.action import TextUpdate
from clankie_settings.wire.receipt import ActionReceipt, Receipt
from tests.captain.core.speech import ANN, BOB, NOON, earlier, trigger
from tests.captain.store.shelf import DISCORD, Shelf, address
from tests.captain.store.test_retention import Time

T = TypeVar("T")

PICTURE = "a" * 64


class DiedError(Exception):
    """The process ends here."""


class Mortal(Database):
    """A store whose captain dies before one of its transactions; 0: before the first."""

    dies_before = 1_000_000

    async def transact(self, work: Callable[[Connection], T]) -> T:
        if self.dies_before == 0:
            raise DiedError
        self.dies_before -= 1
        return await super().transact(work)


async def talk(path: Path) -> None:
    """A lane in which Ann and Bob were answered, with a picture of Ann's on disk."""
    shelf = await Shelf.open(path)
    said = [
        trigger("400", "canary"),
        trigger("401", "parrot", actor=BOB, context=(earlier("399", "canary", author_id=ANN.actor_id),)),
    ]
    for told in said:
        run = await shelf.started(told)
        words = f'<<<heard-k1 from="x" id={told.message_id}\\n{told.body}\\nk1>>>'
        content = f'["{words.replace(chr(34), chr(92) + chr(34))}", {{"sha256": "{PICTURE}"}}]'
        part = f'{{"part_kind": "user-prompt", "content": {content}}}'
        await shelf.hears(run, await shelf.lanes.owner(run), drafts=(Draft("request", f'{{"parts": [{part}]}}'),))
        await shelf.ended(run)
        receipt = Receipt(part=1, of=1, message_id=MessageId(f"9{told.delivery_id}"), posted_at=NOON)
        await shelf.deliveries.receive(DISCORD, DeliveryId(told.delivery_id), receipt)
    await shelf.database.close()


async def reopened(path: Path, dies_before: int = 1_000_000) -> Mortal:
    database = await Mortal.open(address(path))
    assert isinstance(database, Mortal)
    database.dies_before = dies_before
    return database


def forgetting(database: Database, path: Path) -> Forgetting:
    return Forgetting(database, Upkeep(database), Album(database, path.parent))


@pytest.mark.requirement("OPS-12")
@pytest.mark.parametrize("whom", ["person", "room"])
async def test_a_forgetting_that_was_interrupted_anywhere_is_finished_by_asking_again(
    tmp_path: Path, whom: str
) -> None:
    async def forget(database: Database, path: Path) -> None:
        what = forgetting(database, path)
        await (what.person(ANN.actor_id) if whom == "person" else what.room("200:300"))

    deaths = 0
    while True:
        path = tmp_path / f"{deaths}" / "captain.db"
        path.parent.mkdir()
        await talk(path)
        database = await reopened(path, deaths)
        try:
            await forget(database, path)
        except DiedError:
            await database.close()
        else:
            await database.close()
            break
        database = await reopened(path)
        await forget(database, path)
        await database.close()
        left = path.read_bytes()
        assert b"canary" not in left, deaths
        assert (b"parrot" in left) is (whom == "person"), deaths
        deaths += 1
    assert deaths > 5


@pytest.mark.requirement("OPS-11")
async def test_a_retention_that_was_interrupted_anywhere_is_finished_by_the_next(tmp_path: Path) -> None:
    def keeping(database: Database, path: Path) -> Retention:
        time = Time(NOON + timedelta(days=100))
        return Retention(database, Upkeep(database), Album(database, path.parent), Terms(days=30), time)

    deaths, ended = 0, False
    while not ended:
        path = tmp_path / f"{deaths}" / "captain.db"
        path.parent.mkdir()
        await talk(path)
        (path.parent / "pictures").mkdir()
        (path.parent / "pictures" / PICTURE).touch()
        database = await reopened(path, deaths)
        try:
            await keeping(database, path).look()
            ended, database.dies_before = True, 1_000_000
        except DiedError:
            await database.close()
            database = await reopened(path)
            await keeping(database, path).look()
        assert await keeping(database, path).look() == Gone()
        await database.close()
        assert b"canary" not in path.read_bytes()
        deaths += 1
    assert deaths > 5


@pytest.mark.requirement("OPS-12")
async def test_a_picture_leaves_the_disk_with_the_last_who_posted_it(tmp_path: Path) -> None:
    path = tmp_path / "captain.db"
    await talk(path)
    picture = tmp_path / "pictures" / PICTURE
    picture.parent.mkdir()
    picture.touch()
    database = await reopened(path)
    await forgetting(database, path).person(ANN.actor_id)
    assert picture.exists()
    await forgetting(database, path).person(BOB.actor_id)
    assert not picture.exists()
    await database.close()


@pytest.mark.requirement("OPS-12")
async def test_what_is_deleted_is_overwritten(tmp_path: Path) -> None:
    database = await reopened(tmp_path / "captain.db")
    assert await database.aside(lambda raw: raw.execute("PRAGMA secure_delete").fetchone()) == (1,)
    await database.close()


@pytest.mark.requirement("OPS-12")
async def test_words_that_were_posted_meanwhile_go_and_are_waited_for_until_then(tmp_path: Path) -> None:
    shelf = await Shelf.open(tmp_path / "captain.db")
    run = await shelf.started(trigger("400", "hello"))
    await shelf.hears(run, await shelf.lanes.owner(run), drafts=(Draft("request", "{}"),))
    update = TextUpdate(action_id="act_1", delivery_id="400", text="canary, soon")
    await shelf.actions.add(run, update, NOON, 3)
    await shelf.ended(run)
    receipt = Receipt(part=1, of=1, message_id=MessageId("9400"), posted_at=NOON)
    await shelf.deliveries.receive(DISCORD, DeliveryId("400"), receipt)
    what = forgetting(shelf.database, shelf.path)
    with pytest.raises(LaneBusyError):
        await what.person(ANN.actor_id)
    await shelf.actions.acknowledge(DISCORD, ActionId("act_1"), ActionReceipt(ok=True, message_id="9401"))
    await what.person(ANN.actor_id)
    await shelf.database.close()
    assert b"canary" not in shelf.path.read_bytes()
