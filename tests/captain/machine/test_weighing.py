"""Nothing that a command can do to its folders makes them seem lighter, and nothing outside is ever counted."""

import ctypes
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import suppress
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from clankie_captain.core.machine import Held, Most
from clankie_captain.machine import weighing
from clankie_captain.machine.sandbox import STRANGER
from clankie_captain.machine.weighing import weighed
from clankie_captain.ports import NotDoneError
from tests.captain.machine.ground import ROOT, Ground, needs_a_sandbox

pytestmark = pytest.mark.requirement("GRANT-4")

KiB = 1024
DEEP = 600
MANY = 10_000


@pytest.fixture
def root() -> Generator[Path]:
    """A folder that somebody without powers owns, as most captains are."""
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)  # noqa: PTH101
        root = Path(top, "workspace")
        root.mkdir()
        if ROOT:
            os.chown(root, STRANGER, STRANGER)
        yield root
        if not ROOT:
            subprocess.run(["chmod", "-R", "u+rwx", str(root)], check=False)
        subprocess.run(["rm", "-rf", str(root)], check=True)


def powerless(do: Callable[[], None]) -> None:
    """Do something as whoever owns the folder; root would be stopped by no mode."""
    faults: list[BaseException] = []

    def work() -> None:
        if ROOT:
            libc = ctypes.CDLL(None)
            libc.setfsgid(STRANGER)
            libc.setfsuid(STRANGER)
        try:
            do()
        except BaseException as error:  # noqa: BLE001 -- told below
            faults.append(error)

    # The kernel counts these two for each thread by itself.
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    for each in faults:
        raise each


def file(place: Path, size: int = 64 * KiB) -> None:
    with place.open("wb") as made:
        made.write(b"x" * size)
        made.flush()
        os.fsync(made.fileno())


def closed(mode: int) -> Callable[[Path], None]:
    def make(root: Path) -> None:
        (root / "a" / "b").mkdir(parents=True)
        file(root / "a" / "b" / "file")
        (root / "a" / "b").chmod(mode)
        (root / "a").chmod(mode)

    return make


def closed_itself(root: Path) -> None:
    file(root / "file")
    root.chmod(0)


def not_utf8(root: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(root) + b"/\xff\xfe\n"))
    folder.mkdir()
    file(Path(os.fsdecode(os.fsencode(folder) + b"/\x80")))


def deep(root: Path) -> None:
    here = os.open(root, os.O_RDONLY)
    for _ in range(DEEP):
        os.mkdir("d" * 9, dir_fd=here)
        below = os.open("d" * 9, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    file(Path(f"/proc/self/fd/{here}/file"))
    os.close(here)


def kept_for_later(root: Path) -> None:
    """Space that a file has beyond its end."""
    made = os.open(root / "file", os.O_WRONLY | os.O_CREAT)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    if libc.fallocate(made, 1, 0, 64 * KiB) != 0:
        os.write(made, b"x" * 64 * KiB)
    os.close(made)


@pytest.mark.parametrize(
    ("make", "entries"),
    [
        *((closed(mode), 3) for mode in (0o000, 0o100, 0o200, 0o300, 0o400, 0o600)),
        (closed_itself, 1),
        (not_utf8, 2),
        (deep, DEEP + 1),
        (kept_for_later, 1),
    ],
)
def test_what_is_hidden_is_weighed(root: Path, make: Callable[[Path], None], entries: int) -> None:
    def work() -> None:
        make(root)
        held = weighed(root, MANY)
        assert (held.entries, held.seen) == (entries, True)
        assert held.size >= 64 * KiB

    powerless(work)


def test_what_takes_no_room_is_not_weighed_and_nothing_outside_is(root: Path) -> None:
    def work() -> None:
        file(root / "file")
        plain = weighed(root, MANY).size
        os.link(root / "file", root / "twin")
        with (root / "sparse").open("wb") as sparse:
            sparse.truncate(1 << 40)
        (root / "link").symlink_to("/usr")
        (root / "circle").symlink_to(root)
        os.mkfifo(root / "pipe")
        held = weighed(root, MANY)
        assert (held.entries, held.seen) == (6, True)
        assert held.size <= plain + 16 * KiB

    powerless(work)


@pytest.mark.skipif(not ROOT, reason="only root makes somebody else's folders")
def test_a_folder_of_somebody_elses_counts_where_commands_may_lay_things_into_it(root: Path) -> None:
    foreign = root / "lost+found"
    foreign.mkdir(mode=0o700)
    os.chown(foreign, STRANGER + 1, STRANGER + 1)
    file(root / "file")
    powerless(lambda: expect(weighed(root, MANY), 2))
    foreign.chmod(0o733)
    powerless(lambda: expect(weighed(root, MANY), None))


def expect(held: Held, entries: int | None) -> None:
    assert (held.entries if held.seen else None) == entries


def test_weighing_ends_with_what_is_asked_for(root: Path) -> None:
    for name in range(100):
        (root / str(name)).touch()
    assert weighed(root, 50).entries == 51


MISCHIEF: dict[str, Callable[[Path], object]] = {
    "gone": lambda c: c.rmdir(),
    "moved": lambda c: c.parent.rename(c.parents[2] / "z"),
    "moved out of sight": lambda c: c.parent.rename(c.parents[3] / "z"),
    "a link now": lambda c: (c.rmdir(), c.symlink_to("/usr")),
    "a file now": lambda c: (c.rmdir(), c.touch()),
    "closed": lambda c: c.parent.chmod(0),
}
"""What is done to a folder ``a/b/c``, or to the one that it lies in."""


@pytest.mark.parametrize("name", MISCHIEF)
@pytest.mark.parametrize("moment", range(12))
def test_what_is_done_to_folders_that_are_being_weighed_stops_no_weighing_and_leads_nowhere(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, moment: int
) -> None:
    """At whichever step it happens."""
    opened, calls = os.open, 0

    def opens(*what: Any, **how: Any) -> int:
        nonlocal calls
        calls += 1
        if calls == moment + 1:
            MISCHIEF[name](root / "a" / "b" / "c")
        return opened(*what, **how)

    def work() -> None:
        (root / "a" / "b" / "c").mkdir(parents=True)
        file(root / "a" / "file")
        monkeypatch.setattr(os, "open", opens)
        held = weighed(root, MANY)
        monkeypatch.undo()
        assert held.seen
        assert 64 * KiB <= held.size < 1024 * KiB
        assert held.entries <= 7

    if ROOT:
        os.chown(root.parent, STRANGER, STRANGER)
    powerless(work)


def test_whoever_goes_on_moving_folders_is_not_weighed_light(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = count()

    def elsewhere(folder: int) -> tuple[int, int]:
        return folder, next(moved)

    (root / "a" / "b").mkdir(parents=True)
    monkeypatch.setattr(weighing, "_key", elsewhere)
    assert not weighed(root, MANY).seen


DEEPER = "/d" * 100


@needs_a_sandbox
@pytest.mark.parametrize("hides", ["chmod 0 $d", "chmod 0 .", f"mkdir -p $d{DEEPER}; mv $d/x $d{DEEPER}", ":"])
async def test_short_commands_do_not_pass_the_bound_together(tmp_path: Path, hides: str) -> None:
    ground = Ground.laid(tmp_path)
    tools = ground.workbench(Most(disk=1024 * KiB))
    command = f"d=$(mktemp -d ./XXXXXX); head -c 900K /dev/zero > $d/x; {hides}"
    with suppress(NotDoneError):
        for _ in range(6):
            await tools.run(command, lambda: None, timedelta(seconds=20))
    assert weighed(ground.workspace, MANY).size <= 4 * 1024 * KiB
    ground.swept()
    assert (await tools.run("true", lambda: None, timedelta(seconds=20))).exit == 0
