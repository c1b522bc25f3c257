"""The machine's tools as the settings ask for them."""

import os
from pathlib import Path

import pytest

from clankie_captain.core.machine import Most
from clankie_captain.errors import ConfigurationError
from clankie_captain.machine import walls
from clankie_captain.machine.furnishing import REMEDIES, fitted
from clankie_captain.machine.sandbox import STRANGER, Lack, Place, Sandbox
from clankie_captain.machine.workbench import REASONS, Workbench
from clankie_captain.media.passage import Passage
from clankie_captain.ports import NotDoneError
from clankie_settings.clock import RandomIds, SystemClock
from clankie_settings.environment import captain_settings
from tests.captain.machine.ground import ROOT, Ground, needs_a_sandbox

pytestmark = pytest.mark.requirement("GRANT-4")


ALL = ("bwrap", "unshare", "mount", "setpriv")


def fit(folder: Path, **named: str) -> Workbench:
    env = {"CLANKIE_STATE": str(folder / "state"), **named}
    return fitted(captain_settings(env), SystemClock(), RandomIds(), Passage)


def test_every_lack_has_a_reason_for_the_model_and_a_remedy_for_the_owner() -> None:
    assert REASONS.keys() == REMEDIES.keys()


@pytest.mark.parametrize(
    ("programs", "hidden", "lack"),
    [
        ((), "/home/x", "program"),
        (("bwrap",), "/home/x", "user"),
        (ALL, "/usr", "place"),
        (ALL, "/home/x", "forbidden"),
    ],
)
async def test_what_a_machine_lacks_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: tuple[str, ...], hidden: str, lack: Lack
) -> None:
    for name in programs:
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n", "utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    sandbox = Sandbox(Place(tmp_path, (Path(hidden),), (STRANGER, STRANGER)))
    assert await sandbox.lack() == lack


OWN = {
    "CLANKIE_STATE": "here/state",
    "CLANKIE_DISCORD_ATTACHMENT_ROOT": "here/pictures",
    "CLANKIE_DATABASE_URL": "here/captain.db",
    "CLANKIE_CONFIG": "here/clankie.toml",
    "CLANKIE_MCP_FILE": "here/mcp.json",
    "CLANKIE_PERSONA_FILE": "here/persona.md",
    "PWD": "here",
}
"""What is the captain's own, by the settings that say where it is; ``PWD`` is where he was started."""


@pytest.mark.parametrize("name", OWN)
async def test_no_command_sees_what_is_the_captains_own_and_no_workspace_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "clankie.toml").touch()
    for each in ALL:
        (tmp_path / each).write_text("#!/bin/sh\nexit 1\n", "utf-8")
        (tmp_path / each).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path / OWN[name] if name == "PWD" else tmp_path)
    said = str(tmp_path / OWN[name])
    env = {name: f"sqlite+aiosqlite:///{said}" if name == "CLANKIE_DATABASE_URL" else said}
    with pytest.raises(ConfigurationError, match="CLANKIE_WORKSPACE"):
        fit(tmp_path, CLANKIE_WORKSPACE=str(here), **env)
    tools = fit(tmp_path, CLANKIE_WORKSPACE=str(tmp_path / "workspace"), **env)
    assert await tools.lack() == "forbidden"
    monkeypatch.setattr(walls, "SYSTEM", here)
    tools = fit(tmp_path, CLANKIE_WORKSPACE=str(tmp_path / "workspace"), **env)
    assert await tools.lack() == "place"


@pytest.mark.skipif(not ROOT, reason="only root gives folders away")
def test_root_gives_away_its_own_workspace_and_nobody_elses(tmp_path: Path) -> None:
    fit(tmp_path)
    assert (tmp_path / "state" / "workspace").stat().st_uid == STRANGER
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "file").touch()
    with pytest.raises(ConfigurationError, match="chown it"):
        fit(tmp_path, CLANKIE_WORKSPACE=str(mine))
    assert mine.stat().st_uid == 0
    os.chown(mine, 1, 1)
    fit(tmp_path, CLANKIE_WORKSPACE=str(mine))


@needs_a_sandbox
async def test_no_file_is_written_into_a_full_workspace(tmp_path: Path) -> None:
    ground = Ground.laid(tmp_path)
    await ground.workbench().write("first", "x")
    for most in (Most(disk=4096), Most(entries=1)):
        with pytest.raises(NotDoneError, match="too full"):
            await ground.workbench(most).write("second", "x")
    assert [each.name for each in ground.workspace.iterdir()] == ["first"]
