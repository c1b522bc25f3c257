"""One derivation of state folder and attachment root, for whoever writes and whoever reads."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clankie_settings.environment import bridge_settings, captain_settings, launch_settings
from clankie_settings.paths import attachment_root, state_folder

pytestmark = pytest.mark.requirement("ART-1")

values = st.one_of(st.none(), st.sampled_from(["", " ", "\t", "state", "~/state", "/tmp/a/../b", " /tmp/a "]))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    return tmp_path


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values, values, values, values)
def test_writer_and_reader_derive_the_same_folders_from_whatever_is_set(
    state: str | None, root: str | None, state_in_file: str | None, root_in_file: str | None
) -> None:
    named = {"CLANKIE_STATE": state, "CLANKIE_DISCORD_ATTACHMENT_ROOT": root}
    env = {name: value for name, value in named.items() if value is not None}
    filed = {"state": state_in_file, "discord_attachment_root": root_in_file}
    lines = [f"{key} = '{value}'\n" for key, value in filed.items() if value is not None]
    Path("clankie.toml").write_text("".join(lines), "utf-8")
    writer, reader, launcher = captain_settings(env), bridge_settings(env), launch_settings(env)
    assert writer.discord_attachment_root == reader.discord_attachment_root == launcher.discord_attachment_root
    assert writer.state == reader.state == launcher.state
    assert writer.state.is_absolute()
    assert writer.discord_attachment_root.is_absolute()


def test_the_root_lies_in_the_state_folder_unless_it_is_named(tmp_path: Path) -> None:
    assert attachment_root({"CLANKIE_STATE": "/srv/clankie"}) == Path("/srv/clankie/attachments")
    named = {"CLANKIE_STATE": "/srv/clankie", "CLANKIE_DISCORD_ATTACHMENT_ROOT": "pictures"}
    assert attachment_root(named) == tmp_path / "pictures"


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_a_blank_folder_is_unset(blank: str) -> None:
    assert state_folder({"CLANKIE_STATE": blank}) == state_folder({})
    assert attachment_root({"CLANKIE_STATE": "/a", "CLANKIE_DISCORD_ATTACHMENT_ROOT": blank}) == Path("/a/attachments")


def test_unset_the_state_lies_where_the_platform_keeps_state(home: Path) -> None:
    assert home in state_folder({}).parents
    assert state_folder({}).name == "clankie"


def test_a_blank_variable_leaves_the_folder_of_the_file() -> None:
    Path("clankie.toml").write_text('state = "/srv/filed"\n', "utf-8")
    assert captain_settings({"CLANKIE_STATE": " "}).state == Path("/srv/filed")


def test_home_is_understood(home: Path) -> None:
    assert state_folder({"CLANKIE_STATE": "~/here"}) == home / "here"
