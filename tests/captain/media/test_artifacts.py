"""A tool's own folder under the attachment root."""

import hashlib
from pathlib import Path

import pytest

from clankie_captain.core.artifacts import place
from clankie_captain.media.artifacts import ArtifactFolder

pytestmark = pytest.mark.requirement("ART-2")


def there(root: Path) -> list[str]:
    return sorted(str(each.relative_to(root)) for each in root.rglob("*") if each.is_file())


async def test_what_is_kept_lies_where_its_reference_says_and_is_what_it_says(tmp_path: Path) -> None:
    made = await ArtifactFolder(tmp_path, "diagrams").keep(b"bytes", "image/png", "a title")
    digest, folder, name = place(made.ref)
    assert there(tmp_path) == [f"{folder}/{name}"]
    assert hashlib.sha256((tmp_path / folder / name).read_bytes()).hexdigest() == digest


async def test_the_same_bytes_are_kept_once_whatever_they_are_called(tmp_path: Path) -> None:
    folder = ArtifactFolder(tmp_path, "diagrams")
    one, other = await folder.keep(b"x", "image/png", "one"), await folder.keep(b"x", "image/png", "other")
    assert one.ref == other.ref
    assert len(there(tmp_path)) == 1


async def test_a_folder_that_cannot_be_written_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "diagrams").write_bytes(b"in the way")
    with pytest.raises(OSError, match="diagrams"):
        await ArtifactFolder(tmp_path, "diagrams").keep(b"x", "image/png", "one")
    assert there(tmp_path) == ["diagrams"]


async def test_at_its_bound_a_folder_lets_the_oldest_go(tmp_path: Path) -> None:
    folder = ArtifactFolder(tmp_path, "diagrams", most=100)
    kept = [await folder.keep(bytes([number]) * 25, "image/png", "x") for number in range(8)]
    assert sum(each.stat().st_size for each in (tmp_path / "diagrams").iterdir()) <= 100
    assert place(kept[-1].ref)[2] in [each.name for each in (tmp_path / "diagrams").iterdir()]
