"""Many lanes at once on one database: whoever has to wait waits, and nobody is told of a lock."""

import asyncio
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.captain.api.running import RunningCaptain
from tests.captain.api.test_waits import PLAIN

ROOM: Any = PLAIN["room"]
ACTOR: Any = PLAIN["actor"]
LANES, TURNS = 20, 13
WRITES_A_TURN = 4
"""A turn is accepted, its request and its response are recorded, and it is settled: a transaction each."""


@pytest.mark.requirement("DUR-3")
async def test_twenty_lanes_of_fifty_writes_each_at_once_answer_all_and_meet_no_lock(captain: RunningCaptain) -> None:
    """C35."""
    assert TURNS * WRITES_A_TURN >= 50

    async def room(number: int) -> list[tuple[int, str]]:
        answers: list[tuple[int, str]] = []
        for turn in range(TURNS):
            mark = f"{number}-{turn}"
            place, actor = ROOM | {"channel_id": str(number)}, ACTOR | {"actor_id": mark}
            said = PLAIN | {"delivery_id": mark, "message_id": mark, "room": place, "actor": actor}
            answer = await captain.post(said)
            answers.append((answer.status_code, answer.json().get("state", answer.text)))
        return answers

    with capture_logs() as said, closing(sqlite3.connect(captain.state / "captain.db")) as reader:
        # Somebody who looks on, as a backup does, holds nobody up.
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM delivery").fetchone()
        answers = await asyncio.gather(*(room(number) for number in range(LANES)))
    assert [each for room_answers in answers for each in room_answers] == [(200, "replied")] * (LANES * TURNS)
    assert [line for line in said if line["log_level"] in ("warning", "error")] == []
