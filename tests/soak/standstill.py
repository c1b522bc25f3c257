"""Why nothing moves any more, as far as one can see it from outside: for whoever has only the output of a run."""

import asyncio
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import httpx

from tests.soak.household import SERVICES, Household
from tests.soak.rows import Store

LAST_LINES: Final = 6
"""Lines of each service that are shown."""

MOST: Final = 80
"""Open deliveries that are shown."""

_OPEN: Final = """
    SELECT d.lane, d.seq, d.id, d.state, d.owed, d.run, r.kind, r.attempt, r.epoch, l.epoch, l.live_run
    FROM delivery d JOIN lane l ON l.id = d.lane LEFT JOIN run r ON r.id = l.live_run
    WHERE d.state != 'done' OR d.owed ORDER BY d.lane, d.seq
"""


async def story(household: Household, store: Store, standing: str) -> str:
    """Processes with their last words, what the captain says of itself, and every delivery that is not done."""
    readiness = await _readiness(household)
    rows = await asyncio.to_thread(lambda: [*_open(store.path)])
    return "\n".join([standing, *_processes(household), readiness, *rows])


def _processes(household: Household) -> Iterator[str]:
    for service in SERVICES:
        program = household.house.programs.get(service)
        if program is None:
            yield f"{service}: never started"
            continue
        ended = program.ended
        if not ended.done():
            state = f"pid {program.pid}, {_state(program.pid)}"
        else:
            state = "called off" if ended.cancelled() else f"ended with {ended.result()}"
        yield f"{service}: {household.starts[service]} starts, {state}; its last words:"
        yield from (f"  {line[:300]}" for line in program.lines[-LAST_LINES:])
    yield from household.ends


def _state(pid: int) -> str:
    """How Linux sees a process: sleeping, stopped (SIGSTOP), zombie, gone."""
    try:
        found = re.search(r"^State:\s+(.*)$", Path(f"/proc/{pid}/status").read_text("utf-8"), re.MULTILINE)
    except OSError:
        return "gone"
    return "unknown" if found is None else found[1]


async def _readiness(household: Household) -> str:
    try:
        answer = await household.house.captain.get("/readyz", timeout=5)
    except httpx.HTTPError as error:
        return f"captain's readiness: {type(error).__name__}"
    return f"captain's readiness: {answer.status_code} {answer.text[:200]}"


def _open(path: Path) -> Iterator[str]:
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)) as store:
            rows = store.execute(_OPEN).fetchall()
    except sqlite3.Error as error:
        yield f"the store cannot be read: {error}"
        return
    lane = ""
    for each in rows[:MOST]:
        if each[0] != lane:
            lane = each[0]
            yield f"{lane}: epoch {each[9]}, live run {each[10]} ({each[6]}, attempt {each[7]}, epoch {each[8]})"
        yield f"  seq {each[1]}, {each[2]}: {each[3]}{', owed' * bool(each[4])}, run {each[5]}"
    if len(rows) > MOST:
        yield f"and {len(rows) - MOST} more"
