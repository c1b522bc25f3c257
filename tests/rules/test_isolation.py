"""Tests reach neither the network nor the settings of whoever runs them."""

import os
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.rules.sources import ROOT

PROBE = """
import os

def test_probe() -> None:
    assert not [name for name in os.environ if name.startswith("CLANKIE_") or name.endswith(("_KEY", "_proxy"))]
"""


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1"])
def test_a_connection_to_another_machine_is_refused(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as door, pytest.raises(AssertionError, match="loopback alone"):
        door.connect((host, 443))


def test_a_look_up_of_another_machine_is_refused() -> None:
    with pytest.raises(AssertionError, match="loopback alone"):
        urllib.request.urlopen("http://api.example.test/", timeout=1)


def test_loopback_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername()[0] == "127.0.0.1"


def test_the_settings_of_whoever_runs_the_tests_stay_outside(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text("utf-8"))
    (tmp_path / "test_probe.py").write_text(PROBE)
    theirs = {"CLANKIE_MODEL": "x", "OPENAI_API_KEY": "x", "https_proxy": "http://proxy.example.test"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ended = subprocess.run(command, cwd=tmp_path, env={**os.environ, **theirs}, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stdout.decode()
