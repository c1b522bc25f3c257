"""What a container's health check takes for life."""

import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from clankie_cli.pulse import FRESH_FOR, main
from clankie_settings.heartbeat import Heartbeat

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Noon:
    """A clock that stands still."""

    def now(self) -> datetime:
        return NOW

    def elapsed(self) -> timedelta:
        return timedelta()

    async def sleep(self, duration: timedelta) -> None:
        raise AssertionError(duration)


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/readyz" else 503)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name is the library's
        del format, args


@pytest.fixture
def address() -> Generator[str]:
    with http.server.HTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def touched(path: Path, age: timedelta) -> str:
    path.touch()
    moment = (NOW - age).timestamp()
    os.utime(path, (moment, moment))
    return str(path)


def test_an_address_that_answers_200_is_alive_and_any_other_is_not(address: str) -> None:
    assert main([f"{address}/readyz"]) == 0
    assert main([f"{address}/other"]) == 1


def test_an_address_where_nobody_listens_is_not_alive() -> None:
    assert main(["http://127.0.0.1:9/readyz"]) == 1


@pytest.mark.parametrize(
    ("age", "code"), [(timedelta(), 0), (FRESH_FOR, 0), (FRESH_FOR + timedelta(seconds=1), 1), (-FRESH_FOR, 0)]
)
def test_a_file_is_alive_while_it_is_fresh(tmp_path: Path, age: timedelta, code: int) -> None:
    assert main([touched(tmp_path / "alive", age)], Noon()) == code


def test_one_living_place_is_enough_and_none_is_not(tmp_path: Path) -> None:
    fresh = touched(tmp_path / "fresh", timedelta())
    stale = touched(tmp_path / "stale", FRESH_FOR * 2)
    missing = str(tmp_path / "missing")
    assert main([missing, stale, fresh], Noon()) == 0
    assert main([missing, stale], Noon()) == 1
    assert main([], Noon()) == 1


@pytest.mark.parametrize(
    ("held", "code", "said"),
    [
        (NOW + timedelta(minutes=9), 1, "the bridge is held back by Discord's limits until 12:09 UTC"),
        (NOW, 0, ""),
        (None, 0, ""),
    ],
)
def test_a_bridge_that_is_held_back_is_not_alive_and_says_until_when(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], held: datetime | None, code: int, said: str
) -> None:
    """C49."""
    if held is not None:
        Heartbeat(tmp_path).hold(held)
    else:
        (tmp_path / "held-back").write_text("2026-01-0", "ascii")
    assert main([touched(tmp_path / "alive", timedelta())], Noon()) == code
    assert capsys.readouterr().out.startswith(said)


def test_a_look_loads_no_library_since_it_comes_every_few_seconds() -> None:
    probe = "import sys; from clankie_cli import pulse; print({'pydantic', 'httpx'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout == "set()\n"
