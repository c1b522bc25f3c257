"""A house whose captain dies at a crash point of the test's choice, and what must hold of its store afterwards."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from signal import SIGKILL

from tests.system.house import House, whole_house

PROGRAM = str(Path(__file__).with_name("crashing_captain.py"))
ARMED = "armed"

ORPHANS = {
    "a delivery without a result": "SELECT id FROM delivery WHERE state != 'done' OR result IS NULL",
    "a delivery that a room still lacks": "SELECT id FROM delivery WHERE owed",
    "a lane with a live run": "SELECT id FROM lane WHERE live_run IS NOT NULL",
    "a run without an outcome": "SELECT id FROM run WHERE outcome IS NULL",
    "an action that nobody acknowledged": "SELECT id FROM action WHERE state = 'pending'",
    "a result of a tool that no request carries": "SELECT call FROM finished_call",
    "a delivery of no run that was heard": "SELECT id FROM delivery WHERE heard AND run IS NULL",
}
"""What a store whose work is done holds none of."""


@asynccontextmanager
async def mortal_house(folder: Path, toml: str = "", **settings: str) -> AsyncGenerator[House]:
    """Everything runs, and the captain can be armed; at the end its store holds nothing undone."""
    async with whole_house(folder, (PROGRAM, str(folder / ARMED)), toml, **settings) as house:
        yield house
        await house.until(lambda: not orphans(house) or None, f"the store holds no {orphans(house)}")


def arm(house: House, point: str, nth: int = 1) -> None:
    """Let the captain die when it comes to the point for the ``nth`` time from now on."""
    written = house.folder / "arming"
    written.write_text(f"{point} {nth}", "ascii")
    written.replace(house.folder / ARMED)


async def died(house: House) -> None:
    """Wait until the armed captain is dead."""
    captain = house.programs["captain"]
    assert await captain.exit_code() == -SIGKILL
    assert not (house.folder / ARMED).exists()
    await house.kill("captain")


async def mend(house: House) -> None:
    """Let a captain live again after a test that failed before it started the next one."""
    (house.folder / ARMED).unlink(missing_ok=True)
    captain = house.programs.get("captain")
    if captain is not None and captain.ended.done():
        await house.kill("captain")
    if "captain" not in house.programs:
        await house.start_captain()


def orphans(house: House) -> list[str]:
    """What the captain's store holds and should not."""
    found: list[str] = []
    with closing(sqlite3.connect(f"file:{house.state / 'captain.db'}?mode=ro", uri=True)) as store:
        for what, question in ORPHANS.items():
            found += [f"{what}: {row[0]}" for row in store.execute(question)]
    return found
