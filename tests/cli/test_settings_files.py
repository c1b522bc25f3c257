"""``.env`` and ``clankie.toml`` are changed in place: what was said is in them, and all else is as it was."""

import io
import stat
import tomllib
from pathlib import Path

import dotenv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_cli.errors import CannotRun
from clankie_cli.settings_files import Texts, edited, read, write

TOKEN = {"discord_bot_token": "a.token"}


def variables(text: str | None) -> dict[str, str | None]:
    return dotenv.dotenv_values(stream=io.StringIO(text or ""), interpolate=True)


def test_secrets_go_into_one_file_and_the_rest_into_the_other() -> None:
    after = edited(
        Texts(None, None), TOKEN | {"openai_api_key": "k", "discord_guilds": ("1", "2"), "model": "openai:m"}
    )
    assert variables(after.dotenv) == {"DISCORD_BOT_TOKEN": "a.token", "OPENAI_API_KEY": "k"}
    assert tomllib.loads(after.toml or "") == {"discord_guilds": ["1", "2"], "model": "openai:m"}


def test_a_setting_that_stands_in_the_stronger_file_is_changed_there() -> None:
    before = Texts("# mine\nCLANKIE_DISCORD_GUILDS=1\nCLANKIE_IMAGES=off\n", None)
    after = edited(before, {"discord_guilds": ("7", "8"), "owner_id": "9"})
    assert after.dotenv == "# mine\nCLANKIE_DISCORD_GUILDS=7,8\nCLANKIE_IMAGES=off\n"
    assert tomllib.loads(after.toml or "") == {"owner_id": "9"}


def test_comments_tables_and_other_settings_stay() -> None:
    toml = '# who he is\nnames = ["Old"]  # for now\n\n[rooms."12345:67890"]\ncard = false\n'
    after = edited(Texts("A=1\n# DISCORD_BOT_TOKEN=in a comment\n", toml), TOKEN | {"names": ("New",), "owner_id": "5"})
    assert after.dotenv == "A=1\n# DISCORD_BOT_TOKEN=in a comment\nDISCORD_BOT_TOKEN=a.token\n"
    assert after.toml is not None
    assert "# who he is" in after.toml
    assert "# for now" in after.toml
    held = tomllib.loads(after.toml)
    assert held == {"names": ["New"], "owner_id": "5", "rooms": {"12345:67890": {"card": False}}}


@pytest.mark.parametrize(
    "before", ["DISCORD_BOT_TOKEN=old", "export DISCORD_BOT_TOKEN = 'o'\n", "DISCORD_BOT_TOKEN=\nX=1"]
)
def test_an_old_secret_is_gone_when_a_new_one_stands(before: str) -> None:
    after = edited(Texts(before, None), TOKEN).dotenv
    assert variables(after)["DISCORD_BOT_TOKEN"] == "a.token"
    assert (after or "").count("DISCORD_BOT_TOKEN") == 1


def test_of_a_secret_that_stands_twice_the_one_that_counts_is_changed() -> None:
    after = edited(Texts("DISCORD_BOT_TOKEN=a\nDISCORD_BOT_TOKEN=b\n", None), TOKEN).dotenv
    assert variables(after)["DISCORD_BOT_TOKEN"] == "a.token"


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1))
def test_any_secret_is_read_as_it_was_written(secret: str) -> None:
    assert variables(edited(Texts(None, None), {"openai_api_key": secret}).dotenv) == {"OPENAI_API_KEY": secret}


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), min_size=1).filter(str.strip))
def test_any_name_is_read_as_it_was_written(name: str) -> None:
    assert tomllib.loads(edited(Texts(None, None), {"names": (name,)}).toml or "") == {"names": [name]}


def test_the_secrets_are_readable_by_their_owner_alone_even_where_they_were_not(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\n", "utf-8")
    (tmp_path / ".env").chmod(0o644)
    before = read(tmp_path)
    written = write(tmp_path, before, edited(before, TOKEN | {"owner_id": "5"}))
    assert [each.name for each in written] == [".env", "clankie.toml"]
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert sorted(each.name for each in tmp_path.iterdir()) == [".env", "clankie.toml"]


def test_a_file_that_would_not_change_is_left_alone(tmp_path: Path) -> None:
    first = edited(read(tmp_path), TOKEN)
    write(tmp_path, Texts(None, None), first)
    assert write(tmp_path, read(tmp_path), edited(read(tmp_path), TOKEN)) == []


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "env").write_text("A=1\n", "utf-8")
    (tmp_path / ".env").symlink_to(tmp_path / "elsewhere" / "env")
    before = read(tmp_path)
    write(tmp_path, before, edited(before, TOKEN))
    assert (tmp_path / ".env").is_symlink()
    assert "a.token" in (tmp_path / "elsewhere" / "env").read_text("utf-8")


def test_what_cannot_be_read_is_said_and_left(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"\xff\xfe")
    with pytest.raises(CannotRun, match="cannot be read as UTF-8"):
        read(tmp_path)
    with pytest.raises(CannotRun, match="not valid TOML"):
        edited(Texts(None, "a = = b"), {"owner_id": "5"})


def test_a_folder_that_cannot_be_written_keeps_its_old_file(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="make the folder writable"):
        write(tmp_path / "nowhere", Texts(None, None), edited(Texts(None, None), TOKEN))
