"""The first set-up, with a stage as Discord: what is asked, what is written, and what is said when it is not right."""

import json
import re
import stat
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dotenv
import pytest

from clankie_stage.discord.scenery import BOT_ID, GUILD_ID, OWNER_ID
from tests.cli.launching import PATIENCE_S, called, environment

pytestmark = [pytest.mark.system, pytest.mark.timeout(300)]

KEY = "CANARY-key-of-a-provider"


@dataclass(frozen=True, slots=True)
class Discord:
    """A stage in a process of its own."""

    url: str
    token: str

    def verb(self, name: str, **arguments: Any) -> Any:
        request = urllib.request.Request(
            f"{self.url}/_stage/{name}", json.dumps(arguments).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)["value"]


@pytest.fixture(scope="module")
def running() -> Iterator[Discord]:
    command = [sys.executable, "-m", "clankie_stage", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().removeprefix("stage listening on ").strip()
        yield Discord(url, Discord(url, "").verb("describe")["token"])
        process.terminate()


@pytest.fixture
def discord(running: Discord) -> Discord:
    running.verb("reset")
    return running


def settings(folder: Path, discord: Discord, **more: str) -> dict[str, str]:
    return environment(folder, CLANKIE_DISCORD_REST_URL=f"{discord.url}/api/v10", **more)


def given(folder: Path, discord: Discord, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    """``clankie init`` without a person."""
    secrets = {"DISCORD_BOT_TOKEN": discord.token, "ANTHROPIC_API_KEY": KEY}
    return called(folder, settings(folder, discord, **secrets, **more), "init", "--no-input", *options)


def asked(folder: Path, discord: Discord, *answers: str, **more: str) -> subprocess.CompletedProcess[str]:
    """``clankie init`` with a person who types these lines."""
    command = [sys.executable, "-m", "clankie_cli", "init"]
    return subprocess.run(
        command,
        cwd=folder,
        env=settings(folder, discord, **more),
        input="".join(f"{each}\n" for each in answers),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def written(folder: Path) -> dict[str, Any]:
    toml = folder / "clankie.toml"
    return {**dotenv.dotenv_values(folder / ".env"), **tomllib.loads(toml.read_text("utf-8"))}


@pytest.mark.requirement("OPS-9")
def test_a_person_is_asked_for_five_things_and_has_good_defaults(tmp_path: Path, discord: Discord) -> None:
    done = asked(tmp_path, discord, discord.token, "", "", "", "", "", "", KEY, "", "")
    assert done.returncode == 0, done.stdout + done.stderr
    assert written(tmp_path) == {
        "DISCORD_BOT_TOKEN": discord.token,
        "ANTHROPIC_API_KEY": KEY,
        "discord_guilds": [GUILD_ID],
        "owner_id": OWNER_ID,
        "names": ["Clankie"],
        "discord_dm_policy": "owner",
    }
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert f"client_id={BOT_ID}&scope=bot&permissions=274878024768" in done.stdout
    assert "Start him with: clankie up" in done.stdout
    for secret in (discord.token, KEY):
        assert secret not in done.stdout + done.stderr
    assert set(re.findall(r"^(\w+) +\w+ ", done.stdout, re.MULTILINE)) & {"ok", "wrong"} == {"ok"}


@pytest.mark.requirement("ING-8")
def test_a_wrong_answer_is_asked_for_again_and_what_discord_lacks_is_said(tmp_path: Path, discord: Discord) -> None:
    discord.verb("behave", application_flags=0)
    answers = ["not a token", "wrong.token", discord.token, "", "general", GUILD_ID, "me", "", "grok", "openai", "", ""]
    done = asked(tmp_path, discord, *answers, KEY, "Robo, Clank", "sometimes", "deny")
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.count("Message Content Intent is off") == 2
    assert "Mend what is wrong above" in done.stdout
    for said in (
        "without a blank",
        "refuses the token",
        "expected a Discord id",
        "expected anthropic",
        "expected deny",
    ):
        assert said in done.stdout
    found = written(tmp_path)
    assert (found["OPENAI_API_KEY"], found["names"]) == (KEY, ["Robo", "Clank"])
    assert found["discord_dm_policy"] == "deny"


@pytest.mark.parametrize("lines", [0, 1, 5, 9])
def test_whoever_leaves_amid_the_questions_leaves_nothing_behind(tmp_path: Path, discord: Discord, lines: int) -> None:
    answers = [discord.token, "", "", "", "", "", "", KEY, "", ""][:lines]
    done = asked(tmp_path, discord, *answers)
    assert done.returncode == 78
    assert "nobody answers" in done.stderr
    assert not [*tmp_path.iterdir()]


def test_without_a_person_everything_is_said_by_options_and_environment(tmp_path: Path, discord: Discord) -> None:
    options = (
        "--guild",
        GUILD_ID,
        "--guild",
        "12345",
        "--owner",
        "67890",
        "--name",
        "Robo",
        "--dm-policy",
        "allowlist",
    )
    done = given(tmp_path, discord, *options, "--model", "one", "--provider", "anthropic", "--no-check")
    assert done.returncode == 0, done.stderr
    found = written(tmp_path)
    assert found["discord_guilds"] == [GUILD_ID, "12345"]
    assert (found["owner_id"], found["names"], found["discord_dm_policy"]) == ("67890", ["Robo"], "allowlist")
    assert found["model"] == "anthropic:one"


@pytest.mark.parametrize(
    ("options", "more", "said"),
    [
        (("--guild", "general"), {}, "expected a Discord id"),
        (("--guild", GUILD_ID, "--base-url", "here"), {}, "--base-url: expected an address"),
        (("--guild", GUILD_ID, "--model", "a b"), {}, "--model: expected a name without a blank"),
        (("--provider", "openai"), {}, "OPENAI_API_KEY: set it in the environment"),
        (("--provider", "google"), {"GOOGLE_API_KEY": KEY}, "Name of the model"),
        ((), {"DISCORD_BOT_TOKEN": "CANARY.of.another"}, "refuses the token"),
    ],
)
def test_what_is_missing_without_a_person_is_said_and_nothing_written(
    tmp_path: Path, discord: Discord, options: tuple[str, ...], more: dict[str, str], said: str
) -> None:
    secrets = {"DISCORD_BOT_TOKEN": discord.token, "ANTHROPIC_API_KEY": KEY} | more
    done = called(tmp_path, settings(tmp_path, discord, **secrets), "init", "--no-input", *options)
    assert done.returncode == 78
    assert said in done.stderr
    assert "CANARY" not in done.stdout + done.stderr
    assert not [*tmp_path.iterdir()]


def test_files_that_are_there_are_changed_only_by_consent(tmp_path: Path, discord: Discord) -> None:
    (tmp_path / ".env").write_text("# mine\nCLANKIE_IMAGES=off\n", "utf-8")
    refused = given(tmp_path, discord, "--no-check")
    assert refused.returncode == 78
    assert "--replace" in refused.stderr
    declined = asked(tmp_path, discord, "n")
    assert declined.returncode == 78
    assert "nothing was written" in declined.stderr
    assert (tmp_path / ".env").read_text("utf-8") == "# mine\nCLANKIE_IMAGES=off\n"
    assert given(tmp_path, discord, "--no-check", "--replace", "--guild", GUILD_ID).returncode == 0
    assert (tmp_path / ".env").read_text("utf-8").startswith("# mine\nCLANKIE_IMAGES=off\nDISCORD_BOT_TOKEN=")


def test_a_question_without_an_answer_is_named(tmp_path: Path, discord: Discord) -> None:
    done = given(tmp_path, discord, "--no-check")
    assert done.stderr.startswith("clankie: Your server's id")
    assert "clankie init --help" in done.stderr


def test_a_second_set_up_takes_what_stands_for_granted(tmp_path: Path, discord: Discord) -> None:
    assert given(tmp_path, discord, "--no-check", "--guild", "12345", "--owner", "67890").returncode == 0
    before = (tmp_path / ".env").read_text("utf-8"), (tmp_path / "clankie.toml").read_text("utf-8")
    again = called(tmp_path, settings(tmp_path, discord), "init", "--no-input", "--replace", "--no-check")
    assert again.returncode == 0, again.stderr
    assert "nothing, since all of it stood there" in again.stdout
    assert before == ((tmp_path / ".env").read_text("utf-8"), (tmp_path / "clankie.toml").read_text("utf-8"))


@pytest.mark.requirement("OPS-9")
def test_what_was_set_up_is_what_the_doctor_finds_and_a_model_answers_it(tmp_path: Path, discord: Discord) -> None:
    options = ("--provider", "openai", "--base-url", f"{discord.url}/provider/v1", "--model", "rehearsed")
    assert given(tmp_path, discord, *options).returncode == 0
    env = settings(tmp_path, discord, CLANKIE_CAPTAIN_URL="http://127.0.0.1:9")
    done = called(tmp_path, env, "doctor", "--ask-model", "--json")
    found = json.loads(done.stdout)
    states = {each["check"]: (each["state"], each["said"]) for each in found["checks"]}
    assert (done.returncode, found["ok"]) == (1, False)
    assert states["model"] == ("ok", "rehearsed answers")
    assert states["captain"][0] == "wrong"
    assert "clankie up" in states["captain"][1]
    assert {name for name, (state, _) in states.items() if state == "wrong"} == {"captain"}
    assert discord.token not in done.stdout
    assert not (tmp_path / "state" / "secrets").exists()
