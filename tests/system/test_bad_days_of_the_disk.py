"""What the whole house does where the disk is full, read-only or damaged, or where it is started twice."""

import json
import os
import sqlite3
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from clankie_stage.provider.steps import gated, text
from tests.disks import Disk, small_disk
from tests.ports import free_port
from tests.system.house import CAPTAIN, House, bare_house
from tests.system.program import Program
from tests.system.scene import Scene

pytestmark = [pytest.mark.system, pytest.mark.requirement("DUR-3")]

EX_UNAVAILABLE, EX_CONFIG = 69, 78
MIB = 1024 * 1024


@pytest.fixture
def disk(tmp_path: Path) -> Generator[Disk]:
    """The state folder is a disk of its own."""
    with small_disk(tmp_path / "state", 4 * MIB) as mounted:
        yield mounted


@asynccontextmanager
async def scene_in(house: House, name: str) -> AsyncGenerator[Scene]:
    await house.provider.reset()
    await house.provider.habits(default="unscripted")
    yield await Scene.opened(house, name)


async def refused(house: House, code: int, said: str) -> None:
    """A captain that is started now ends by itself with this code and this sentence, without a traceback."""
    program = await Program.started("captain", CAPTAIN, house.env, house.folder)
    assert await program.exit_code() == code
    (line,) = [each for each in program.lines if not each.startswith("{")]
    assert said in line


async def test_a_disk_that_fills_up_costs_a_delay_and_nothing_else(tmp_path: Path, disk: Disk) -> None:
    async with bare_house(tmp_path) as house, scene_in(house, "full") as scene:
        await house.start_captain()
        await house.start_bridge()
        await scene.script(gated("thinking", "Here."), text("And there."), text("And there."))
        one = await scene.say("Clankie, one")
        await scene.requests(1)
        await scene.accepted(one)
        disk.fill()
        elsewhere = await Scene.opened(house, "elsewhere")
        await elsewhere.script(text("Elsewhere."))
        two = await elsewhere.say("Clankie, two", "Bob")
        await house.programs["bridge"].said("store_full")
        await scene.open("thinking")
        await house.programs["captain"].said("store.trouble")
        assert await elsewhere.posted() == []
        disk.empty()

        assert (await scene.concluded(one))[0][-1] == "replied"
        assert (await elsewhere.concluded(two))[0][-1] == "replied"
        assert await scene.posted() == ["Here."]
        assert await elsewhere.posted() == ["Elsewhere."]
        await house.programs["captain"].said("store.recovered")
        for file in ("turn-settled.jsonl", "bridge/evidence.jsonl"):
            assert [json.loads(line) for line in (house.state / file).read_text("utf-8").splitlines()]
        assert [each["outcome"] for each in house.settled()] == ["replied", "replied"]


async def test_a_captain_refuses_a_full_disk_at_its_start_and_takes_it_up_once_there_is_room(
    tmp_path: Path, disk: Disk
) -> None:
    async with bare_house(tmp_path) as house, scene_in(house, "start") as scene:
        disk.fill()
        await refused(house, EX_CONFIG, "Make room on that disk")
        disk.empty()
        await house.start_captain()
        await house.start_bridge()
        await scene.script(gated("never", "Lost."), text("Found."))
        one = await scene.say("Clankie?")
        await scene.requests(1)
        await scene.accepted(one)
        await house.kill("captain")
        disk.fill()
        await refused(house, EX_UNAVAILABLE, "make room")
        disk.empty()
        await house.start_captain()
        assert (await scene.concluded(one))[0][-1] == "replied"
        assert await scene.posted() == ["Found."]


async def test_a_captain_refuses_a_read_only_state_folder_and_leaves_it_as_it_is(tmp_path: Path, disk: Disk) -> None:
    async with bare_house(tmp_path) as house:
        await house.start_captain()
        await house.stop("captain")
        before = {path: path.read_bytes() for path in disk.folder.rglob("*") if path.is_file()}
        disk.allow_writing(False)
        await refused(house, EX_UNAVAILABLE, "make the state folder writable")
        disk.allow_writing(True)
        assert {path: path.read_bytes() for path in disk.folder.rglob("*") if path.is_file()} == before
        await house.start_captain()


async def test_an_attachment_root_that_cannot_be_written_costs_no_words(tmp_path: Path) -> None:
    (tmp_path / "pictures").write_text("a file where a folder should be")
    settings = {"CLANKIE_DISCORD_ATTACHMENT_ROOT": str(tmp_path / "pictures")}
    async with bare_house(tmp_path, **settings) as house, scene_in(house, "words") as scene:
        await house.start_captain()
        await house.start_bridge()
        await scene.script(text("Words."))
        one = await scene.say("Clankie?")
        assert await scene.concluded(one) == [["accepted", "replied"]]
        assert await scene.posted() == ["Words."]


async def test_a_second_captain_on_the_same_folder_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    async with bare_house(tmp_path) as house:
        await house.start_captain()
        house.env["CLANKIE_CAPTAIN_URL"], own = f"http://127.0.0.1:{free_port()}", house.env["CLANKIE_CAPTAIN_URL"]
        await refused(house, EX_UNAVAILABLE, "another captain holds")
        assert (await house.captain.get("/readyz")).is_success
        await house.kill("captain")
        assert (house.state / "captain.lock").exists()
        house.env["CLANKIE_CAPTAIN_URL"] = own
        await house.start_captain()


async def test_what_is_no_whole_database_of_this_version_is_refused_untouched_with_what_to_do(tmp_path: Path) -> None:
    async with bare_house(tmp_path) as house:
        await house.start_captain()
        await house.stop("captain")
        store = house.state / "captain.db"
        whole = store.read_bytes()
        for harm, remedy in HARMS.items():
            store.write_bytes(whole)
            harmed(store, harm)
            before = store.read_bytes()
            await refused(house, EX_UNAVAILABLE, remedy)
            assert store.read_bytes() == before
        store.write_bytes(whole)
        await house.start_captain()


HARMS = {
    "a newer version": "written by a newer Clankie; upgrade this captain",
    "no database": "put a backup in its place",
    "a damaged page": "put a backup in its place",
    "another program's": "CLANKIE_DATABASE_URL",
}


def harmed(store: Path, harm: str) -> None:
    """Do to the database what may have happened to it."""
    match harm:
        case "a newer version":
            altered(store, "UPDATE alembic_version SET version_num = '9999'")
        case "no database":
            store.write_bytes(b"CANARY " * 10_000)
        case "a damaged page":
            with store.open("r+b") as file:
                file.seek(4 * 4_096)
                file.write(b"\xff" * 4_096)
        case _:
            store.unlink()
            altered(store, "CREATE TABLE places (url TEXT)")


def altered(store: Path, statement: str) -> None:
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute(statement)


async def test_a_captain_whose_log_was_torn_by_a_power_cut_goes_on_from_what_is_whole(tmp_path: Path) -> None:
    async with bare_house(tmp_path) as house, scene_in(house, "torn") as scene:
        await house.start_captain()
        await house.start_bridge()
        await scene.script(gated("never", "Lost."), text("Whole."), text("Whole."), text("Whole again."))
        one = await scene.say("Clankie, one")
        await scene.requests(1)
        await scene.accepted(one)
        await house.kill("captain")
        log = house.state / "captain.db-wal"
        torn = log.stat().st_size - 2_000
        os.truncate(log, torn)
        (house.state / "captain.db-shm").unlink()
        await house.start_captain()
        assert (await scene.concluded(one))[0][-1] == "replied"
        assert await scene.posted() == ["Whole."]
        with closing(sqlite3.connect(f"file:{house.state / 'captain.db'}?mode=ro", uri=True)) as store:
            assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
