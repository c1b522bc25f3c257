"""Evidence and log: content-free, bounded, and never in the way."""

import asyncio
import io
import json
import logging
from pathlib import Path

import pytest

from clankie_bridge import evidence as evidence_module
from clankie_bridge.evidence import EvidenceFile
from clankie_bridge.log import configured
from clankie_bridge.ports import Happened
from clankie_settings.clock import SystemClock
from tests.bridge.conftest import PATIENCE_S, KeptLog


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def fail() -> None:
    raise ValueError("Bot MTMw.secret.token")


@pytest.mark.requirement("ING-5")
async def test_a_fact_is_one_line_with_ids_and_a_code(tmp_path: Path) -> None:
    path = tmp_path / "bridge" / "evidence.jsonl"
    evidence = EvidenceFile(path, SystemClock(), KeptLog())
    evidence.record(Happened.DROPPED, "1", "2", "empty")
    evidence.record(Happened.ACCEPTED, "1", "2")
    await evidence.flush()
    await evidence.flush()
    first, second = lines(path)
    assert first == {"at": first["at"], "event": "dropped", "message_id": "1", "room_id": "2", "code": "empty"}
    assert set(second) == {"at", "event", "message_id", "room_id"}


async def test_a_full_file_is_moved_aside_and_one_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    evidence = EvidenceFile(path, SystemClock(), KeptLog(), file_bytes=150)
    for number in range(5):
        evidence.record(Happened.DROPPED, str(number), "2")
        await evidence.flush()
    assert names(tmp_path) == ["evidence.jsonl", "evidence.jsonl.1"]
    assert [line["message_id"] for line in lines(path)] == ["4"]


async def test_beyond_the_bound_lines_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_module, "LINES_WAITING", 2)
    path = tmp_path / "evidence.jsonl"
    evidence = EvidenceFile(path, SystemClock(), KeptLog())
    for number in range(5):
        evidence.record(Happened.DROPPED, str(number), "2")
    await evidence.flush()
    assert [line.get("lost") for line in lines(path)] == [None, None, 3]


@pytest.mark.requirement("DUR-3")
async def test_a_disk_that_refuses_is_said_once_and_its_lines_wait(tmp_path: Path) -> None:
    (tmp_path / "bridge").write_text("a file where the folder should be")
    log = KeptLog()
    evidence = EvidenceFile(tmp_path / "bridge" / "evidence.jsonl", SystemClock(), log)
    for number in range(2):
        evidence.record(Happened.DROPPED, str(number), "2")
        await evidence.flush()
    (said,) = log.of("evidence_unwritable")
    assert "make room" in said["remedy"]
    (tmp_path / "bridge").unlink()
    evidence.record(Happened.DROPPED, "2", "2")
    await evidence.flush()
    assert [each["message_id"] for each in lines(tmp_path / "bridge" / "evidence.jsonl")] == ["0", "1", "2"]


@pytest.mark.requirement("DUR-3")
async def test_lines_that_the_disk_did_not_take_are_written_by_themselves_once_it_does(tmp_path: Path) -> None:
    (tmp_path / "bridge").write_text("a file where the folder should be")
    log, path = KeptLog(), tmp_path / "bridge" / "evidence.jsonl"
    evidence = EvidenceFile(path, SystemClock(), log)
    life = asyncio.create_task(evidence.run())
    evidence.record(Happened.DROPPED, "1", "2")
    await log.until("evidence_unwritable")
    (tmp_path / "bridge").unlink()
    async with asyncio.timeout(PATIENCE_S):
        while not await asyncio.to_thread(path.exists) or not lines(path):
            pass
    life.cancel()
    await asyncio.gather(life, return_exceptions=True)
    assert [each["message_id"] for each in lines(path)] == ["1"]


@pytest.fixture
def said() -> io.StringIO:
    """What the configured log writes."""
    return io.StringIO()


@pytest.mark.requirement("SEC-2")
@pytest.mark.parametrize("name", ["hikari.rest", "httpx", "asyncio", "aiohttp.client"])
def test_a_librarys_words_never_reach_the_log(said: io.StringIO, name: str) -> None:
    configured(said)
    try:
        fail()
    except ValueError:
        logging.getLogger(name).exception("GET https://discord.test/secret %s", "a text")
    logging.getLogger(name).info("GET https://discord.test/secret")
    (line,) = said.getvalue().splitlines()
    written = json.loads(line)
    assert (written["event"], written["logger"], written["kind"]) == ("library", name, "ValueError")
    assert "secret" not in line
    assert "a text" not in line


def test_on_a_terminal_the_log_is_written_for_reading() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    configured(terminal).info("started", room="1")
    assert "event=started" in terminal.getvalue()
    assert "room=1" in terminal.getvalue()
