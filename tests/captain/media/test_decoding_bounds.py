"""The leash: whatever a worker or its ffmpeg does, it ends, nothing of it stays, and the captain goes on."""

import asyncio
import itertools
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import cast

import psutil
import pytest
from PIL import Image

from clankie_captain.core.pictures import Cause, Decoded, Undecodable
from clankie_captain.media import parcels
from clankie_captain.media.decoding import WorkerDecoder
from clankie_captain.media.parcels import ParcelError, Shot
from clankie_settings import bounds
from tests.captain.media.drawing import noise, saved
from tests.captain.media.filming import Studio

PATIENCE = timedelta(seconds=60)
PICTURE = saved(Image.new("RGB", (40, 30), "red"))
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds a process's address space")


@pytest.fixture(autouse=True)
def own_folder_beside_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def folders() -> set[Path]:
    return {*Path(tempfile.gettempdir()).glob("clankie-*")}


async def eventually(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE.total_seconds()):
        while not true():  # noqa: ASYNC110 -- nothing tells of the end of another process
            await asyncio.sleep(0)


def gone(pid: int) -> bool:
    """Whether a process has ended; who is nobody's child any more is reaped by the machine."""
    try:
        process = psutil.Process(pid)
        return process.status() == psutil.STATUS_ZOMBIE and process.ppid() != os.getpid()
    except psutil.NoSuchProcess:
        return True


@asynccontextmanager
async def nothing_left() -> AsyncGenerator[None]:
    """No child, no zombie, no folder and no descriptor more than before."""
    await asyncio.create_subprocess_exec("true")  # what asyncio opens once for all is open from here on
    await eventually(lambda: not children())
    open_files = psutil.Process().num_fds
    files, there = open_files(), folders()
    yield
    await eventually(lambda: not children())
    await eventually(lambda: open_files() <= files)
    assert folders() <= there


def worker(text: str, *, up: bool = True) -> tuple[str, ...]:
    """A worker that does something else."""
    head = f"import os, signal, sys, time\nsays = sys.stdout.buffer\nsays.write({parcels.READY!r})\nsays.flush()\n"
    return (sys.executable, "-c", (head if up else "import sys\n") + text)


def told(head: bytes, body: bytes = b"") -> str:
    return f"sys.stdin.buffer.read()\nsays.write({len(head).to_bytes(4, 'big') + head!r})\nsays.write({body!r})"


@pytest.mark.requirement("IMG-3")
@pytest.mark.parametrize("command", [("/nowhere/worker",), worker("", up=False), worker("sys.exit(3)", up=False)])
async def test_a_worker_that_does_not_come_up_is_not_the_pictures_fault(command: tuple[str, ...]) -> None:
    async with nothing_left():
        assert await WorkerDecoder(None, PATIENCE, command=command).decode(PICTURE, 4) == Undecodable("unavailable")


BAD_WORKERS = {
    "ends at once": "",
    "dies of a signal": "os.kill(os.getpid(), signal.SIGSEGV)",
    "ends in the middle": told(b'{"shots": [["image/png", 4, 4, 99]]}', b"\x89PNG"),
    "says no JSON": told(b"\xff{"),
    "says nested JSON": told(b"[" * 4_000),
    "says a list": told(b"[]"),
    "has no shots": told(b'{"shots": []}'),
    "names no fault": told(b'{"fault": "whatever"}'),
    "names a list as fault": told(b'{"fault": ["broken"]}'),
    "has too many": told(b'{"shots": [' + b",".join([b'["image/png", 4, 4, 1]'] * 5) + b"]}", b"12345"),
    "claims a huge picture": told(b'{"shots": [["image/png", 4, 4, 99999999999]]}'),
    "claims a negative size": told(b'{"shots": [["image/png", 4, 4, -1]]}'),
    "claims huge sides": told(b'{"shots": [["image/png", 40000, 4, 8]]}', b"\x89PNG\r\n\x1a\n"),
    "claims another type": told(b'{"shots": [["image/svg+xml", 4, 4, 6]]}', b"<svg/>"),
    "lies about the type": told(b'{"shots": [["image/png", 4, 4, 6]]}', b"<html>"),
    "announces a long head": "sys.stdin.buffer.read()\nsays.write(b'\\xff' * 400)",
}


@pytest.mark.requirement("IMG-3")
@pytest.mark.parametrize("kind", BAD_WORKERS)
async def test_what_a_worker_says_is_not_believed(kind: str) -> None:
    """A worker has read what strangers posted, and may be theirs."""
    async with nothing_left():
        decoder = WorkerDecoder(None, PATIENCE, command=worker(BAD_WORKERS[kind]))
        assert await decoder.decode(PICTURE, 4) == Undecodable("broken")


HANGING = {
    "hangs": "time.sleep(1000)",
    "reads nothing and hears no signal": "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(1000)",
    "never stops talking": "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "sys.stdin.buffer.read()\nsays.write(b'\\0\\0\\0\\x40')\nsays.flush()\n"
    "while True: time.sleep(0.01)",
    "does not come up": "",
}


@pytest.mark.requirement("IMG-3")
@pytest.mark.parametrize("kind", HANGING)
@pytest.mark.parametrize("data", [PICTURE, saved(noise(1400, 1400))], ids=["little", "much"])
async def test_a_worker_that_hangs_is_ended_at_its_bound(kind: str, data: bytes) -> None:
    command = worker(HANGING[kind]) if HANGING[kind] else worker("import time; time.sleep(1000)", up=False)
    async with nothing_left():
        decoder = WorkerDecoder(None, timedelta(seconds=0.5), command=command)
        assert await decoder.decode(data, 4) == Undecodable("timed_out")


@pytest.mark.requirement("IMG-3")
async def test_what_a_worker_started_ends_with_it(tmp_path: Path) -> None:
    text = f"""
child = os.fork()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if child:
    print(child, file=open({str(tmp_path / "pid")!r}, "w"), flush=True)
time.sleep(1000)
"""
    async with nothing_left():
        told = tmp_path / "pid"
        asked = asyncio.create_task(WorkerDecoder(None, PATIENCE, command=worker(text)).decode(PICTURE, 4))
        await eventually(lambda: told.exists() and bool(told.read_text("utf-8")))
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await eventually(lambda: gone(int(told.read_text("utf-8"))))


@pytest.mark.requirement("IMG-3")
@pytest.mark.parametrize("text", ["time.sleep(1000)", HANGING["reads nothing and hears no signal"]])
async def test_a_turn_that_is_cancelled_takes_its_worker_along(text: str) -> None:
    """C56."""
    async with nothing_left():
        asked = asyncio.create_task(WorkerDecoder(None, PATIENCE, command=worker(text)).decode(PICTURE, 4))
        await eventually(lambda: bool(children()))
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked


@pytest.mark.requirement("IMG-3")
async def test_a_worker_that_is_killed_costs_its_picture_and_no_other(decoder: WorkerDecoder) -> None:
    async with nothing_left():
        asked = asyncio.create_task(decoder.decode(saved(noise(1400, 1400)), 4))
        await eventually(lambda: bool(children()))
        for child in children():
            child.kill()
        found = await asked
        assert isinstance(found, Undecodable)
        assert found.cause in ("unavailable", "broken")
        assert isinstance(await decoder.decode(PICTURE, 4), Decoded)


@pytest.mark.requirement("IMG-3")
async def test_so_many_workers_and_no_more_run_at_a_time() -> None:
    decoder = WorkerDecoder(None, PATIENCE, at_once=2)
    most = 0
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(decoder.decode(PICTURE, 4)) for _ in range(6)]
        while not all(each.done() for each in asked):
            most = max(most, len(psutil.Process().children()))
            await asyncio.sleep(0)
    assert most == 2
    assert all(isinstance(each.result(), Decoded) for each in asked)


@pytest.mark.requirement("IMG-3", "SEC-2")
async def test_a_worker_knows_nothing_of_the_captains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary-7f3a")
    place = tmp_path / "known"
    text = f"open({str(place)!r}, 'w').write(repr((sorted(os.environ), os.getcwd(), os.getpgid(0) == os.getpid())))"
    await WorkerDecoder(None, PATIENCE, command=worker(text)).decode(PICTURE, 4)
    variables, folder, leads = cast("tuple[list[str], str, bool]", eval(place.read_text("utf-8")))  # our own text
    assert {*variables} <= {"LC_ALL", "LC_CTYPE", "MALLOC_ARENA_MAX"}
    assert (folder, leads) == ("/", True)


CONFINED = """
from datetime import timedelta
from clankie_captain.media.confinement import confine
confine({memory}, timedelta(seconds=1))
{text}
"""


@LINUX
@pytest.mark.requirement("IMG-3")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("try:\n    bytearray(400 << 20)\nexcept MemoryError:\n    exit(7)", 7),
        ("bytearray(20 << 20)\nexit(8)", 8),
        ("try:\n    [open('/dev/null') for _ in range(99)]\nexcept OSError:\n    exit(9)", 9),
        ("while True: pass", -24),
        ("import subprocess, sys\nexit(subprocess.call([sys.executable, '-c', 'bytearray(400 << 20)']))", 1),
    ],
    ids=["memory", "enough memory", "files", "processor time", "a child's memory"],
)
def test_a_confined_process_gets_no_more(text: str, code: int) -> None:
    command = [sys.executable, "-c", CONFINED.format(memory=256 << 20, text=text)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == code


STRAITENED = """
import sys
from clankie_captain.media.worker import decoded
from clankie_captain.media.parcels import Errand
data = sys.stdin.buffer.read()
decoded(Errand("png", 4, 0, 5.0), b"")
confine({memory}, timedelta(seconds=30))
said = decoded(Errand("png", 4, len(data), 5.0), data)
print(said if isinstance(said, str) else "shown")
"""


@LINUX
@pytest.mark.requirement("IMG-3")
@pytest.mark.parametrize(("memory", "said"), [(200 << 20, "too_large"), (bounds.DECODE_MEMORY, "shown")])
def test_a_picture_that_needs_more_memory_than_a_worker_has_is_too_large(memory: int, said: str) -> None:
    """The bound is wide enough for as many pixels as are decoded, with alpha, which needs them twice."""
    width = height = int(bounds.PICTURE_PIXELS**0.5)
    data = saved(Image.new("RGBA", (width, height), (1, 2, 3, 128)), compress_level=1)
    text = "from datetime import timedelta\nfrom clankie_captain.media.confinement import confine\n"
    command = [sys.executable, "-c", text + STRAITENED.format(memory=memory)]
    ended = subprocess.run(command, input=data, capture_output=True, check=False)
    assert ended.stdout.decode().strip() == said, ended.stderr


@pytest.mark.requirement("IMG-3")
async def test_the_loop_goes_on_while_a_picture_is_decoded(decoder: WorkerDecoder) -> None:
    asked = asyncio.create_task(decoder.decode(saved(noise(1400, 1400)), 4))
    rounds = 0
    while not asked.done():
        rounds += 1
        await asyncio.sleep(0)
    assert isinstance(asked.result(), Decoded)
    assert rounds > 1000


def program(folder: Path, text: str) -> Path:
    """A stand-in for ffmpeg."""
    place = folder / "ffmpeg"
    place.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    return place


STAND_INS: dict[str, tuple[str, Cause]] = {
    "floods the errors": ("head -c 1000000 /dev/zero >&2", "broken"),
    "says nothing": ("exit 0", "broken"),
    "fails": ("exit 1", "broken"),
    "is killed": ("kill -9 $$", "broken"),
    "says rubbish": ("head -c 3000 /dev/urandom", "broken"),
    "reads its input": ("cat >/dev/null", "broken"),
    "leaves a child": ('sleep 1000 >/dev/null 2>&1 & echo $! >>"$0.pid"', "broken"),
    "leaves a child on its output": ('sleep 1000 & echo $! >>"$0.pid"', "broken"),
    "hangs": ('echo $$ >>"$0.pid"; trap "" TERM; while :; do sleep 1000; done', "timed_out"),
    "floods its output": ("exec cat /dev/zero", "broken"),
}
FILM = b"\0\0\0\x18ftypisom\0\0\0\0isommp42" + bytes(4_000)


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize("kind", STAND_INS)
async def test_whatever_ffmpeg_does_it_ends_and_nothing_stays(tmp_path: Path, kind: str) -> None:
    """C56: and so again and again."""
    text, cause = STAND_INS[kind]
    ffmpeg = program(tmp_path, text)
    short = timedelta(seconds=1 if cause == "timed_out" else 40)
    async with nothing_left():
        decoder = WorkerDecoder(ffmpeg, PATIENCE, gathering=short)
        found = await asyncio.gather(*(decoder.decode(FILM, 4) for _ in range(5)))
        assert {*found} == {Undecodable(cause)}
        pids = tmp_path / "ffmpeg.pid"
        for pid in pids.read_text("utf-8").split() if pids.exists() else ():
            await eventually(lambda pid=int(pid): gone(pid))


@pytest.mark.requirement("IMG-5")
async def test_a_turn_that_is_cancelled_takes_its_ffmpeg_along(tmp_path: Path) -> None:
    """C56."""
    decoder = WorkerDecoder(program(tmp_path, STAND_INS["hangs"][0]), PATIENCE, gathering=PATIENCE)
    async with nothing_left():
        asked = asyncio.create_task(decoder.decode(FILM, 4))
        pids = tmp_path / "ffmpeg.pid"
        await eventually(lambda: pids.exists() and bool(pids.read_text("utf-8").strip()))
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await eventually(lambda: gone(int(pids.read_text("utf-8"))))


CAPTAIN = """
import asyncio, sys
from datetime import timedelta
from pathlib import Path
from clankie_captain.media.decoding import WorkerDecoder
patience = timedelta(seconds=60)
decoder = WorkerDecoder(Path(sys.argv[1]), patience, gathering=patience)
asyncio.run(decoder.decode(sys.stdin.buffer.read(), 4))
"""


@pytest.mark.requirement("IMG-5")
async def test_a_captain_that_is_killed_leaves_neither_worker_nor_ffmpeg_nor_file(tmp_path: Path) -> None:
    """What is left ends once a film's time is over; here the film itself says that it is."""
    told = 'ls -d "${0%/*}"/clankie-* >"$0.folder"; echo $$ $PPID >"$0.pids"; mv "$0.pids" "$0.pid"'
    waits = 'while [ ! -e "$0.over" ]; do sleep 0.05; done; kill -ALRM $PPID'
    ffmpeg = program(tmp_path, f'trap "" TERM; {told}; {waits}; while :; do sleep 1000; done')
    (tmp_path / "film").write_bytes(FILM)
    async with nothing_left():
        with (tmp_path / "film").open("rb") as film:
            captain = await asyncio.create_subprocess_exec(sys.executable, "-c", CAPTAIN, str(ffmpeg), stdin=film)
        pids = tmp_path / "ffmpeg.pid"
        await eventually(pids.exists)
        assert {*(tmp_path / "ffmpeg.folder").read_text("utf-8").split()} == {*map(str, folders())}
        captain.kill()
        await captain.wait()
        (tmp_path / "ffmpeg.over").touch()
        for pid in pids.read_text("utf-8").split():
            await eventually(lambda pid=int(pid): gone(pid))


@pytest.mark.requirement("IMG-5")
async def test_ffmpeg_gets_one_container_few_decoders_and_no_network(tmp_path: Path) -> None:
    """C56 and its kind: a film that names another file, an address or a playlist leads nowhere."""
    said = tmp_path / "said"
    await WorkerDecoder(program(tmp_path, f'printf "%s\\n" "$@" >>{said}'), PATIENCE).decode(FILM, 4)
    arguments = said.read_text("utf-8").splitlines()
    each_run = arguments.count("-i")
    assert each_run >= 2
    for option, value in (("-protocol_whitelist", "file,pipe"), ("-f", "mov"), ("-codec_whitelist", None)):
        follows = [after for before, after in itertools.pairwise(arguments) if before == option]
        assert follows.count(value or follows[0]) == each_run
    assert arguments.count("-nostdin") == each_run


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize(
    "text",
    [
        "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n/etc/passwd\n",
        "ffconcat version 1.0\nfile /etc/passwd\n",
        "<MPD xmlns='urn:mpeg:dash:schema:mpd:2011'><BaseURL>http://127.0.0.1:9/</BaseURL></MPD>",
    ],
)
async def test_a_playlist_is_no_film_whatever_it_begins_with(studio: Studio, decoder: WorkerDecoder, text: str) -> None:
    assert await decoder.decode(text.encode(), 4) == Undecodable("unsupported")
    for beginning in (FILM[:24], b"\x1aE\xdf\xa3"):
        found = await decoder.decode(beginning + text.encode(), 4)
        assert isinstance(found, Undecodable)


def test_an_errand_that_is_cut_off_is_none(tmp_path: Path) -> None:
    place = tmp_path / "errand"
    head = parcels.errand_head(parcels.Errand("png", 4, 10, 5.0))
    for text in (b"", head[:9], head + b"12345", parcels.packed({"form": "png", "what": 1})):
        place.write_bytes(text)
        with place.open("rb") as source, pytest.raises(ParcelError):
            parcels.read_errand(source)


def test_what_a_worker_sends_is_read_back_as_it_was() -> None:
    head, *bodies = parcels.outcome([Shot(b"abc", "image/png", 3, 4), Shot(b"de", "image/jpeg", 5, 6)])
    assert parcels.announced(head[4:], 4).shots == (("image/png", 3, 4, 3), ("image/jpeg", 5, 6, 2))
    assert bodies == [b"abc", b"de"]
    assert parcels.announced(parcels.outcome("broken")[0][4:], 4).fault == "broken"
