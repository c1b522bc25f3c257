"""``clankie up`` on the stage: a page in two commands, an answer on it, and nothing left behind."""

import json
import signal
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.cli.launching import Launched, alive, called, clankie, launched, somewhere, until
from tests.ports import free_ports

pytestmark = [pytest.mark.system, pytest.mark.timeout(300)]


def told(up: Launched, verb: str, **arguments: Any) -> Any:
    """What the stage answers to a verb."""
    request = urllib.request.Request(
        f"{up.page}/_stage/{verb}", json.dumps(arguments).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["value"]


def answer_to(up: Launched, user: str, content: str, room: str = "general") -> str:
    """What he replies to a message that somebody writes on the stage."""
    message = told(up, "say", user=user, content=content, room=room)
    reply = {"author": {"bot": True}, "message_reference": {"message_id": message["id"]}}
    return told(up, "wait_messages", room=room, match=reply, within_s=90)[0]["content"]


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launched]:
    """One trial that several tests look at; it runs in a folder whose settings would silence another one."""
    folder = tmp_path_factory.mktemp("trial")
    (folder / ".env").write_text("CLANKIE_DISCORD_CHANNELS=12345\nCLANKIE_DISCORD_ROLES=12345\n", "utf-8")
    (folder / "clankie.toml").write_text('discord_guilds = ["12345"]\nnames = ["Clankie", "Robot"]\n', "utf-8")
    with launched(folder) as up:
        up.line("Ctrl-C stops everything")
        yield up


def test_the_page_is_there_and_the_addresses_are_said(trial: Launched) -> None:
    with urllib.request.urlopen(f"{trial.page}/", timeout=30) as page:
        assert page.status == 200
    for said in (
        trial.page,
        f"http://127.0.0.1:{trial.captain_port}",
        "rehearsal",
        "clankie status",
        "Try in #general",
    ):
        assert said in trial.said


def test_progress_is_shown_step_by_step(trial: Launched) -> None:
    said = [trial.said.index(f"{name} ready after") for name in ("stage", "captain", "bridge")]
    assert said == sorted(said)


@pytest.mark.parametrize("user", ["Ann", "Bob", "The owner"])
def test_whoever_writes_on_the_page_is_answered_by_the_rehearsal_model(trial: Launched, user: str) -> None:
    assert answer_to(trial, user, "@Clankie hello there") == f"{user}, I heard \u201c@Clankie hello there\u201d."


def test_a_dm_is_answered_too(trial: Launched) -> None:
    rooms = told(trial, "describe")["rooms"]
    people = {each["display_name"]: each["id"] for each in told(trial, "describe")["users"]}
    dm = next(each["id"] for each in rooms if any(one["id"] == people["Ann"] for one in each.get("recipients", ())))
    message = told(trial, "say", user="Ann", content="hello in private", room=dm)
    replies = told(trial, "wait_messages", room=dm, match={"author": {"bot": True}}, within_s=90)
    assert message["channel_id"] == dm
    assert "hello in private" in replies[0]["content"]


def test_names_of_the_settings_hold_on_the_stage_as_well(trial: Launched) -> None:
    assert "Robot" in answer_to(trial, "Ann", "Robot, are you there?", room="random")


def test_a_trial_keeps_to_a_state_folder_of_its_own(trial: Launched) -> None:
    state = trial.folder / "state"
    assert [each.name for each in state.iterdir()] == ["stage"]
    token = state / "stage" / "secrets" / "captain-token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    shown = called(trial.folder, trial.env, "token", "captain")
    assert shown.stdout.strip() == token.read_text("ascii").strip()


def test_status_says_how_he_is(trial: Launched) -> None:
    shown = called(trial.folder, trial.env, "status")
    assert shown.returncode == 0, shown.stderr
    assert f"ready at http://127.0.0.1:{trial.captain_port}" in shown.stdout
    for said in ("version", "live runs", "waiting", "lanes", "discord, last alive"):
        assert said in shown.stdout


def test_status_for_programs_is_json(trial: Launched) -> None:
    shown = called(trial.folder, trial.env, "status", "--json")
    said = json.loads(shown.stdout)
    assert (said["reachable"], said["ready"], said["problem"]) == (True, True, None)
    assert said["stats"]["presences"][0]["id"] == "discord"


def test_status_with_a_foreign_operator_token_says_what_to_set(trial: Launched) -> None:
    shown = called(trial.folder, trial.env | {"CLANKIE_OPERATOR_TOKEN": "x" * 20}, "status")
    assert shown.returncode == 1
    assert "CLANKIE_OPERATOR_TOKEN" in shown.stdout


def test_a_second_one_says_which_setting_to_change(trial: Launched, tmp_path: Path) -> None:
    second = clankie(tmp_path, trial.env, "up")
    assert second.returncode == 78
    assert f"port {trial.stage_port} cannot be listened on" in second.stderr
    assert "set CLANKIE_STAGE_PORT" in second.stderr
    third = clankie(tmp_path, trial.env | {"CLANKIE_STAGE_PORT": "0"}, "up")
    assert third.returncode == 78
    assert f"set CLANKIE_CAPTAIN_URL to another port, for example http://127.0.0.1:{trial.captain_port + 1}" in (
        third.stderr
    )


@pytest.mark.parametrize("name", ["captain", "bridge"])
def test_a_killed_program_starts_again_and_answers(trial: Launched, name: str) -> None:
    trial.programs()[name].kill()
    trial.line(f"{name} was killed by SIGKILL; it starts again in")
    if name == "bridge":  # what is written meanwhile is not heard yet
        trial.line("gateway_ready")
    assert "still with us" in answer_to(trial, "Bob", "@Clankie are you still with us?", room="random")


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_leaves_no_process(tmp_path: Path, sign: signal.Signals) -> None:
    with launched(tmp_path) as up:
        up.line("Ctrl-C stops everything")
        programs = up.programs()
        assert sorted(programs) == ["bridge", "captain", "stage"]
        up.process.send_signal(sign)
        assert up.rest() == 0
        assert not alive(programs)
        assert "everything has stopped" in up.said
        assert "killed" not in up.said.replace("once more kills", "")
        assert "Traceback" not in up.said


def test_a_stop_while_it_starts_leaves_no_process(tmp_path: Path) -> None:
    with launched(tmp_path) as up:
        up.line("starting the captain")
        assert until(lambda: "captain" in up.programs())
        programs = up.programs()
        up.process.send_signal(signal.SIGINT)
        assert up.rest() == 0
        assert not alive(programs)
        assert "Traceback" not in up.said


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of its parent's death")
def test_no_program_outlives_a_killed_command(tmp_path: Path) -> None:
    with launched(tmp_path) as up:
        up.line("bridge ready after")
        programs = up.programs()
        up.process.kill()
        assert until(lambda: not alive(programs))


def test_the_end_of_the_stage_ends_everything(tmp_path: Path) -> None:
    with launched(tmp_path) as up:
        up.line("captain ready after")
        programs = up.programs()
        programs["stage"].kill()
        up.line("stage was killed by SIGKILL, so everything stops")
        assert up.rest() == 1
        assert not alive(programs)


def test_a_configuration_that_one_program_refuses_stops_everything_with_its_words(tmp_path: Path) -> None:
    with launched(tmp_path, CLANKIE_PERSONA_FILE="/nowhere/persona.md") as up:
        up.line("captain ended with exit code 78, so everything stops. It said: ")
        assert "CLANKIE_PERSONA_FILE" in up.lines[-1]
        assert up.rest() == 78


def test_a_token_that_discord_refuses_stops_everything_with_what_to_do(tmp_path: Path, trial: Launched) -> None:
    settings = {
        "DISCORD_BOT_TOKEN": "MTIzNDU2Nzg5MDEyMzQ1Njc4.wrong.token",
        "OPENAI_API_KEY": "CANARY",
        "CLANKIE_DISCORD_REST_URL": f"{trial.page}/api/v10",
    }
    with launched(tmp_path, **settings) as up:
        up.line("bridge ended with exit code 78, so everything stops. It said: ")
        assert "DISCORD_BOT_TOKEN" in up.lines[-1]
        assert up.rest() == 78
        assert "stage" not in up.said.partition("so everything stops")[0]
        assert "CANARY" not in up.said


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"DISCORD_BOT_TOKEN": "CANARY"}, "no model: set ANTHROPIC_API_KEY or OPENAI_API_KEY"),
        ({"DISCORD_BOT_TOKEN": "CANARY", "CLANKIE_MODEL": "rehearsal"}, "the stage does not run beside your Discord"),
        ({"CLANKIE_MODEL_BASE_URL": "http://127.0.0.1:1"}, "set CLANKIE_MODEL too"),
        ({"CLANKIE_MODLE": "CANARY"}, "did you mean CLANKIE_MODEL?"),
        ({"CLANKIE_CAPTAIN_URL": "http://192.0.2.1:4310"}, "set CLANKIE_CAPTAIN_URL"),
    ],
)
def test_what_is_missing_is_said_in_one_line_before_anything_starts(
    tmp_path: Path, settings: dict[str, str], said: str
) -> None:
    with launched(tmp_path, **settings) as up:
        assert up.rest() == 78
        assert len(up.lines) == 1
        assert said in up.lines[0]
        assert "CANARY" not in up.said
        assert not (tmp_path / "state").exists()


def test_output_that_nobody_reads_any_more_leaves_no_process(tmp_path: Path) -> None:
    stage, captain = free_ports(2)
    env = somewhere(tmp_path, (stage, captain))
    gone = subprocess.Popen(
        [sys.executable, "-m", "clankie_cli", "up"], cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True
    )
    assert gone.stdout is not None
    gone.stdout.readline()
    gone.stdout.close()
    assert gone.wait(100) == 1
    assert not [each for each in psutil.Process().children(recursive=True) if str(tmp_path) in each.cwd()]
