"""A captain that cannot start says why, and nothing that somebody wrote."""

import json
import re
import socket
from pathlib import Path

import pytest

from clankie_captain import app as composition
from clankie_captain import log
from clankie_captain.__main__ import EX_CONFIG, EX_UNAVAILABLE, serve
from clankie_captain.agent.tools import TOOLS
from clankie_captain.errors import ConfigurationError, StoreDamagedError, StoreShapeError
from clankie_captain.ports import Loop
from clankie_settings.clock import Clock
from clankie_settings.environment import captain_settings
from clankie_settings.schema import CaptainSettings
from tests.captain.api.running import settings

pytestmark = pytest.mark.requirement("SEC-2")

SECRET = "a canary of somebody"


def ended(state: Path, error: Exception) -> int:
    """The exit code of a captain whose loop cannot be made."""

    def broken(_settings: CaptainSettings, _clock: Clock) -> Loop:
        raise error

    log.configure()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return serve(composition.build(settings(state), make_loop=broken), listener)


def test_a_start_that_fails_unexpectedly_names_kind_place_and_remedy_and_no_words(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert ended(tmp_path, LookupError(SECRET)) == EX_UNAVAILABLE
    said = capfd.readouterr().err
    assert SECRET not in said
    events = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    (line,) = [each for each in events if each["event"] == "captain.start_failed"]
    assert line["cause"] == "LookupError"
    assert line["place"].startswith("clankie_captain.app.life:")
    assert "clankie doctor" in line["remedy"]
    assert "clankie captain: the start failed (LookupError at clankie_captain.app.life:" in said


@pytest.mark.parametrize(
    ("error", "code"), [(StoreShapeError(), EX_CONFIG), (StoreDamagedError(), EX_UNAVAILABLE)], ids=["shape", "damage"]
)
def test_a_start_that_is_refused_says_the_reason_and_whether_another_try_is_of_use(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], error: Exception, code: int
) -> None:
    assert ended(tmp_path, error) == code
    said = capfd.readouterr().err
    assert f"clankie captain: {error}" in said
    assert "captain.start_failed" not in said


@pytest.mark.requirement("GRANT-1")
def test_a_setting_that_names_no_tool_is_refused_at_the_start_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"CLANKIE_TOOLS or tools .*draw_diagramm; did you mean draw_diagram\?"
    ):
        composition.build(settings(tmp_path, tools=("draw_diagramm",)))
    composition.build(settings(tmp_path, tools=("draw_diagram", "github_*")))


def test_the_example_of_the_documents_names_only_tools_that_exist(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(\[rooms.*?)```", page, re.DOTALL)
    (tmp_path / "clankie.toml").write_text(example, encoding="utf-8")
    env = {"CLANKIE_CONFIG": str(tmp_path / "clankie.toml"), "CLANKIE_STATE": str(tmp_path / "state")}
    composition.build(captain_settings(env))
    assert all(f"`{tool}`" in page for tool in TOOLS)
