"""The doctor, with nothing but this machine: each line is clear, and none shows a secret."""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from clankie_captain.store.inspection import is_old
from clankie_cli.checks import programs
from clankie_cli.checks.finding import Finding, note, ok, wrong
from clankie_cli.doctor import table
from clankie_settings.environment import captain_settings
from tests.captain.machine.ground import needs_a_sandbox
from tests.cli.launching import called, environment

pytestmark = [pytest.mark.requirement("OPS-9"), pytest.mark.timeout(300)]

CANARY = "CANARY-secret"
NOWHERE = "http://127.0.0.1:9"


def checked(folder: Path, *options: str, **settings: str) -> tuple[int, dict[str, Any]]:
    env = environment(folder, CLANKIE_CAPTAIN_URL=NOWHERE, CLANKIE_DISCORD_REST_URL=f"{NOWHERE}/api", **settings)
    done = called(folder, env, "doctor", "--json", *options)
    assert CANARY not in done.stdout + done.stderr
    return done.returncode, {each["check"]: each for each in json.loads(done.stdout)["checks"]}


def test_offline_every_line_is_clear(tmp_path: Path) -> None:
    code, found = checked(tmp_path, DISCORD_BOT_TOKEN=CANARY, CLANKIE_DISCORD_GUILDS="12345")
    assert code == 1
    assert {name for name, each in found.items() if each["state"] == "wrong"} == {"token", "model", "captain"}
    assert "check this machine's network" in found["token"]["said"]
    assert found["servers"]["state"] == "skipped"
    assert {found[name]["state"] for name in ("intent", "server", "bridge", "clock")} == {"skipped"}
    assert "set ANTHROPIC_API_KEY" in found["model"]["said"]


def test_a_model_that_nothing_answers_for_is_said(tmp_path: Path) -> None:
    settings = {"CLANKIE_MODEL": "openai:one", "CLANKIE_MODEL_BASE_URL": NOWHERE, "OPENAI_API_KEY": CANARY}
    _, found = checked(tmp_path, "--ask-model", DISCORD_BOT_TOKEN=CANARY, **settings)
    assert found["model"]["state"] == "wrong"
    assert "nothing answers at its address" in found["model"]["said"]


def test_a_wrong_setting_comes_first(tmp_path: Path) -> None:
    code, found = checked(tmp_path, CLANKIE_MODLE=CANARY)
    assert code == 1
    assert "did you mean CLANKIE_MODEL?" in found["settings"]["said"]
    assert list(found) == ["settings", "the rest"]


@pytest.mark.parametrize("trial", [False, True])
def test_a_tool_that_nobody_has_is_a_wrong_setting(tmp_path: Path, trial: bool) -> None:
    real = {} if trial else {"DISCORD_BOT_TOKEN": CANARY}
    _, found = checked(tmp_path, CLANKIE_TOOLS="draw_diagramm", **real)
    assert found["settings"]["state"] == "wrong"
    assert "did you mean draw_diagram?" in found["settings"]["said"]


@pytest.mark.parametrize(
    ("program", "state", "said"),
    [
        ("echo ' V....D vp9   VP9'", "note", "cannot read h264, hevc, vp8, av1"),
        ("exit 1", "wrong", "apt install ffmpeg"),
        ('for each in h264 hevc vp8 vp9 av1; do echo " V....D $each  x"; done', "ok", "reads what films"),
    ],
)
async def test_the_ffmpeg_that_the_captain_would_use_is_tried(
    tmp_path: Path, program: str, state: str, said: str
) -> None:
    own = tmp_path / "bin" / "ffmpeg"
    own.parent.mkdir()
    own.write_text(f"#!/bin/sh\n{program}\n", "utf-8")
    own.chmod(0o755)
    found = await programs.ffmpeg({"PATH": str(own.parent)})
    assert found.state == state
    assert said in found.said


async def test_a_machine_without_ffmpeg_is_told_how_to_get_it(tmp_path: Path) -> None:
    """Neither on PATH nor in a package: here by a package of that name that has none."""
    (tmp_path / "imageio_ffmpeg.py").write_text("raise ImportError\n", "utf-8")
    found = await programs.ffmpeg({"PATH": str(tmp_path), "PYTHONPATH": str(tmp_path)})
    assert found.state == "note"
    assert "apt install ffmpeg" in found.said


async def shown(folder: Path, **settings: str) -> tuple[Finding, Finding]:
    """What is said of pages and of paintings."""
    env = environment(folder, **settings)
    return await programs.pages(env, captain_settings(env)), programs.paintings(captain_settings(env))


async def test_pages_are_looked_at_where_somebody_may_see_them(tmp_path: Path) -> None:
    pages, paintings = await shown(tmp_path)
    assert (pages.state, paintings.state) == ("skipped", "skipped")
    granted = {"CLANKIE_TOOLS": "screen*,generate_image", "CLANKIE_BROWSER": str(tmp_path / "none")}
    pages, paintings = await shown(tmp_path, **granted)
    assert (pages.state, paintings.state) == ("note", "note")
    assert "install Chromium" in pages.said
    assert "CLANKIE_IMAGE_MODEL=" in paintings.said


async def test_a_browser_that_does_not_start_and_a_model_without_a_key_are_wrong(tmp_path: Path) -> None:
    more = {"CLANKIE_BROWSER": "/bin/false", "CLANKIE_BROWSER_SANDBOX": "off", "CLANKIE_IMAGE_MODEL": "openai:x"}
    pages, paintings = await shown(tmp_path, CLANKIE_TOOLS="screenshot_page", **more)
    assert (pages.state, paintings.state) == ("wrong", "wrong")
    assert "docs/threats.md" in pages.said
    assert "OPENAI_API_KEY" in paintings.said
    paid = {"OPENAI_API_KEY": "k", "CLANKIE_IMAGE_MODEL": "openai:x"}
    assert (await shown(tmp_path, **paid))[1].state == "note"
    assert (await shown(tmp_path, CLANKIE_TOOLS="generate_image", **paid))[1].state == "ok"


async def test_each_server_of_tools_is_asked_and_has_its_line(tmp_path: Path) -> None:
    file, command = tmp_path / "mcp.json", str(Path(sys.executable).with_name("mcp-server-time"))
    env = environment(tmp_path, CLANKIE_MCP_FILE=str(file))
    file.write_text(json.dumps({"mcpServers": {"time": {"command": command}, "x": {"command": "no-such"}}}), "utf-8")
    found = await programs.servers(env, captain_settings(env))
    assert found == [
        note("servers", 'time: 2 tools, granted to nobody: name "time_*"'),
        wrong("servers", "x: its command is no program on PATH; install it, or write its whole path (docs/mcp.md)"),
    ]
    file.write_text('{"mcpServers": {"time": {}}}', "utf-8")
    (found,) = await programs.servers(env, captain_settings(env))
    assert "mcpServers.time (mcp.json): expected either command" in found.said


@pytest.mark.requirement("GRANT-4")
async def test_the_sandbox_is_tried_where_somebody_is_trusted_with_the_machine(tmp_path: Path) -> None:
    found = await walled(tmp_path)
    assert found.state == "skipped"
    assert "clankie send" in found.said
    found = await walled(tmp_path, CLANKIE_SYSTEM_ACTORS="12345", PATH=str(tmp_path))
    assert found.state == "note"
    assert "apt install bubblewrap" in found.said


async def walled(folder: Path, **settings: str) -> Finding:
    """What is said of the machine."""
    env = {**environment(folder), **settings}
    return await programs.machine(env, captain_settings(env), folder)


def test_of_a_trial_it_says_what_the_trials_own_lists_grant(tmp_path: Path) -> None:
    """The owner's own lists hold on Discord alone, so what they grant is granted to nobody on the stage."""
    nowhere = {"PATH": str(tmp_path), "CLANKIE_SYSTEM_ACTORS": "12345", "CLANKIE_SEARCH": "brave"}
    _, found = checked(tmp_path, CLANKIE_TOOLS="fork", **nowhere)
    assert (found["machine"]["state"], found["search"]["state"]) == ("skipped", "skipped")
    file = tmp_path / "state" / "stage" / "clankie.toml"
    file.parent.mkdir(parents=True)
    file.write_text('system_actors = ["12345"]\n[roles."12345"]\ntools = ["search_web"]\n', "utf-8")
    _, found = checked(tmp_path, CLANKIE_TOOLS="fork", **nowhere)
    assert (found["machine"]["state"], found["search"]["state"]) == ("note", "wrong")
    file.write_text("system_acters = []\n", "utf-8")
    _, found = checked(tmp_path)
    assert "did you mean system_actors? (the trial's, " in found["settings"]["said"]


@needs_a_sandbox
@pytest.mark.requirement("GRANT-4")
async def test_a_machine_that_can_keep_commands_in_is_said(tmp_path: Path) -> None:
    found = await walled(tmp_path, CLANKIE_SYSTEM_ACTORS="12345", CLANKIE_MACHINE_NETWORK="on")
    said = "commands run in bubblewrap, in the workspace alone, with the public web"
    assert (found.state, found.said) == ("ok", said)


@needs_a_sandbox
@pytest.mark.requirement("GRANT-4")
async def test_what_settings_name_where_commands_would_see_it_is_said(tmp_path: Path) -> None:
    settings = {"CLANKIE_SYSTEM_ACTORS": "12345", "CLANKIE_DATABASE_URL": "sqlite+aiosqlite:////usr/none.db"}
    found = await walled(tmp_path, **settings)
    assert found.state == "note"
    assert "out of /usr" in found.said


@pytest.mark.parametrize(
    ("policy", "said"), [("owner", "set CLANKIE_OWNER_ID"), ("allowlist", "set CLANKIE_DISCORD_USERS")]
)
def test_a_policy_that_lets_nobody_in_is_wrong(tmp_path: Path, policy: str, said: str) -> None:
    _, found = checked(tmp_path, CLANKIE_DISCORD_DM_POLICY=policy)
    assert said in found["settings"]["said"]


async def database(state: Path) -> list[Finding]:
    """What is said of the database in a state folder."""
    env = environment(state)
    return await programs.database(env, captain_settings(env), state)


async def test_a_database_of_a_newer_version_says_what_to_upgrade(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "captain.db")) as connection, connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        connection.execute("INSERT INTO alembic_version VALUES ('9999')")
        connection.execute("CREATE TABLE lane (id TEXT)")
    found, _ = await database(tmp_path)
    assert found.state == "wrong"
    assert "upgrade this one" in found.said


async def test_a_database_that_is_broken_is_said(tmp_path: Path) -> None:
    (tmp_path / "captain.db").write_bytes(b"no database" * 1_000)
    assert "cannot be read" in (await database(tmp_path))[0].said


@pytest.mark.requirement("DUR-3")
async def test_a_database_of_another_program_is_said_and_a_risky_sqlite_beside_it(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "captain.db")) as connection, connection:
        connection.execute("CREATE TABLE places (url TEXT)")
    found, sqlite = await database(tmp_path)
    assert found.state == "wrong"
    assert "set CLANKIE_DATABASE_URL" in found.said
    assert sqlite.state == ("note" if is_old(sqlite3.sqlite_version_info) else "ok")
    assert sqlite3.sqlite_version in sqlite.said


def test_each_finding_is_one_line() -> None:
    shown = table([ok("token", "it is\nthat of\x1b[2J a bot"), wrong("clock", "no")])
    assert len(shown.split("\n")) == 2
    assert all(char.isprintable() for line in shown.split("\n") for char in line)
    assert table([Finding("model", "note", "x")]).startswith("note     model")
