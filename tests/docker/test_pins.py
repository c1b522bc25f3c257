"""What an image installs is cut out of the one lock, whole and unaltered."""

import importlib.util
import subprocess
import sys
from types import ModuleType

import pytest

from tests.rules.sources import ROOT

SCRIPT = ROOT / "docker/pins.py"
LOCK = (ROOT / "requirements.lock").read_text("utf-8")
SERVICES = {"captain": "clankie-captain", "bridge": "clankie-bridge", "stage": "clankie-stage"}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    found = importlib.util.spec_from_file_location("pins", SCRIPT)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["pins"] = module
    found.loader.exec_module(module)
    return module


def printed(*names: str) -> list[str]:
    command = [sys.executable, str(SCRIPT), str(ROOT / "requirements.lock"), *names]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("service", SERVICES.values())
def test_what_is_printed_stands_so_in_the_lock_with_every_hash(service: str) -> None:
    lines = printed("clankie-settings", service)
    assert "\n".join(lines)
    whole = LOCK.splitlines()
    at = 0
    for line in lines:
        at = whole.index(line, at) + 1
    for number, line in enumerate(lines):
        assert "==" not in line or lines[number + 1].lstrip().startswith("--hash=sha256:")


def test_each_service_gets_its_own_libraries_and_not_the_others() -> None:
    has = {name: {line.partition("==")[0] for line in printed(member)} for name, member in SERVICES.items()}
    assert {"fastapi", "pydantic-ai-slim", "pydantic-core", "sqlalchemy", "greenlet"} <= has["captain"]
    assert {"hikari", "aiohttp", "httpx", "httpcore"} <= has["bridge"]
    assert "hikari" not in has["captain"] | has["stage"]
    assert not {"pydantic-ai-slim", "sqlalchemy", "fastapi", "openai"} & (has["bridge"] | has["stage"])
    assert not {"pytest", "ruff", "pyright"} & (has["captain"] | has["bridge"] | has["stage"])


def test_need_is_followed_to_its_end_and_back_to_where_it_began(script: ModuleType) -> None:
    lock = """
one==1 \\
    --hash=sha256:aa
    # via member (services/member/pyproject.toml)
two==2 ; python_version < '3.12' \\
    --hash=sha256:bb
    # via
    #   one
    #   three
three==3 \\
    --hash=sha256:cc
    # via two
other==4 \\
    --hash=sha256:dd
    # via member-of-another
"""
    assert [pin.name for pin in script.needed(lock, ["member"])] == ["one", "two", "three"]
    assert [pin.lines[0] for pin in script.needed(lock, ["other"])] == ["other==4 \\"]


def test_what_the_image_has_from_elsewhere_is_left_out_alone() -> None:
    whole, without = printed("clankie-captain"), printed("clankie-captain", "-imageio-ffmpeg")
    assert {line.partition("==")[0] for line in whole if "==" in line} - {
        line.partition("==")[0] for line in without if "==" in line
    } == {"imageio-ffmpeg"}
    assert "-imageio-ffmpeg -playwright >" in (ROOT / "docker/Dockerfile").read_text("utf-8")


@pytest.mark.parametrize("names", [["clankie-captian"], ["clankie-captain", "-clankie-captian"]])
def test_a_name_that_the_lock_does_not_know_is_refused(names: list[str]) -> None:
    command = [sys.executable, str(SCRIPT), str(ROOT / "requirements.lock"), *names]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "does not know clankie-captian; run: make lock" in ended.stderr
