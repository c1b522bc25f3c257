"""Files under the attachment root are read; whatever else somebody lays there is not."""

import hashlib
import os
import socket
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clankie_bridge import artifacts
from clankie_bridge.artifacts import AttachmentRoot
from clankie_bridge.core.artifacts import LARGEST, Cause, Picture
from clankie_settings.wire.attachment import Artifact

DATA = b"\x89PNG\r\n\x1a\n a picture"
DIGEST = hashlib.sha256(DATA).hexdigest()

pytestmark = pytest.mark.requirement("ART-3")


def artifact(path: str = "diagrams/a.png", digest: str = DIGEST, size: int = len(DATA)) -> Artifact:
    return Artifact.model_construct(
        ref=f"sha256:{digest}:{path}", filename="a-drawing.png", media_type="image/png", byte_size=size
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "attachments"
    (folder / "diagrams").mkdir(parents=True)
    (folder / "diagrams" / "a.png").write_bytes(DATA)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.png").write_bytes(DATA)
    return folder


async def test_a_file_is_read_where_its_reference_says(root: Path) -> None:
    assert await AttachmentRoot(root).read(artifact()) == Picture("a-drawing.png", "image/png", DATA)


async def test_the_root_itself_may_be_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(root)
    assert isinstance(await AttachmentRoot(tmp_path / "linked").read(artifact()), Picture)


def _gone(root: Path) -> None:
    (root / "diagrams" / "a.png").unlink()


def _folder_gone(root: Path) -> None:
    _gone(root)
    (root / "diagrams").rmdir()


def _root_gone(root: Path) -> None:
    _folder_gone(root)
    root.rmdir()


def _root_is_a_file(root: Path) -> None:
    _root_gone(root)
    root.write_bytes(DATA)


def _altered(root: Path) -> None:
    (root / "diagrams" / "a.png").write_bytes(DATA[:-1] + b"!")


def _cut(root: Path) -> None:
    (root / "diagrams" / "a.png").write_bytes(DATA[:-1])


def _empty(root: Path) -> None:
    (root / "diagrams" / "a.png").write_bytes(b"")


def _link(root: Path) -> None:
    _gone(root)
    (root / "diagrams" / "a.png").symlink_to(root.parent / "outside" / "a.png")


def _link_inside(root: Path) -> None:
    (root / "diagrams" / "b.png").write_bytes(DATA)
    _gone(root)
    (root / "diagrams" / "a.png").symlink_to("b.png")


def _dangling(root: Path) -> None:
    _gone(root)
    (root / "diagrams" / "a.png").symlink_to("nowhere")


def _folder_link(root: Path) -> None:
    _folder_gone(root)
    (root / "diagrams").symlink_to(root.parent / "outside")


def _folder_is_a_file(root: Path) -> None:
    _folder_gone(root)
    (root / "diagrams").write_bytes(DATA)


def _pipe(root: Path) -> None:
    _gone(root)
    os.mkfifo(root / "diagrams" / "a.png")


def _folder_in_place(root: Path) -> None:
    _gone(root)
    (root / "diagrams" / "a.png").mkdir()


def _door(root: Path) -> None:
    _gone(root)
    here = Path.cwd()
    os.chdir(root / "diagrams")
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("a.png")
    finally:
        os.chdir(here)


def _too_large(root: Path) -> None:
    with (root / "diagrams" / "a.png").open("wb") as file:
        file.truncate(LARGEST + 1)


def _closed(root: Path) -> None:
    (root / "diagrams" / "a.png").chmod(0)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (_gone, Cause.GONE),
        (_folder_gone, Cause.GONE),
        (_root_gone, Cause.NO_FOLDER),
        (_root_is_a_file, Cause.NO_FOLDER),
        (_altered, Cause.ALTERED),
        (_cut, Cause.ALTERED),
        (_empty, Cause.ALTERED),
        (_link, Cause.OUTSIDE),
        (_link_inside, Cause.OUTSIDE),
        (_dangling, Cause.OUTSIDE),
        (_folder_link, Cause.OUTSIDE),
        (_folder_is_a_file, Cause.OUTSIDE),
        (_pipe, Cause.OUTSIDE),
        (_folder_in_place, Cause.OUTSIDE),
        (_door, Cause.OUTSIDE),
        (_too_large, Cause.TOO_LARGE),
        pytest.param(
            _closed, Cause.UNREADABLE, marks=pytest.mark.skipif(os.geteuid() == 0, reason="everything is open to root")
        ),
    ],
)
async def test_whatever_is_not_the_very_file_is_not_read(
    root: Path, change: Callable[[Path], None], cause: Cause
) -> None:
    change(root)
    assert await AttachmentRoot(root).read(artifact()) is cause


@pytest.mark.parametrize(
    "path", ["../outside/a.png", "diagrams/../../outside/a.png", "/etc/passwd", "diagrams/..", "", "a.png"]
)
async def test_a_hostile_reference_is_refused_before_anything_is_opened(
    root: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(root: Path, meant: object) -> bytes:
        raise AssertionError(meant)

    monkeypatch.setattr(artifacts, "_read", read)
    assert await AttachmentRoot(root).read(artifact(path)) is Cause.OUTSIDE


async def test_a_size_beyond_discords_limit_is_believed(root: Path) -> None:
    assert await AttachmentRoot(root).read(artifact(size=LARGEST + 1)) is Cause.TOO_LARGE


async def test_a_file_at_the_limit_is_read(root: Path) -> None:
    """C31: 10 MiB goes, one byte more does not."""
    whole = bytes(LARGEST)
    (root / "diagrams" / "a.png").write_bytes(whole)
    read = await AttachmentRoot(root).read(artifact(digest=hashlib.sha256(whole).hexdigest(), size=LARGEST))
    assert isinstance(read, Picture)
    assert len(read.data) == LARGEST


async def test_a_disk_that_hangs_costs_the_picture(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = Event()

    def hang(root: Path, meant: object) -> bytes:
        free.wait()
        return DATA

    monkeypatch.setattr(artifacts, "_read", hang)
    assert await AttachmentRoot(root, within=timedelta(milliseconds=1)).read(artifact()) is Cause.UNREADABLE
    free.set()


async def test_a_disk_that_fails_costs_the_picture(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise OSError(5, "the disk")

    monkeypatch.setattr(artifacts, "_read", fail)
    assert await AttachmentRoot(root).read(artifact()) is Cause.UNREADABLE


PATHS = st.text(alphabet="./\\abdgimnorst%~\0\n:", max_size=24) | st.sampled_from(
    ["diagrams/a.png", "diagrams/../diagrams/a.png", "./diagrams/a.png", "diagrams/./a.png", "link/a.png"]
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PATHS)
async def test_no_reference_gives_bytes_of_elsewhere(root: Path, path: str) -> None:
    """The only file that comes out is the one that lies in the root itself."""
    link = root / "link"
    if not link.is_symlink():
        link.symlink_to(root.parent / "outside")
    read = await AttachmentRoot(root).read(artifact(path))
    assert isinstance(read, Cause) or path == "diagrams/a.png"
