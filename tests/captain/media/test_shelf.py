"""The shelf: one file for each content, under a name that never lies."""

import hashlib
import os
from pathlib import Path

import pytest

from clankie_captain.core.pictures import Part, Stored
from clankie_captain.media.shelf import Shelf

pytestmark = pytest.mark.requirement("IMG-7")


def part(data: bytes) -> Part:
    return Part(data, "image/png", 3, 2)


def files(root: Path) -> list[str]:
    return sorted(each.name for each in (root / "pictures").iterdir())


async def test_what_is_put_is_found_under_the_hash_of_its_bytes(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    stored = await shelf.put(part(b"a"))
    assert stored == Stored(hashlib.sha256(b"a").hexdigest(), "image/png", 3, 2, 1)
    assert await shelf.get(stored.digest) == b"a"
    assert files(tmp_path) == [stored.digest]
    assert (tmp_path / "pictures" / stored.digest).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "pictures").stat().st_mode & 0o777 == 0o700


async def test_the_same_bytes_are_kept_once(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    first = await shelf.put(part(b"a"))
    inode = (tmp_path / "pictures" / first.digest).stat().st_ino
    assert await Shelf(tmp_path).put(part(b"a")) == first
    assert (tmp_path / "pictures" / first.digest).stat().st_ino == inode


@pytest.mark.parametrize("name", ["", "..", "../captain.db", "a" * 63, "A" * 64, "/etc/passwd", "a" * 64 + "\n"])
async def test_nothing_but_a_hash_names_a_picture(tmp_path: Path, name: str) -> None:
    assert await Shelf(tmp_path).get(name) is None


async def test_a_picture_that_is_gone_or_was_altered_is_none_and_can_be_put_again(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    stored = await shelf.put(part(b"aaaa"))
    path = tmp_path / "pictures" / stored.digest
    path.write_bytes(b"bbbb")
    assert await shelf.get(stored.digest) is None
    await shelf.put(part(b"aaaa"))
    assert await shelf.get(stored.digest) == b"aaaa"
    path.unlink()
    assert await shelf.get(stored.digest) is None


async def test_no_link_and_no_pipe_is_read_or_written_through(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    stored = await shelf.put(part(b"secret"))
    path, outside = tmp_path / "pictures" / stored.digest, tmp_path / "outside"
    path.rename(outside)
    path.symlink_to(outside)
    assert await shelf.get(stored.digest) is None
    await shelf.put(part(b"secret"))
    assert not path.is_symlink()
    assert await shelf.get(stored.digest) == b"secret"
    path.unlink()
    os.mkfifo(path)
    assert await shelf.get(stored.digest) is None


async def test_a_folder_that_is_a_link_is_not_used(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "pictures").symlink_to(elsewhere)
    with pytest.raises(OSError, match="pictures"):
        await Shelf(tmp_path / "root").put(part(b"a"))
    assert list(elsewhere.iterdir()) == []


async def test_a_disk_that_takes_nothing_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = Shelf(tmp_path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            await shelf.put(part(b"a"))
    assert files(tmp_path) == []
    assert (await shelf.put(part(b"a"))).digest in files(tmp_path)


async def test_what_a_captain_that_died_left_half_written_goes_with_the_next_picture(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / ".new-1-abc").write_bytes(b"half")
    stored = await Shelf(tmp_path).put(part(b"a"))
    assert files(tmp_path) == [stored.digest]


async def test_at_its_bound_the_shelf_lets_those_go_that_were_longest_unused(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, most=100)
    kept = [await shelf.put(part(bytes([number]) * 25)) for number in range(4)]
    for age, each in enumerate(kept):
        os.utime(tmp_path / "pictures" / each.digest, ns=(age, age))
    await shelf.get(kept[0].digest)
    new = await shelf.put(part(b"n" * 25))
    assert sum(each.stat().st_size for each in (tmp_path / "pictures").iterdir()) <= 100
    assert [await shelf.get(each.digest) is not None for each in (*kept, new)] == [True, False, False, True, True]


async def test_the_bound_holds_over_a_restart(tmp_path: Path) -> None:
    for number in range(8):
        await Shelf(tmp_path, most=100).put(part(bytes([number]) * 25))
    assert sum(each.stat().st_size for each in (tmp_path / "pictures").iterdir()) <= 100
