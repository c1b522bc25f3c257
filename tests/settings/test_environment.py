"""Settings: one name each, the environment first, nothing unknown, and no value in what is said about them."""

import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_settings.environment import (
    SettingsError,
    bridge_settings,
    captain_settings,
    launch_settings,
    process_environment,
    variable,
)
from clankie_settings.schema import BridgeSettings, CaptainSettings, LaunchSettings

DOCUMENTS = Path(__file__).resolve().parents[2]
READERS: list[tuple[type[Any], Callable[[dict[str, str]], Any]]] = [
    (CaptainSettings, captain_settings),
    (BridgeSettings, bridge_settings),
    (LaunchSettings, launch_settings),
]
SECRETS = ("discord_bot_token", "anthropic_api_key", "openai_api_key", "captain_token", "operator_token")
ELSEWHERE = {"browser", "workspace"}
FIELDS = sorted({(field, read) for kind, read in READERS for field in kind.model_fields}, key=str)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def toml(text: str) -> None:
    Path("clankie.toml").write_text(text, "utf-8")


def refusal(read: Callable[[dict[str, str]], Any], env: dict[str, str]) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        read(env)
    assert "CANARY" not in str(caught.value)
    assert caught.value.name
    assert caught.value.reason
    return caught.value


def test_nothing_needs_to_be_set() -> None:
    captain, bridge, launch = captain_settings({}), bridge_settings({}), launch_settings({})
    assert captain.captain_address == ("127.0.0.1", 4310)
    assert captain.stall_after.total_seconds() == 300
    assert (captain.model, captain.live_runs, bridge.names, launch.stage_port) == (None, 16, ("Clankie",), 4320)
    assert (bridge.discord_guilds, bridge.discord_dm_policy, bridge.reply_policy) == ((), "deny", "addressed")


def test_the_environment_wins_over_the_file_and_the_file_over_the_default() -> None:
    toml('model = "openai:file"\nlive_runs = 3\nnames = ["Ann", "Bob"]\n')
    captain = captain_settings({"CLANKIE_MODEL": " anthropic:environment "})
    assert (captain.model, captain.live_runs, captain.names) == ("anthropic:environment", 3, ("Ann", "Bob"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CLANKIE_CAPTAIN_BIND", "0.0.0.0:4310"),
        ("CLANKIE_CAPTAIN_BIND", "[::1]:4310"),
        ("CLANKIE_DATABASE_URL", "sqlite+aiosqlite:///a.sqlite"),
        ("CLANKIE_DATABASE_URL", "postgresql+asyncpg://user@host/name"),
        ("CLANKIE_ROOM_LOOP", "all"),
        ("CLANKIE_ROOM_LOOP", "12345:67890,12345:67891"),
        ("CLANKIE_MODEL_BASE_URL", "https://models.example.test/v1"),
    ],
)
def test_what_fits_is_taken_as_it_stands(name: str, value: str) -> None:
    assert getattr(captain_settings({name: value}), name.removeprefix("CLANKIE_").lower()) == value


@pytest.mark.parametrize("blank", ["", " ", "\t"])
def test_a_blank_value_is_unset_wherever_it_stands(blank: str) -> None:
    toml('captain_url = "http://127.0.0.1:5000"\nmodel = " "\nstate = ""\n')
    captain = captain_settings({"CLANKIE_CAPTAIN_URL": blank, "CLANKIE_OWNER_ID": blank})
    assert (captain.captain_url, captain.model, captain.owner_id) == ("http://127.0.0.1:5000", None, None)
    assert captain.state == captain_settings({}).state


def test_a_list_is_read_alike_from_the_environment_and_the_file() -> None:
    toml('discord_guilds = [12345, "67890", "*"]\n')
    given_in_file = bridge_settings({}).discord_guilds
    assert given_in_file == bridge_settings({"CLANKIE_DISCORD_GUILDS": "12345, 67890,,*"}).discord_guilds
    assert given_in_file == ("12345", "67890", "*")


def test_a_room_and_a_presence_are_tables() -> None:
    toml('[rooms."12345:67890"]\nreply_policy = "all"\ncard = false\n[presences.console]\ntoken = "0123456789abcdef"\n')
    captain = captain_settings({})
    assert captain.rooms["12345:67890"].reply_policy == "all"
    assert captain.presences["console"].token.get_secret_value() == "0123456789abcdef"
    assert bridge_settings({}).rooms == captain.rooms


def test_another_file_can_be_named(tmp_path: Path) -> None:
    toml("live_runs = 3\n")
    other = tmp_path / "other.toml"
    # As some editors save it, with a mark at its beginning.
    other.write_text("live_runs = 4\n", "utf-8-sig")
    assert captain_settings({"CLANKIE_CONFIG": str(other)}).live_runs == 4
    assert captain_settings({"CLANKIE_CONFIG": " "}).live_runs == 3


@pytest.mark.parametrize(
    ("env", "name", "hint"),
    [
        ({"CLANKIE_MODLE": "CANARY"}, "CLANKIE_MODLE", "did you mean CLANKIE_MODEL?"),
        ({"CLANKIE_DISCORD_GUILD": "CANARY"}, "CLANKIE_DISCORD_GUILD", "did you mean CLANKIE_DISCORD_GUILDS?"),
        ({"CLANKIE_DISCORD_BOT_TOKEN": "CANARY"}, "CLANKIE_DISCORD_BOT_TOKEN", "did you mean DISCORD_BOT_TOKEN?"),
        ({"CLANKIE_ZZZ": "CANARY"}, "CLANKIE_ZZZ", "docs/settings.md lists them all"),
        ({"CLANKIE_": ""}, "CLANKIE_", "is no variable of Clankie"),
    ],
)
@pytest.mark.parametrize("reader", [each[1] for each in READERS])
def test_an_unknown_variable_is_refused_with_a_hint(
    reader: Callable[[dict[str, str]], Any], env: dict[str, str], name: str, hint: str
) -> None:
    error = refusal(reader, env)
    assert error.name == name
    assert hint in error.reason


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ('modle = "CANARY"', "modle", "did you mean model?"),
        ('CLANKIE_MODEL = "CANARY"', "CLANKIE_MODEL", "is no key of clankie.toml"),
        ('[rooms."12345:67890"]\ncart = "CANARY"', "rooms.12345:67890.cart (clankie.toml)", "did you mean card?"),
        ('[rooms."12345"]\ncard = true', "rooms.12345 (clankie.toml)", "expected guildId:channelId"),
        ('[rooms."12345:67890"]\ncard = "CANARY"', "rooms.12345:67890.card (clankie.toml)", "expected true or false"),
        ('rooms = "CANARY"', "rooms (clankie.toml)", "expected a table"),
        ('[rooms]\n"12345:67890" = "CANARY"', "rooms.12345:67890 (clankie.toml)", "expected a table"),
        ("[presences.console]", "presences.console.token (clankie.toml)", "is not set"),
        ('[presences.console]\ntoken = "CANARY"', "presences.console.token (clankie.toml)", "at least 16"),
        ('live_runs = "CANARY"', "live_runs (clankie.toml)", "expected a whole number"),
        ("stall_seconds = true", "stall_seconds (clankie.toml)", "expected a number"),
        ('persona_file = "~CANARY/text"', "persona_file (clankie.toml)", "somebody who has none here"),
        ("live_runs = true", "live_runs (clankie.toml)", "expected a whole number"),
        ("model = 5", "model (clankie.toml)", "expected text in quotes"),
        ("state = 5", "state (clankie.toml)", "expected the path of a folder"),
        ("discord_attachment_root = []", "discord_attachment_root (clankie.toml)", "expected the path of a folder"),
        ('system_actors = "CANARY"', "system_actors.0 (clankie.toml)", "Copy ID"),
        ("system_actors = 12345", "system_actors (clankie.toml)", "expected a list"),
        ("model = CANARY", "clankie.toml", "is not valid TOML at line 1, column 9"),
        ('model = "CANARY', "clankie.toml", "is not valid TOML"),
        ('names = "\\CANARY"', "clankie.toml", "is not valid TOML at line 1"),
        ('a.CANARY = 1\na.CANARY.b = "CANARY"', "clankie.toml", "is not valid TOML"),
    ],
)
def test_what_is_wrong_in_the_file_is_said_without_repeating_it(text: str, name: str, said: str) -> None:
    toml(text)
    error = refusal(captain_settings, {})
    assert error.name == name
    assert said in error.reason


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    assert "correct the path" in refusal(captain_settings, {"CLANKIE_CONFIG": str(tmp_path / "CANARY.toml")}).reason
    (tmp_path / "clankie.toml").write_bytes(b"model = '\xff'")
    assert refusal(captain_settings, {}).reason == "is not UTF-8 text"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CLANKIE_MODEL", "CANARY"),
        ("CLANKIE_MODEL_FALLBACKS", "openai:a,CANARY"),
        ("CLANKIE_MODEL_WINDOW", "CANARY"),
        ("CLANKIE_MODEL_BASE_URL", "ftp://CANARY"),
        ("CLANKIE_CAPTAIN_URL", "http://CANARY:99999"),
        ("CLANKIE_CAPTAIN_URL", "http://name:CANARY@127.0.0.1"),
        ("CLANKIE_CAPTAIN_URL", "http://[CANARY"),
        ("CLANKIE_CAPTAIN_BIND", "CANARY"),
        ("CLANKIE_CAPTAIN_BIND", "CANARY:65536"),
        ("CLANKIE_DATABASE_URL", "mysql://CANARY:CANARY@host/a"),
        ("CLANKIE_IMAGES", "CANARY"),
        ("CLANKIE_ROOM_LOOP", "CANARY"),
        ("CLANKIE_SYSTEM_ACTORS", "CANARY"),
        ("CLANKIE_SYSTEM_ROOMS", "12345"),
        ("CLANKIE_OPERATOR_TOKEN", "CANARY\nCANARY"),
        ("CLANKIE_CAPTAIN_TOKEN", "CANARY-ä"),
        ("ANTHROPIC_API_KEY", "Bearer CANARY"),
        ("CLANKIE_KEEP_DAYS", "9999999999"),
        ("CLANKIE_KEEP_PICTURE_DAYS", "9999999999"),
        ("CLANKIE_TOKENS_A_DAY", "9" * 20),
        ("CLANKIE_ROOM_TOKENS_A_DAY", "9" * 20),
        ("CLANKIE_ACTOR_MESSAGES", "9" * 20),
        ("CLANKIE_MODEL_WINDOW", "9" * 20),
        ("CLANKIE_STALL_SECONDS", "0"),
        ("CLANKIE_STALL_SECONDS", "nan"),
        ("CLANKIE_LIVE_RUNS", "0"),
        ("CLANKIE_OWNER_ID", "CANARY"),
        ("CLANKIE_OWNER_ID", "\uff11\uff12\uff13\uff14\uff15"),
    ],
)
def test_an_unusable_value_is_refused_under_its_variable(name: str, value: str) -> None:
    error = refusal(captain_settings, {name: value})
    assert error.name.partition(".")[0] == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CLANKIE_DISCORD_GUILDS", "12345,CANARY"),
        ("CLANKIE_DISCORD_CHANNELS", "*"),
        ("CLANKIE_DISCORD_DM_POLICY", "CANARY"),
        ("CLANKIE_DISCORD_BOTS", "CANARY"),
        ("CLANKIE_REPLY_POLICY", "CANARY"),
    ],
)
def test_an_unusable_value_of_the_bridge_is_refused_under_its_variable(name: str, value: str) -> None:
    assert refusal(bridge_settings, {name: value}).name.partition(".")[0] == name


def test_each_process_minds_only_its_own_values() -> None:
    assert captain_settings({"CLANKIE_REPLY_POLICY": "CANARY"})
    assert bridge_settings({"CLANKIE_MODEL": "CANARY"})


@pytest.mark.requirement("SEC-2")
@given(st.sampled_from(FIELDS), st.text(string.printable, max_size=60))
def test_no_error_and_no_settings_repeat_a_value(
    chosen: tuple[str, Callable[[dict[str, str]], Any]], text: str
) -> None:
    field, read = chosen
    try:
        understood = read({variable(field): f"CANARY{text}"})
    except SettingsError as error:
        said = f"{error} {error.__cause__} {error.reason}"
    else:
        said = repr(understood) if field in SECRETS else ""
    assert "CANARY" not in said


@pytest.mark.requirement("SEC-2")
@given(st.text(string.ascii_letters, min_size=10).map(lambda text: f"CANARY{text}"))
def test_settings_do_not_show_their_secrets(value: str) -> None:
    env = {"DISCORD_BOT_TOKEN": value, "OPENAI_API_KEY": value, "CLANKIE_OPERATOR_TOKEN": value}
    for _, read in READERS:
        assert "CANARY" not in f"{read(env)!r} {read(env)} {read(env).model_dump_json()}"


def test_variables_of_a_file_stand_behind_those_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("CLANKIE_MODEL=rehearsal\nCLANKIE_NAMES=File\nCLANKIE_OWNER_ID=12345\n", "utf-8")
    monkeypatch.setenv("CLANKIE_NAMES", "Process")
    monkeypatch.setenv("CLANKIE_MODEL", " ")
    monkeypatch.setenv("CLANKIE_PERSONA_FILE", "")
    env = process_environment()
    captain = captain_settings(env)
    assert (captain.names, captain.owner_id, captain.model) == (("Process",), "12345", "rehearsal")
    assert captain.persona_file is None


def test_a_file_of_variables_that_cannot_be_read_is_said() -> None:
    Path(".env").write_bytes(b"CLANKIE_MODEL=\xff\n")
    with pytest.raises(SettingsError, match=r"\.env: the file cannot be read"):
        process_environment()


@pytest.mark.parametrize("line", ['CLANKIE_NAMES="CANARY', "CANARY CANARY", "=CANARY", "CANARY", "export CANARY"])
def test_a_line_of_the_file_of_variables_that_is_none_is_refused_and_not_passed_over(line: str) -> None:
    Path(".env").write_text(f"CLANKIE_MODEL=rehearsal\n{line}\n", "utf-8")
    with pytest.raises(SettingsError, match=r"\.env: line 2 is no NAME=value") as refused:
        process_environment()
    assert "CANARY" not in str(refused.value)


def test_without_files_the_process_alone_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLANKIE_NAMES", "Process")
    assert process_environment()["CLANKIE_NAMES"] == "Process"


def test_every_setting_is_documented_and_in_the_example() -> None:
    documented = (DOCUMENTS / "docs/settings.md").read_text("utf-8")
    example = (DOCUMENTS / ".env.example").read_text("utf-8")
    for field, _ in FIELDS:
        if field in ("actors", "presences", "roles", "rooms", "tool_sets"):
            assert f"[{field}" in documented
        else:
            assert f"`{variable(field)}`" in documented
            assert f"{variable(field)}=" in example


def test_the_example_itself_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (DOCUMENTS / ".env.example").read_text("utf-8")
    lines = [line.removeprefix("#") for line in text.splitlines()]
    Path(".env").write_text("\n".join(line for line in lines if line.partition("=")[0].isupper()), "utf-8")
    env = process_environment()
    assert sum(name.startswith("CLANKIE_") for name in env) > 25
    for _, read in READERS:
        assert read(env)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("keep_days = 6", "keep_days (clankie.toml): expected 7 or more"),
        ("keep_days = 7.5", "keep_days (clankie.toml): expected a whole number"),
        ("keep_days = []", "keep_days (clankie.toml): expected a whole number"),
        ("stall_seconds = 0", "stall_seconds (clankie.toml): expected more than 0"),
        ("stall_seconds = 86401", "stall_seconds (clankie.toml): expected 86400 or less"),
        ("stall_seconds = nan", "stall_seconds (clankie.toml): expected 86400 or less"),
        ("stall_seconds = []", "stall_seconds (clankie.toml): expected a number"),
        ('images = "CANARY"', "images (clankie.toml): expected 'on' or 'off'"),
        (
            '[presences.console]\ntoken = "CANARY"',
            "presences.console.token (clankie.toml): expected at least 16 characters; `openssl rand -hex 24` makes",
        ),
        (
            '[presences."CANARY"]\ntoken = "sixteen characters"',
            "expected a name of a-z, 0-9 and -, which begins with a letter",
        ),
    ],
)
def test_a_value_out_of_bounds_is_refused_in_a_sentence_that_says_the_bound(line: str, says: str) -> None:
    toml(line)
    with pytest.raises(SettingsError) as caught:
        captain_settings({})
    assert says in str(caught.value)
    assert "Input should" not in str(caught.value)


@pytest.mark.requirement("GRANT-4")
def test_every_path_that_is_set_is_the_captains_own_but_those_that_are_meant_for_others(folder: Path) -> None:
    """A new setting that names a file is hidden from commands, or stands among the exceptions."""
    (folder / "own.toml").touch()
    env = {"CLANKIE_CONFIG": "own.toml", "CLANKIE_DATABASE_URL": f"sqlite+aiosqlite:///{folder}/own.db?timeout=9"}
    paths = {name for name, field in CaptainSettings.model_fields.items() if "Path" in str(field.annotation)}
    env |= {variable(name): f"~/{name}" for name in paths}
    found = captain_settings(env).own_places
    assert paths > ELSEWHERE
    own = {Path.home() / name for name in paths - ELSEWHERE}
    assert set(found) == {folder, folder / "own.toml", folder / "own.db", *own}
