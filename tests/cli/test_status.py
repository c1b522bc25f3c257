"""``clankie status`` without a captain, and with one that is not ready."""

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from clankie_cli.checks import running
from clankie_settings.environment import launch_settings
from clankie_settings.heartbeat import Heartbeat
from tests.cli.launching import clankie, environment
from tests.ports import free_ports


class _Captain(BaseHTTPRequestHandler):
    """Answers what a test put into `answers`."""

    answers: dict[str, tuple[int, bytes]]

    def do_GET(self) -> None:
        status, body = self.answers.get(self.path, (404, b""))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name that http.server has
        del format, args


class Captain:
    """A captain's door that says what a test wants it to say."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, bytes]] = {}
        self._server = HTTPServer(("127.0.0.1", 0), type("Handler", (_Captain,), {"answers": self.answers}))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def captain() -> Iterator[Captain]:
    door = Captain()
    yield door
    door.close()


def test_a_captain_that_is_not_there_is_said_with_what_to_do(tmp_path: Path) -> None:
    env = environment(tmp_path, CLANKIE_CAPTAIN_URL=f"http://127.0.0.1:{free_ports(1)[0]}")
    shown = clankie(tmp_path, env, "status")
    assert shown.returncode == 3
    assert "not reachable" in shown.stdout
    assert "start it with: clankie up" in shown.stdout
    assert not (tmp_path / "state").exists()


def test_a_captain_that_is_not_ready_says_its_problem(tmp_path: Path, captain: Captain) -> None:
    captain.answers["/readyz"] = (503, b'{"title": "Service Unavailable", "detail": "the captain is stopping"}')
    env = environment(tmp_path, CLANKIE_CAPTAIN_URL=captain.url)
    shown = clankie(tmp_path, env, "status")
    assert shown.returncode == 1
    assert "not ready" in shown.stdout
    assert "the captain is stopping" in shown.stdout
    said = json.loads(clankie(tmp_path, env, "status", "--json").stdout)
    assert (said["reachable"], said["ready"], said["problem"]) == (True, False, "the captain is stopping")


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}"])
def test_what_is_no_captain_is_told_from_one(tmp_path: Path, captain: Captain, body: bytes) -> None:
    captain.answers["/readyz"] = (200, body)
    captain.answers["/v1/stats"] = (200, body)
    shown = clankie(tmp_path, environment(tmp_path, CLANKIE_CAPTAIN_URL=captain.url), "status")
    assert shown.returncode == 1
    assert "is the port right?" in shown.stdout


def test_presences_are_listed_with_the_time_since_they_were_alive(tmp_path: Path, captain: Captain) -> None:
    presences = [{"id": "discord", "alive_at": "2020-01-01T00:00:00+00:00"}, {"id": "console", "alive_at": None}]
    stats = {"version": "9", "live_runs": 1, "waiting": 2, "lanes": 3, "uptime_s": 90, "presences": presences}
    captain.answers["/readyz"] = (200, b'{"ready": true}')
    captain.answers["/v1/stats"] = (200, json.dumps(stats).encode())
    shown = clankie(tmp_path, environment(tmp_path, CLANKIE_CAPTAIN_URL=captain.url), "status")
    assert shown.returncode == 0
    assert "9, up for 0:01:30" in shown.stdout
    assert "console, last alive never" in shown.stdout
    assert "days" in shown.stdout


async def test_a_bridge_that_discord_holds_back_is_said_with_what_to_do(tmp_path: Path, captain: Captain) -> None:
    """C49."""
    env, now = environment(tmp_path, CLANKIE_CAPTAIN_URL=captain.url), datetime.now(UTC)
    settings = launch_settings(env)
    presences = [{"id": "discord", "alive_at": now.isoformat()}]
    captain.answers["/readyz"] = (200, b'{"ready": true}')
    captain.answers["/v1/stats"] = (200, json.dumps({"version": "9", "presences": presences}).encode())
    Heartbeat.of(settings.state).hold(now + timedelta(hours=1))
    shown = clankie(tmp_path, env, "status")
    assert shown.returncode == 1
    assert "held back by Discord's limits until" in shown.stdout
    _, bridge = await running.looked_at(settings, settings.state, now)
    assert (bridge.check, bridge.state) == ("bridge", "wrong")
    assert bridge.said in shown.stdout
    _, bridge = await running.looked_at(settings, settings.state, now + timedelta(hours=2))
    assert "held back" not in bridge.said


def test_a_captain_that_nobody_was_at_says_where_to_look(tmp_path: Path, captain: Captain) -> None:
    captain.answers["/readyz"] = (200, b'{"ready": true}')
    captain.answers["/v1/stats"] = (200, b'{"version": "9", "presences": []}')
    shown = clankie(tmp_path, environment(tmp_path, CLANKIE_CAPTAIN_URL=captain.url), "status")
    assert "none was ever here" in shown.stdout


def test_a_token_of_any_letters_is_refused_like_another(tmp_path: Path, captain: Captain) -> None:
    captain.answers["/readyz"] = (200, b'{"ready": true}')
    captain.answers["/v1/stats"] = (401, b"{}")
    env = environment(tmp_path, CLANKIE_CAPTAIN_URL=captain.url, CLANKIE_OPERATOR_TOKEN="\u00fcmlaut \u2603")
    shown = clankie(tmp_path, env, "status")
    assert "CLANKIE_OPERATOR_TOKEN" in shown.stdout + shown.stderr


def test_a_wrong_setting_is_said_in_one_line(tmp_path: Path) -> None:
    shown = clankie(tmp_path, environment(tmp_path, CLANKIE_CAPTAIN_URL="CANARY"), "status")
    assert shown.returncode == 78
    assert shown.stderr.startswith("clankie: CLANKIE_CAPTAIN_URL: expected an address")
    assert "CANARY" not in shown.stderr
    assert shown.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [(), ("dance",), ("token",), ("token", "bob")])
def test_a_wrong_command_is_refused_with_the_right_ones(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    shown = clankie(tmp_path, environment(tmp_path), *arguments)
    assert shown.returncode == 2
    assert "usage: clankie" in shown.stderr
