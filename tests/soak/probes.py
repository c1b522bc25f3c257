"""What is tried when all is quiet: other words under known ids, a second captain, the store's settings."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection
from structlog.testing import capture_logs

from clankie_captain.store.engine import Database, StateLock
from tests.ports import free_port
from tests.soak.facts import Posted, Probe
from tests.soak.household import COMMANDS, Household
from tests.soak.rows import Store
from tests.system.house import House
from tests.system.program import Program

CONFLICTS: Final = 100
"""Deliveries under whose id other words are tried at most."""

EX_UNAVAILABLE: Final = 69
"""The exit code of a captain that cannot use its store."""

# What a service says when something of its own broke; what others did to it is a warning.
_BROKEN: Final = ("error", "critical")


async def conflicts(house: House, store: Store, deliveries: list[str]) -> Probe:
    """Hand other words over under the ids of deliveries that are settled."""
    wrong: list[str] = []
    headers = {"Authorization": f"Bearer {house.token()}", "Prefer": "wait=0"}
    for each in deliveries[:CONFLICTS]:
        trigger = await asyncio.to_thread(store.trigger, each)
        other = trigger | {"body": f"{trigger.get('body', '')} and something else"}
        answer = await house.captain.post("/v1/turns", json=other, headers=headers)
        if (answer.status_code, answer.json().get("code")) != (409, "delivery_conflict"):
            wrong.append(f"{each}: {answer.status_code} for other words")
    return Probe(len(deliveries[:CONFLICTS]), tuple(wrong))


async def promises(household: Household, store: Store) -> Probe:
    """One process and one connection while the captain is at work; then, without it, what a connection promises."""
    house = household.house
    wrong = [*store.faults()]
    files = _open_files(house.programs["captain"].pid)
    held = sum(Path(each) == store.path for each in files)
    if files and held != 1:
        wrong.append(f"the captain has its database open {held} times")
    url = {"CLANKIE_CAPTAIN_BIND": f"127.0.0.1:{free_port()}"}
    second = await Program.started("second captain", COMMANDS["captain"], house.env | url, house.folder)
    if (code := await second.exit_code()) != EX_UNAVAILABLE:
        wrong.append(f"a second captain on the state folder ended with {code}")
    return Probe(4, tuple(wrong))


async def settings_of(path: Path) -> Probe:
    """WAL, FULL and IMMEDIATE, as the captain's own connection has them; the captain must have stopped."""
    with capture_logs():
        database = await Database.open(f"sqlite+aiosqlite:///{path}", StateLock(path.with_name("captain.lock")))

    def read(connection: Connection) -> tuple[Any, ...]:
        pragmas = ("journal_mode", "synchronous", "foreign_keys")
        values = [connection.exec_driver_sql(f"PRAGMA {each}").scalar_one() for each in pragmas]
        return (*values, _is_shut(path))

    try:
        found = await database.transact(read)
    finally:
        await database.close()
    wrong = () if found == ("wal", 2, 1, True) else (f"journal, synchronous, foreign keys, immediate are {found}",)
    return Probe(4, wrong)


def _is_shut(path: Path) -> bool:
    """Whether a transaction that has only begun keeps other writers out: it does where it began IMMEDIATE."""
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        try:
            other.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
    return False


def _open_files(pid: int) -> list[str]:
    """What a process has open, where the system tells."""
    folder = Path(f"/proc/{pid}/fd")
    return [str(each.readlink()) for each in folder.iterdir()] if folder.exists() else []


def own_faults(household: Household) -> Probe:
    """The lines by which captain or bridge said that something of theirs broke."""
    wrong: list[str] = []
    lines = household.lines()
    for name, line in lines:
        try:
            said: Any = json.loads(line)
        except ValueError:
            # A traceback, or a sentence for people: neither belongs there while the service is at work.
            wrong.append(f"{name} wrote: {line[:300]}")
            continue
        if said.get("level") in _BROKEN:
            wrong.append(f"{name}: {line[:300]}")
    return Probe(len(lines), tuple(wrong))


async def posted(house: House) -> tuple[Posted, ...]:
    """His messages, wherever they are."""
    found: list[Posted] = []
    for room in (await house.stage.call("describe"))["rooms"]:
        for each in await house.stage.messages(room["id"]):
            if each["author"].get("bot"):
                reference: dict[str, str] = each.get("message_reference") or {}
                found.append(Posted(each["id"], room["id"], each["content"], reference.get("message_id")))
    return tuple(found)
