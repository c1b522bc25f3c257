"""A backup of a captain in the middle of its work, and what a captain on the restored state makes of it."""

import asyncio
import hashlib
import io
import json
import sqlite3
import tarfile
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from clankie_captain.errors import StoreError, StoreLockedError
from clankie_captain.store.archive.manifest import ArchiveError, Place
from clankie_captain.store.archive.reading import unpack
from clankie_captain.store.archive.restoring import MARK, Restored, Unfinished, refuse_half_restored, restore
from clankie_captain.store.engine import StateLock
from tests.captain.api.remembering import RECEIPT, remembers, spoken
from tests.captain.api.running import OPERATOR_TOKEN, PATIENCE_S, RunningCaptain, caller

pytestmark = pytest.mark.requirement("OPS-10")

ANN, BOB = "110000000000000011", "110000000000000012"
LATER = datetime(2026, 12, 1, tzinfo=UTC)
ROOM = "rooms/discord:200:300"

Json = dict[str, Any]


def place(state: Path) -> Place:
    return Place(state, state / "captain.db", state / "attachments")


@pytest.fixture
async def operator(captain: RunningCaptain) -> AsyncIterator[httpx.AsyncClient]:
    captain.loop.script = remembers
    async with caller(captain.address, OPERATOR_TOKEN) as client:
        yield client


@pytest.fixture
async def again(tmp_path: Path) -> AsyncIterator[Callable[[], Any]]:
    """Starts a captain on the restored state."""
    async with AsyncExitStack() as stack:

        async def start() -> RunningCaptain:
            running = await RunningCaptain.start(tmp_path / "elsewhere")
            running.loop.script = remembers
            stack.push_async_callback(running.stop)
            return running

        yield start


async def backed_up(operator: httpx.AsyncClient, path: Path) -> Path:
    answer = await operator.get("/v1/backup")
    assert answer.status_code == 200, answer.text
    await asyncio.to_thread(path.write_bytes, answer.content)
    return path


def restored(backup: Path, state: Path, unfinished: Unfinished | None = None, *, replace: bool = False) -> Restored:
    return restore(backup, place(state), LATER, replace=replace, unfinished=unfinished)


async def answered(captain: RunningCaptain, delivery: str, **more: Any) -> Json:
    result = (await captain.post(spoken(delivery, ANN, "Ann", f"words {delivery}", **more))).json()
    assert result["state"] in ("replied", "absorbed")
    return result


async def receipted(captain: RunningCaptain, delivery: str) -> None:
    receipt = {**RECEIPT, "message_id": f"9{delivery}"}
    assert (await captain.client.post(f"/v1/turns/{delivery}/receipts", json=receipt)).is_success


async def test_everything_accepted_is_in_the_backup_or_not_at_all_and_results_are_equal(
    captain: RunningCaptain, operator: httpx.AsyncClient, tmp_path: Path, again: Callable[[], Any]
) -> None:
    (captain.state / "attachments/pictures").mkdir(parents=True)
    (captain.state / "attachments/pictures/one").write_bytes(b"picture")
    before = [await answered(captain, str(number)) for number in range(400, 405)]
    traffic = [asyncio.create_task(answered(captain, str(number), channel="301")) for number in range(500, 512)]
    backup = await backed_up(operator, tmp_path / "backup.tar")
    after = await asyncio.gather(*traffic)
    restored(backup, tmp_path / "elsewhere", "answer")
    assert (tmp_path / "elsewhere/attachments/pictures/one").read_bytes() == b"picture"
    other = await again()
    for result in before:
        assert (await other.client.get(f"/v1/turns/{result['delivery_id']}")).json() == result
    known = 0
    for result in after:
        found = await other.client.get(f"/v1/turns/{result['delivery_id']}")
        if found.status_code == 404:
            continue
        known += 1
        # One that was open then is answered anew, and by the same turn.
        assert found.json()["turn_id"] == result["turn_id"]
        assert found.json()["state"] in ("replied", "absorbed")
    assert known <= len(after)
    assert (await answered(other, "600"))["state"] == "replied"
    assert len([each for each in other.loop.orders[-1].history if each.kind == "response"]) == len(before)


async def test_turns_go_on_while_a_backup_is_being_read(
    captain: RunningCaptain, operator: httpx.AsyncClient, tmp_path: Path
) -> None:
    (captain.state / "attachments").mkdir()
    (captain.state / "attachments/large").write_bytes(bytes(32 * 1024 * 1024))
    await answered(captain, "400")
    async with operator.stream("GET", "/v1/backup") as answer:
        pieces = answer.aiter_raw()
        whole = bytearray(await anext(pieces))
        # Whoever takes the backup has stopped reading, so it is not at its end; nobody else waits for that.
        await answered(captain, "401")
        await receipted(captain, "401")
        async for piece in pieces:
            whole += piece
    backup = tmp_path / "backup.tar"
    backup.write_bytes(whole)
    restored(backup, tmp_path / "elsewhere")
    with closing(sqlite3.connect(tmp_path / "elsewhere/captain.db")) as connection:
        assert connection.execute("SELECT id FROM delivery").fetchall() == [("400",)]


async def test_a_reader_that_goes_away_leaves_the_next_backup_free(
    captain: RunningCaptain, operator: httpx.AsyncClient, tmp_path: Path
) -> None:
    (captain.state / "attachments").mkdir()
    (captain.state / "attachments/large").write_bytes(bytes(32 * 1024 * 1024))
    async with operator.stream("GET", "/v1/backup") as answer:
        await anext(answer.aiter_raw())
    async with asyncio.timeout(PATIENCE_S):
        unpack(await backed_up(operator, tmp_path / "backup.tar"), tmp_path / "unpacked")


async def test_turns_that_were_open_go_on_where_nobody_answered_them(
    captain: RunningCaptain, operator: httpx.AsyncClient, tmp_path: Path, again: Callable[[], Any]
) -> None:
    captain.loop.free.clear()
    await captain.post(spoken("400", ANN, "Ann", "are you there"), wait=0)
    await captain.loop.until_asked()
    await captain.post(spoken("401", BOB, "Bob", "me too"), wait=0)
    restored(await backed_up(operator, tmp_path / "backup.tar"), tmp_path / "elsewhere", "answer")
    other = await again()
    assert (await other.client.get("/v1/turns/400")).json()["state"] == "replied"
    assert (await other.client.get("/v1/turns/401")).json()["answered_by"] == "400"
    owed = (await other.client.get("/v1/turns?owed=true")).json()["turns"]
    assert [each["delivery_id"] for each in owed] == ["400"]


async def test_what_was_answered_after_the_backup_is_not_answered_again(
    captain: RunningCaptain, operator: httpx.AsyncClient, tmp_path: Path, again: Callable[[], Any]
) -> None:
    await answered(captain, "400")
    captain.loop.free.clear()
    await captain.post(spoken("1400000000000000001", ANN, "Ann", "are you there"), wait=0)
    await captain.loop.until_asked(2)
    backup = await backed_up(operator, tmp_path / "backup.tar")
    done = restored(backup, tmp_path / "elsewhere")
    assert (done.unfinished, done.ended) == ("drop", 2)
    other = await again()
    assert (await other.client.get("/v1/turns?owed=true")).json()["turns"] == []
    assert (await other.client.get("/v1/turns/1400000000000000001")).json()["code"] == "expired"
    assert other.loop.orders == []
    # What was said between the backup and now counts as read, so nobody hands it over as missed.
    (room,) = (await other.client.get("/v1/presences/discord/rooms")).json()["rooms"]
    assert int(room["last_message_id"]) > 1400000000000000001
    assert (await answered(other, "600"))["state"] == "replied"


async def test_actions_of_a_restored_captain_come_after_all_that_were_seen(
    captain: RunningCaptain, operator: httpx.AsyncClient, tmp_path: Path
) -> None:
    await answered(captain, "400")
    with closing(sqlite3.connect(captain.state / "captain.db")) as connection:
        (before,) = connection.execute("SELECT next_action FROM presence").fetchone()
    restored(await backed_up(operator, tmp_path / "backup.tar"), tmp_path / "elsewhere")
    with closing(sqlite3.connect(tmp_path / "elsewhere/captain.db")) as connection:
        assert connection.execute("SELECT next_action FROM presence").fetchone()[0] > before + 100_000


async def test_a_restore_over_a_running_captain_is_refused(
    captain: RunningCaptain, operator: httpx.AsyncClient, tmp_path: Path
) -> None:
    backup = await backed_up(operator, tmp_path / "backup.tar")
    with pytest.raises(StoreLockedError):
        restored(backup, captain.state, replace=True)


async def test_a_presence_gets_no_backup(captain: RunningCaptain) -> None:
    assert (await captain.client.get("/v1/backup")).status_code == 403


@pytest.fixture
async def backup(captain: RunningCaptain, operator: httpx.AsyncClient, tmp_path: Path) -> Path:
    await answered(captain, "400")
    return await backed_up(operator, tmp_path / "backup.tar")


def test_what_is_there_is_replaced_only_where_that_was_said_and_kept_aside(backup: Path, tmp_path: Path) -> None:
    state = tmp_path / "elsewhere"
    restored(backup, state)
    (state / "attachments/mine").write_bytes(b"mine")
    with pytest.raises(ArchiveError, match="--replace"):
        restored(backup, state)
    done = restored(backup, state, replace=True)
    assert done.aside is not None
    assert (done.aside / "captain.db").exists()
    assert (done.aside / "attachments/mine").read_bytes() == b"mine"
    assert [*(state / "attachments").iterdir()] == []
    assert not (state / ".restoring").exists()


def test_a_captain_does_not_start_on_what_was_restored_by_half(backup: Path, tmp_path: Path) -> None:
    state = tmp_path / "elsewhere"
    restored(backup, state)
    (state / MARK).touch()
    with pytest.raises(StoreError, match="restore was interrupted"):
        refuse_half_restored(state)
    restored(backup, state)
    refuse_half_restored(state)


def rewritten(backup: Path, change: Callable[[str, bytes], tuple[str, bytes] | None], *added: tarfile.TarInfo) -> Path:
    """The backup with its members changed."""
    out = backup.with_name("rewritten.tar")
    with tarfile.open(backup) as old, tarfile.open(out, "w") as new:
        for header in added:
            new.addfile(header, io.BytesIO(bytes(header.size)))
        for header in old:
            file = old.extractfile(header)
            assert file is not None
            changed = change(header.name, file.read())
            if changed is not None:
                header.name, data = changed
                header.size = len(data)
                new.addfile(header, io.BytesIO(data))
    return out


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.type, header.linkname = kind, link
    return header


@pytest.mark.parametrize(
    "added",
    [
        member("../outside"),
        member("/tmp/outside"),
        member("attachments/../../outside"),
        member("attachments//outside"),
        member("attachments/back\\slash"),
        member("secrets/operator-token"),
        member("attachments/link", tarfile.SYMTYPE, "/etc/passwd"),
        member("attachments/link", tarfile.LNKTYPE, "captain.db"),
        member("attachments/pipe", tarfile.FIFOTYPE),
        member("attachments/folder", tarfile.DIRTYPE),
        member("captain.db"),
    ],
    ids=lambda added: f"{added.name} {added.type!r}",
)
def test_what_no_backup_holds_is_refused_before_anything_is_moved(
    backup: Path, tmp_path: Path, added: tarfile.TarInfo
) -> None:
    bad = rewritten(backup, lambda name, data: (name, data), added)
    with pytest.raises(ArchiveError):
        restored(bad, tmp_path / "elsewhere")
    assert {each.name for each in (tmp_path / "elsewhere").iterdir()} == {"captain.lock"}
    assert not (tmp_path / "outside").exists()


def damaged(name: str, data: bytes) -> tuple[str, bytes]:
    return name, data[:-1] + bytes([data[-1] ^ 1]) if name == "captain.db" else data


def without_manifest(name: str, data: bytes) -> tuple[str, bytes] | None:
    return None if name == "manifest.json" else (name, data)


def newer_form(name: str, data: bytes) -> tuple[str, bytes]:
    return name, json.dumps({**json.loads(data), "format": 2}).encode() if name == "manifest.json" else data


def no_form(name: str, data: bytes) -> tuple[str, bytes]:
    return name, b"[]" if name == "manifest.json" else data


def renamed(name: str, data: bytes) -> tuple[str, bytes]:
    return "attachments/captain.db" if name == "captain.db" else name, data


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (damaged, "damaged"),
        (without_manifest, "cut short"),
        (newer_form, "newer Clankie"),
        (no_form, "manifest"),
        (renamed, "cut short"),
    ],
)
def test_a_backup_that_is_not_as_it_was_written_is_refused(
    backup: Path, tmp_path: Path, change: Callable[[str, bytes], tuple[str, bytes] | None], says: str
) -> None:
    with pytest.raises(ArchiveError, match=says):
        restored(rewritten(backup, change), tmp_path / "elsewhere")


@pytest.mark.parametrize("kept", [0, 100, 1_000, 20_000])
def test_a_backup_that_was_cut_short_is_refused(backup: Path, tmp_path: Path, kept: int) -> None:
    cut = tmp_path / "cut.tar"
    cut.write_bytes(backup.read_bytes()[:kept])
    with pytest.raises(ArchiveError):
        restored(cut, tmp_path / "elsewhere")


def test_a_backup_of_a_newer_schema_is_refused(backup: Path, tmp_path: Path) -> None:
    state = tmp_path / "newer"
    unpack(backup, state)
    with closing(sqlite3.connect(state / "captain.db")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = 'v9999'")
    with closing(sqlite3.connect(state / "captain.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    newer = (state / "captain.db").read_bytes()

    def change(name: str, data: bytes) -> tuple[str, bytes]:
        if name != "manifest.json":
            return name, newer if name == "captain.db" else data
        manifest = json.loads(data)
        manifest["files"]["captain.db"] = {"size": len(newer), "sha256": _sha256(newer)}
        return name, json.dumps(manifest).encode()

    with pytest.raises(ArchiveError, match="newer than this Clankie"):
        restored(rewritten(backup, change), tmp_path / "elsewhere")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_tokens_and_half_written_files_are_not_in_a_backup(backup: Path) -> None:
    with tarfile.open(backup) as archive:
        assert not [each for each in archive.getnames() if "secrets" in each or "token" in each]


def test_a_lock_that_is_held_keeps_a_restore_out(backup: Path, tmp_path: Path) -> None:
    lock = StateLock(tmp_path / "elsewhere/captain.lock")
    with pytest.raises(StoreLockedError):
        restored(backup, tmp_path / "elsewhere")
    lock.release()
