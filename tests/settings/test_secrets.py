"""Tokens are made once, for their owner's eyes, and two processes agree on one."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from clankie_settings.secrets import TokenFileError, token
from tests.disks import small_disk

pytestmark = pytest.mark.requirement("SEC-1")

RACER = """
import sys
from pathlib import Path
from clankie_settings.secrets import token
print("ready", flush=True)
sys.stdin.readline()
print(token(None, Path(sys.argv[1]), "captain-token").get_secret_value())
"""


def test_a_given_token_is_used_and_nothing_is_written(tmp_path: Path) -> None:
    assert token(SecretStr("given"), tmp_path / "state", "captain-token").get_secret_value() == "given"
    assert not (tmp_path / "state").exists()


def test_a_missing_token_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    made = token(None, tmp_path / "state", "captain-token")
    path = tmp_path / "state" / "secrets" / "captain-token"
    assert len(made.get_secret_value()) >= 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert token(SecretStr(" "), tmp_path / "state", "captain-token") == made
    assert [each.name for each in path.parent.iterdir()] == ["captain-token"]


def test_different_names_are_different_tokens(tmp_path: Path) -> None:
    assert token(None, tmp_path, "captain-token") != token(None, tmp_path, "operator-token")


@pytest.mark.system
def test_processes_that_start_at_once_agree_on_one_token(tmp_path: Path) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(6)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("\n")
        racer.stdin.flush()
    said = {racer.communicate(timeout=30)[0] for racer in racers}
    assert len(said) == 1
    assert [each.name for each in (tmp_path / "secrets").iterdir()] == ["captain-token"]


def test_whoever_comes_second_reads_what_the_first_has_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secrets" / "captain-token"
    fsync = os.fsync

    def made_meanwhile(descriptor: int) -> None:
        fsync(descriptor)
        path.write_text("first\n", "ascii")

    monkeypatch.setattr(os, "fsync", made_meanwhile)
    assert token(None, tmp_path, "captain-token").get_secret_value() == "first"
    assert [each.name for each in path.parent.iterdir()] == ["captain-token"]


@pytest.mark.parametrize("content", [b"", b" \n"])
def test_an_empty_file_says_what_to_do(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "secrets" / "captain-token"
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(TokenFileError, match="is empty; delete it") as caught:
        token(None, tmp_path, "captain-token")
    assert caught.value.path == path


def test_what_is_no_token_is_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "secrets" / "captain-token"
    path.parent.mkdir()
    path.write_bytes(b"CANARY\xff")
    with pytest.raises(TokenFileError, match="not a token") as caught:
        token(None, tmp_path, "captain-token")
    assert "CANARY" not in str(caught.value)


def test_a_folder_that_cannot_hold_the_file_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file, not a folder")
    with pytest.raises(TokenFileError, match="Make the folder writable, or set the token"):
        token(None, tmp_path / "state", "captain-token")


@pytest.mark.requirement("DUR-3")
def test_a_disk_that_is_full_says_what_to_do_and_keeps_no_half_token(tmp_path: Path) -> None:
    with small_disk(tmp_path / "state", 64 * 1024) as disk:
        disk.fill()
        with pytest.raises(TokenFileError, match="Make room on that disk"):
            token(None, disk.folder, "captain-token")
        disk.empty()
        made = token(None, disk.folder, "captain-token").get_secret_value()
        assert len(made) > 20
        assert [each.name for each in (disk.folder / "secrets").iterdir()] == ["captain-token"]


def test_a_file_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "secrets" / "captain-token").mkdir(parents=True)
    with pytest.raises(TokenFileError, match=r"captain-token: .+ in the environment"):
        token(None, tmp_path, "captain-token")
