"""What the README tells a newcomer to do is done here, as it stands."""

import os
import re
import sys
from pathlib import Path

import pytest

from clankie_cli import plan
from clankie_settings.environment import (
    bridge_settings,
    captain_settings,
    launch_settings,
    process_environment,
    variable,
)
from clankie_settings.schema import BridgeSettings, CaptainSettings, LaunchSettings

README = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
PERMISSIONS = {
    "View Channels": 10,
    "Send Messages": 11,
    "Send Messages in Threads": 38,
    "Read Message History": 16,
    "Add Reactions": 6,
    "Attach Files": 15,
    "Embed Links": 14,
}


def block(part: str) -> str:
    """The fenced block that holds this."""
    fenced: list[str] = re.findall(r"^ *```\w*\n(.*?)^ *```$", README, re.MULTILINE | re.DOTALL)
    return next(each for each in fenced if part in each)


def test_the_invitation_asks_for_the_permissions_that_it_names() -> None:
    (number,) = set(re.findall(r"permissions=(\d+)", README))
    said = re.search(rf"The number {number} is ([^;]+); no more", README)
    assert said
    named = re.split(r",\s+|\s+and\s+", said[1])
    assert sorted(named) == sorted(PERMISSIONS)
    assert int(number) == sum(1 << bit for bit in PERMISSIONS.values())


def test_three_lines_are_enough_for_ones_own_discord(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = re.sub(r"^ +", "", block("DISCORD_BOT_TOKEN="), flags=re.MULTILINE)
    assert len(text.splitlines()) == 3
    for told, put in (("the token", "a.b.c"), ("the server's id", "12345"), ("the key of your model provider", "key")):
        text = text.replace(told, put)
    (tmp_path / ".env").write_text(text, "utf-8")
    env = process_environment()
    assert captain_settings(env)
    assert bridge_settings(env).discord_guilds == ("12345",)
    assert [each.name for each in plan.on_discord(launch_settings(env), env)] == ["captain", "bridge"]


def test_every_setting_of_the_readme_exists() -> None:
    known = {
        variable(field) for kind in (CaptainSettings, BridgeSettings, LaunchSettings) for field in kind.model_fields
    }
    named = set(re.findall(r"CLANKIE_[A-Z_]+|\w+_API_KEY|DISCORD_BOT_TOKEN", README))
    assert len(named) >= 12
    assert named <= known


def test_the_commands_of_the_readme_exist() -> None:
    makefile = (Path(__file__).resolve().parents[2] / "Makefile").read_text("utf-8")
    for target in set(re.findall(r"`?make (\w+)", block("make up"))):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    assert os.access(Path(sys.prefix) / "bin" / "clankie", os.X_OK)
