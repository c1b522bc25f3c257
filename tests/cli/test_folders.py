"""What lies on this machine is looked at without a trace, and what is wrong is said with what to do."""

import fcntl
import os
from pathlib import Path

import pytest

from clankie_cli.checks import folders
from tests.disks import small_disk

pytestmark = pytest.mark.requirement("OPS-9")


def test_a_folder_that_is_not_there_yet_is_judged_by_the_one_it_will_be_made_in(tmp_path: Path) -> None:
    (found,) = folders.state(tmp_path / "a" / "b")
    assert found.state in ("ok", "note")
    assert not [*tmp_path.iterdir()]


def test_a_state_folder_that_is_a_file_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("x", "utf-8")
    (found,) = folders.state(tmp_path / "state")
    assert found.state == "wrong"
    assert "CLANKIE_STATE" in found.said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_wrong(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert folders.unwritable(tmp_path) == "permission denied"


def test_a_secret_that_others_may_read_is_named_with_the_command_that_mends_it(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    token = tmp_path / "secrets" / "operator-token"
    token.write_text("CANARY", "utf-8")
    token.chmod(0o640)
    found = folders.secrets(tmp_path, tmp_path / ".env")
    assert found.state == "wrong"
    assert f"chmod 600 {token}" in found.said
    assert "CANARY" not in found.said
    token.chmod(0o600)
    assert folders.secrets(tmp_path, tmp_path / ".env").state == "ok"


def test_an_env_file_that_others_may_read_is_seen(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1", "utf-8")
    (tmp_path / ".env").chmod(0o644)
    assert folders.secrets(tmp_path, tmp_path / ".env").state == "wrong"


def test_two_roots_for_pictures_are_wrong(tmp_path: Path) -> None:
    assert folders.attachments(tmp_path / "a", tmp_path / "b").state == "wrong"
    assert folders.attachments(tmp_path / "a", tmp_path / "a").state == "ok"


def test_a_root_for_pictures_that_cannot_be_written_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "pictures").write_text("a file")
    found = folders.attachments(tmp_path / "pictures", tmp_path / "pictures")
    assert found.state == "wrong"
    assert "CLANKIE_DISCORD_ATTACHMENT_ROOT" in found.said


@pytest.mark.requirement("DUR-3")
def test_a_disk_without_room_is_wrong_and_one_with_little_is_told(tmp_path: Path) -> None:
    with small_disk(tmp_path / "state", 256 * folders.MIB) as disk:
        (found,) = folders.state(disk.folder)
        assert found.state == "note"
        disk.fill(leave=folders.MIB)
        (found,) = folders.state(disk.folder)
        assert found.state == "wrong"
        assert "make room" in found.said


@pytest.mark.requirement("DUR-3")
def test_a_read_only_disk_is_wrong_for_everything_that_is_written(tmp_path: Path) -> None:
    with small_disk(tmp_path / "state", folders.MIB) as disk:
        disk.allow_writing(False)
        (found,) = folders.state(disk.folder)
        assert (found.state, "read-only" in found.said) == ("wrong", True)
        assert folders.attachments(disk.folder / "pictures", disk.folder / "pictures").state == "wrong"


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux tells who holds a lock")
def test_who_holds_the_lock_is_told_and_the_lock_left_alone(tmp_path: Path) -> None:
    lock = tmp_path / "captain.lock"
    assert folders.holder(lock) is None
    with lock.open("w") as held:
        assert folders.holder(lock) is None
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert folders.holder(lock) == os.getpid()
    assert folders.holder(lock) is None
