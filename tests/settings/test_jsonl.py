"""A file of JSON lines never holds a part of a line, whatever the disk does."""

from pathlib import Path

import pytest

from clankie_settings import jsonl
from tests.disks import small_disk

pytestmark = pytest.mark.requirement("DUR-3")


def test_lines_are_appended_and_the_size_is_told(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    assert jsonl.append(file, ["one"]) == 4
    assert jsonl.append(file, ["two", "drei ü"]) == 16
    assert file.read_text("utf-8") == "one\ntwo\ndrei ü\n"


def test_a_full_disk_takes_all_lines_or_none(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 256 * 1024) as disk:
        file = disk.folder / "lines"
        jsonl.append(file, ["first"])
        disk.fill()
        with pytest.raises(OSError, match="No space left"):
            jsonl.append(file, ["x" * 999] * 9)
        assert file.read_text() == "first\n"
        disk.empty()
        jsonl.append(file, ["second"])
        assert file.read_text() == "first\nsecond\n"


def test_a_line_that_was_left_unfinished_spoils_no_further_one(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_text('{"half')
    jsonl.append(file, ["{}"])
    assert file.read_text() == '{"half\n{}\n'


def test_a_device_that_is_full_is_told_as_any_other_disk() -> None:
    with pytest.raises(OSError, match="No space left"):
        jsonl.append(Path("/dev/full"), ["{}"])
