"""What is started, with which environment."""

from pathlib import Path

import pytest

from clankie_cli import plan
from clankie_cli.errors import CannotRun
from clankie_cli.plan import Stage
from clankie_cli.tokens import token
from clankie_settings.environment import bridge_settings, captain_settings, launch_settings, variable

TOLD = Stage("http://127.0.0.1:4999", "a.stage.token", "13000000001", ("13000000001", "13000000002"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def trial(env: dict[str, str]) -> dict[str, str]:
    captain, bridge = plan.on_stage(launch_settings(env), env, TOLD)
    assert captain.env == bridge.env
    assert captain.folder == bridge.folder == plan.trial_folder(launch_settings(env).state)
    return dict(captain.env)


def test_a_trial_admits_everybody_on_the_stage_and_nobody_else() -> None:
    env = {"CLANKIE_STATE": "/s", "CLANKIE_DISCORD_CHANNELS": "12345", "CLANKIE_DISCORD_ROLES": "12345", "PATH": "/bin"}
    made = trial(env)
    bridge = bridge_settings(made)
    assert made["PATH"] == "/bin"
    assert (bridge.discord_guilds, bridge.discord_channels, bridge.discord_roles) == (("*",), (), ())
    assert (bridge.discord_users, bridge.discord_dm_policy, bridge.owner_id) == (
        TOLD.people,
        "allowlist",
        TOLD.owner_id,
    )
    assert bridge.discord_rest_url == "http://127.0.0.1:4999/api/v10"
    assert bridge.state == Path("/s/stage")
    assert captain_settings(made).cdn_loopback == "http://127.0.0.1:4999/cdn"


def test_without_a_model_a_trial_rehearses() -> None:
    captain = captain_settings(trial({}))
    assert (captain.model, captain.model_base_url) == ("rehearsal", "http://127.0.0.1:4999/provider/v1")
    assert captain_settings(trial({"CLANKIE_MODEL": "rehearsal"})).model_base_url == captain.model_base_url


@pytest.mark.parametrize(
    "env",
    [
        {"ANTHROPIC_API_KEY": "a-key"},
        {"OPENAI_API_KEY": "a-key"},
        {"CLANKIE_MODEL": "openai:name", "CLANKIE_MODEL_BASE_URL": "http://127.0.0.1:9"},
    ],
)
def test_a_model_that_is_set_is_used_on_the_stage_as_well(env: dict[str, str]) -> None:
    made, given = captain_settings(trial(env)), captain_settings(env)
    for field in ("model", "model_base_url", "anthropic_api_key", "openai_api_key"):
        assert getattr(made, field) == getattr(given, field)


def test_what_the_file_says_about_him_holds_in_a_trial() -> None:
    lines = [
        'persona_file = "he.md"',
        'names = ["A", "B"]',
        "stall_seconds = 7",
        'database_url = "sqlite+aiosqlite:///x"',
    ]
    Path("clankie.toml").write_text("\n".join(lines), "utf-8")
    made = trial({})
    Path("clankie.toml").unlink()
    captain = captain_settings(made)
    assert (captain.persona_file, captain.names, captain.stall_seconds) == (Path.cwd() / "he.md", ("A", "B"), 7)
    assert captain.database_url is None


def test_a_set_of_tools_comes_along_as_the_tools_in_it(folder: Path) -> None:
    (folder / "clankie.toml").write_text('tools = ["web", "fork"]\n[tool_sets]\nweb = ["read_page"]\n', "utf-8")
    assert trial({})["CLANKIE_TOOLS"] == "read_page,fork"


def test_of_every_setting_it_is_decided_whether_a_trial_takes_it_over() -> None:
    fields = {*type(captain_settings({})).model_fields, *type(bridge_settings({})).model_fields}
    assert {*plan.FORWARDED, *plan.NOT_FORWARDED} == fields
    assert not plan.NOT_FORWARDED & {*plan.FORWARDED}


GIVEN = {
    "browser": "/usr/bin/chromium",
    "browser_sandbox": "off",
    "image_model": "openai:n",
    "image_base_url": "http://127.0.0.1:9",
    "model": "openai:n", "model_base_url": "http://127.0.0.1:9", "model_fallbacks": "openai:a,openai:b",
    "persona_file": "/p", "images": "off", "names": "A,B", "reply_policy": "all", "discord_bots": "true",
    "mcp_file": "/m.json", "search": "off", "search_url": "http://127.0.0.1:9",
    "tools": "draw_diagram", "otel_exporter_otlp_endpoint": "http://127.0.0.1:4318",
    "captain_url": "http://127.0.0.1:4399", "captain_bind": "127.0.0.1:4398",
}  # fmt: skip
"""Values of those settings that are no numbers and no secrets."""


@pytest.mark.parametrize("field", plan.FORWARDED)
def test_a_trial_is_run_with_each_setting_that_it_takes_over(field: str) -> None:
    models = {"CLANKIE_MODEL": "openai:n", "OPENAI_API_KEY": "a-key"}
    token = field.endswith(("_key", "_token"))
    env = {**models, variable(field): GIVEN.get(field, "a-secret-of-its-own" if token else "1000")}
    made = trial(env)
    for read in (captain_settings, bridge_settings):
        given = read(env)
        if field in type(given).model_fields:
            assert field in given.model_fields_set
            assert getattr(read(made), field) == getattr(given, field)


def test_on_discord_the_environment_stands_as_it_is() -> None:
    env = {"DISCORD_BOT_TOKEN": "a-token", "OPENAI_API_KEY": "a-key", "CLANKIE_DISCORD_CHANNELS": "12345"}
    programs = plan.on_discord(launch_settings(env), env)
    assert [each.module for each in programs] == ["clankie_captain", "clankie_bridge"]
    for each in programs:
        assert each.folder is None
        assert env.items() <= each.env.items()


def test_no_proxy_stands_between_processes_of_one_machine() -> None:
    made = trial({"NO_PROXY": "example.test,localhost"})
    assert made["NO_PROXY"] == made["no_proxy"] == "example.test,localhost,127.0.0.1,::1"


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({}, plan.NO_MODEL),
        ({"CLANKIE_MODEL_BASE_URL": "http://127.0.0.1:9"}, plan.NO_NAME),
        ({"CLANKIE_MODEL": "rehearsal", "OPENAI_API_KEY": "a-key"}, plan.NO_REHEARSAL),
    ],
)
def test_on_discord_a_model_is_needed(env: dict[str, str], said: str) -> None:
    with pytest.raises(CannotRun, match=said[:30].replace("(", r"\(")):
        plan.on_discord(launch_settings(env), env)


def test_the_stage_sees_no_setting_and_no_secret() -> None:
    env = {"OPENAI_API_KEY": "CANARY", "CLANKIE_CAPTAIN_TOKEN": "CANARY", "PATH": "/bin", "CLANKIE_STAGE_PORT": "4999"}
    program = plan.stage(launch_settings(env), env)
    assert program.env == {"PATH": "/bin"}
    assert program.arguments == ("--port", "4999", "--model", "openai's default")


@pytest.mark.requirement("SEC-1")
def test_a_token_is_read_where_whoever_runs_has_made_it(tmp_path: Path) -> None:
    env = {"CLANKIE_STATE": str(tmp_path)}
    real, trials = tmp_path / "secrets", tmp_path / "stage" / "secrets"
    assert token(launch_settings(env | {"CLANKIE_CAPTAIN_TOKEN": "given"}), "captain").get_secret_value() == "given"
    assert not real.exists()
    real.mkdir()
    (real / "captain-token").write_text("real")
    assert token(launch_settings(env), "captain").get_secret_value() == "real"
    trials.mkdir(parents=True)
    (trials / "captain-token").write_text("trial")
    assert token(launch_settings(env), "captain").get_secret_value() == "trial"
    assert token(launch_settings(env | {"DISCORD_BOT_TOKEN": "x"}), "captain").get_secret_value() == "real"


def test_a_trial_folder_that_cannot_be_made_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("x", "utf-8")
    with pytest.raises(CannotRun, match=r"taken/stage: not a directory; set CLANKIE_STATE"):
        plan.make_trial_folder(tmp_path / "taken")


def test_a_trial_folder_is_its_owners_alone_and_made_once(tmp_path: Path) -> None:
    plan.make_trial_folder(tmp_path / "state")
    plan.make_trial_folder(tmp_path / "state")
    assert plan.trial_folder(tmp_path / "state").stat().st_mode & 0o777 == 0o700
