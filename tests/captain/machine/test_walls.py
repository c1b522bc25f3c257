"""Attempts to break out, by real commands in a real sandbox; each succeeds once its own wall or bound is taken away."""

import asyncio
import os
import platform
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from clankie_captain.core.machine import Most
from clankie_captain.machine import workspace as files
from clankie_captain.machine.calls import KERNELS
from clankie_captain.machine.sandbox import STRANGER
from clankie_captain.ports import NotDoneError, Ran
from tests.captain.machine.ground import ROOT, SECRET, Change, Ground, Walls, alive, needs_a_sandbox, said, unchanged

pytestmark = [pytest.mark.requirement("GRANT-4"), needs_a_sandbox]

MiB = 1024 * 1024
PLENTY = Most()
PTRACE = {"x86_64": 101, "aarch64": 117}.get(platform.machine(), 0)

Won = Callable[[Ran, Ground], bool]


def hole(how: str, place: str) -> Change:
    """A way through the walls to a folder or file."""
    return lambda walls, ground: {**walls, "hole": (how, *(str(ground.top / place),) * 2)}


def without(*names: str, **instead: tuple[str, ...]) -> Change:
    """The walls without some of them, or with others in their place."""

    def change(walls: Walls, ground: Ground) -> Walls:
        del ground
        return {name: instead.get(name, wall) for name, wall in walls.items() if name not in names}

    return change


HOST_PROCESSES = without("processes", proc=("--bind", "/proc", "/proc"))
NO_FILTER = without("calls")
NO_GUARD = without("calls", "first process")
NO_NAMESPACES = without("processes", "users", "powers", proc=("--bind", "/proc", "/proc"))
ALL_POWERS = without(
    users=("--unshare-user", "--uid", "0", "--gid", "0"), powers=("--cap-add", "ALL"), devices=("--dev", "/dev")
)


def prints(mark: str) -> Won:
    """It wins by printing this."""
    return lambda ran, ground: mark in said(ran)


def makes(place: str) -> Won:
    """It wins by making a file."""
    return lambda ran, ground: (ground.top / place).exists()


def goes_on(ran: Ran, ground: Ground) -> bool:
    """It wins by not being ended, and by doing all that it wanted."""
    del ground
    return ran.stopped is None and ran.exit == 0


def outlives(ran: Ran, ground: Ground) -> bool:
    """It wins by staying: the kernel ends what the first process behind the walls leaves a moment later."""
    del ran
    gone = _soon(lambda: not alive(str(ground.facts["mark"])), float(str(ground.facts["while"])))
    for each in alive(str(ground.facts["mark"])):
        os.kill(each, 9)
    return not gone


def kills(ran: Ran, ground: Ground) -> bool:
    """It wins by the death of a process that is none of its own."""
    del ran
    return ground.facts["victim"] not in alive(str(ground.facts["bystander"]))


@dataclass(frozen=True, slots=True)
class Attempt:
    """A command, how it wins, and what has to be gone for it to win.

    In the command ``@while@`` is how long it stays to be caught, in seconds: until somebody ends it where something
    should, and a moment where nothing does.
    """

    command: str
    won: Won
    gone: Change = unchanged
    held: Most = PLENTY
    within: float = 60
    as_root: bool = True
    only_root: bool = False

    async def tried(self, ground: Ground, *, loose: bool, as_root: bool) -> bool:
        change, most, within = (self.gone, PLENTY, 60) if loose else (unchanged, self.held, self.within)
        ground.swept()
        ground.facts["while"] = 0.5 if loose else 100
        command = self.command
        for name, fact in ground.facts.items():
            command = command.replace(f"@{name}@", str(fact))
        tools = ground.workbench(most, change, as_root=as_root)
        ran = await tools.run(command, lambda: None, timedelta(seconds=within))
        # What holds it back is its own bound, and not that time was up.
        assert ran.stopped != "time" or self.within < 1
        return self.won(ran, ground)


def astray() -> int | None:
    """A family of sockets that this machine has, and that is the same in every namespace."""
    for family in (40, 38, 31, 42):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
            with suppress(OSError), socket.socket(family, kind):
                return family
    return None


def perl(program: str) -> str:
    """A program that Debian always has."""
    return f"perl -MSocket -e '{program}'"


def connects(family: str, address: str) -> str:
    """Connects to a socket and says so."""
    return perl(f'socket(S,{family},SOCK_STREAM,0); print "IN" if connect(S,{address})')


FORKS = perl(
    "my $n=0; for(1..60){my $p=fork; last if !defined $p; if(!$p){sleep @while@+9; exit} $n++} "
    "print $n; sleep @while@+1 if $n==60"
)
FILLS = perl('my $x="x"x(80*1024*1024); select undef,undef,undef,@while@')
OUTLIVES = "setsid sleep @mark@ >&- 2>&- & until grep -q ^sleep /proc/$!/cmdline; do :; done"
KILLS = "kill -9 @victim@ && until grep -q ') Z' /proc/@victim@/stat; do :; done"
FEW = replace(PLENTY, processes=20)

GROWN = "[ $(stat -c %b x) -ge 16000 ] && echo IN"
CALLS = KERNELS.get(platform.machine())

ATTEMPTS: dict[str, Attempt] = {
    "reading the state folder": Attempt("cat @secret@", prints(SECRET), hole("--ro-bind", "state")),
    "reading it by a link": Attempt("ln -s @secret@ l; cat l", prints(SECRET), hole("--ro-bind", "state")),
    "writing the state folder": Attempt("echo x > @top@/state/captain.db", makes("state/captain.db"),
                                        hole("--bind", "state")),
    "forging a picture": Attempt("echo x > @top@/attachments/diagrams/x.png", makes("attachments/diagrams/x.png"),
                                 hole("--bind", "attachments")),
    "reading the machine's settings": Attempt("test -e /etc/shadow && echo IN", prints("IN"),
                                              lambda walls, ground: {**walls, "hole": ("--ro-bind", "/etc", "/etc")}),
    "the environment": Attempt("env", prints("LC_ALL"), without("environment")),
    "processes of the machine": Attempt("tr '\\0' ' ' < /proc/@victim@/cmdline", prints("sleep"), HOST_PROCESSES),
    "a signal to one of them": Attempt(KILLS, kills, HOST_PROCESSES),
    "tracing one of them": Attempt(perl(f'print "IN" if syscall({PTRACE},16,@victim@,0,0)==0'), prints("IN"),
                                   NO_NAMESPACES, only_root=True),
    "a port of the machine": Attempt("exec 3<>/dev/tcp/127.0.0.1/@port@ && echo IN", prints("IN"), without("network")),
    "an abstract socket": Attempt(connects("AF_UNIX", 'pack("Sa*",AF_UNIX,"\\0x@abstract@")'), prints("IN"),
                                   without("network")),
    "a socket such as docker's": Attempt(connects("AF_UNIX", 'sockaddr_un("@socket@")'), prints("IN"),
                                         hole("--bind", "state")),
    "a namespace of its own": Attempt("unshare -Ur echo IN", prints("IN"),
                                      without(users=("--unshare-user", "--uid", "1000", "--gid", "1000"))),
    "mounting": Attempt("mount -t tmpfs none /dev/shm && echo IN", prints("IN"), ALL_POWERS),
    "another name for the machine": Attempt("hostname x; hostname", prints("x\n"), ALL_POWERS),
    "the machine's devices": Attempt("test -e /dev/kmsg && echo IN", prints("IN"),
                                     without(devices=("--dev-bind", "/dev", "/dev"))),
    "what outlives its command": Attempt(OUTLIVES, outlives,
                                         HOST_PROCESSES),
    "many processes": Attempt(FORKS, prints("60"), held=FEW, as_root=False),
    "many processes where the kernel does not count": Attempt(FORKS, prints("60"), held=FEW),
    "much memory": Attempt(FILLS, goes_on, held=replace(PLENTY, memory=30 * MiB)),
    "much address space": Attempt(FILLS, goes_on, held=replace(PLENTY, each_claim=60 * MiB)),
    "memory as files": Attempt("head -c 8M /dev/zero > /dev/shm/x && head -c 8M /dev/zero > /tmp/x", goes_on,
                               held=replace(PLENTY, scratch=MiB)),
    "a large file": Attempt("head -c 8M /dev/zero > x", goes_on, held=replace(PLENTY, each_file_bytes=MiB)),
    "many large files": Attempt("for i in 1 2 3 4 5 6; do head -c 1M /dev/zero > $i; done; sync; sleep @while@",
                                goes_on, held=replace(PLENTY, disk=3 * MiB)),
    "many small files": Attempt("for i in $(seq 100); do : > $i; done; sleep @while@", goes_on,
                                held=replace(PLENTY, entries=50)),
    "a folder that nobody can look into": Attempt("mkdir d; head -c 4M /dev/zero > d/x; sync; chmod 0 d; sleep @while@",
                                                  goes_on, held=replace(PLENTY, disk=MiB), only_root=True),
    "space beyond a file's end": Attempt(f"touch x; fallocate -n -l 8M x; {GROWN}", prints("IN"), NO_FILTER),
    "space by a request to the file": Attempt(
        perl('open(F,"+>x"); $b=pack("ssx4qqx24",0,0,0,8<<20); ioctl(F,0x4030582a,$b)') + f"; {GROWN}", prints("IN"),
        NO_FILTER),
    "calls that get round the walls": Attempt(
        perl("for(@calls@){syscall($_,-1,-1,-1,-1,-1); print qq(IN\n) if $!{ENOSYS}==0 && $!{EOPNOTSUPP}==0}"),
        prints("IN"), NO_FILTER),
    "a socket that knows no namespace": Attempt(
        perl('print "IN" if socket(S,@family@,1,0) || socket(S,@family@,2,0) || socket(S,@family@,5,0)'),
        prints("IN"), NO_FILTER),
    "the memory of the first process": Attempt(perl('print "IN" if open(F,"+<","/proc/1/mem")'), prints("IN"),
                                               NO_GUARD),
    "tracing the first process": Attempt(perl(f'print "IN" if syscall({PTRACE},0x4206,1,0,0)==0'), prints("IN"),
                                         NO_GUARD),
    "many open files": Attempt(perl('for(1..90){open($f[$_],"<","/dev/null") or exit 1}'), goes_on,
                               held=replace(PLENTY, each_files=40)),
    "endless output": Attempt("yes | head -c 4M", goes_on, held=replace(PLENTY, said=MiB)),
    "endless work": Attempt(perl("do { @t = times } while $t[0] + $t[1] < 1.1"), goes_on,
                              held=replace(PLENTY, each_cpu=timedelta(seconds=1)), within=60, as_root=False),
    "endless waiting in silence": Attempt("exec >&- 2>&-; sleep @while@", goes_on, within=0.3),
    "endless waiting": Attempt("sleep @while@", goes_on, within=0.3),
}  # fmt: skip
"""What is tried, by names."""


CAPTAIN = """
import asyncio, sys
from datetime import timedelta
from pathlib import Path
from tests.captain.machine.ground import Ground
from tests.captain.machine.test_walls import without

async def main():
    ground = Ground(Path(sys.argv[1]).parent)
    async with asyncio.TaskGroup() as group:
        for mark, change in zip(sys.argv[2:], (lambda walls, ground: walls, without("life"))):
            tools = ground.workbench(change=change)
            group.create_task(tools.run(f"exec sleep {mark}", lambda: None, timedelta(seconds=60)))

asyncio.run(main())
"""
"""A captain that runs two commands, one of them without the wall that falls with it."""


@pytest.fixture
def ground(tmp_path: Path) -> Generator[Ground]:
    mark, bystander = (f"3100.{uuid4().int}" for _ in range(2))
    with ExitStack() as mine, socket.socket() as port, socket.socket(socket.AF_UNIX) as abstract:
        ground = Ground.laid(tmp_path)
        by_path = mine.enter_context(socket.socket(socket.AF_UNIX))
        victim = mine.enter_context(subprocess.Popen(["sleep", bystander]))
        mine.callback(victim.kill)
        port.bind(("127.0.0.1", 0))
        abstract.bind(f"\0x{mark}")
        state = os.open(tmp_path / "state", os.O_PATH)
        mine.callback(os.close, state)
        # By a short way: no socket has a name of more than 107 bytes.
        by_path.bind(f"/proc/self/fd/{state}/docker.sock")
        for each in (port, abstract, by_path):
            each.listen()
        ground.facts.update(
            mark=mark,
            bystander=bystander,
            victim=victim.pid,
            port=port.getsockname()[1],
            abstract=mark,
            socket=tmp_path / "state" / "docker.sock",
            calls=",".join(map(str, CALLS.refused if CALLS else ())),
            family=astray(),
        )
        yield ground


@pytest.mark.parametrize("name", ATTEMPTS)
async def test_no_attempt_gets_out_and_each_does_where_its_wall_is_taken_away(ground: Ground, name: str) -> None:
    attempt = ATTEMPTS[name]
    if "@family@" in attempt.command and ground.facts["family"] is None:
        pytest.skip("this machine has no such sockets")
    if attempt.gone in (NO_FILTER, NO_GUARD) and CALLS is None:
        pytest.skip("the calls of this machine are not known")
    assert not await attempt.tried(ground, loose=False, as_root=False)
    if ROOT and attempt.as_root:
        # Root in the same walls: what holds it back is the wall, and not that a stranger may do little anyway.
        assert not await attempt.tried(ground, loose=False, as_root=True)
    if ROOT or not attempt.only_root:
        assert await attempt.tried(ground, loose=True, as_root=attempt.as_root)


@pytest.mark.parametrize("follow", [False, True])
async def test_no_link_of_a_command_leads_the_file_tools_out(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, *, follow: bool
) -> None:
    tools = ground.workbench()
    await tools.run(
        f"ln -s {ground.facts['secret']} link; ln -s {ground.top} folder", lambda: None, timedelta(seconds=60)
    )
    if follow:
        for name in ("_FILE", "_DIRECTORY"):
            monkeypatch.setattr(files, name, getattr(files, name) & ~os.O_NOFOLLOW)
        assert SECRET in await tools.read("link", 0)
        await tools.write("folder/state/forged", "x")
        assert (ground.top / "state" / "forged").exists()
        return
    for path in ("link", "folder/state/secrets/token"):
        with pytest.raises(NotDoneError):
            await tools.read(path, 0)
    with pytest.raises(NotDoneError):
        await tools.write("folder/state/forged", "x")
    assert not (ground.top / "state" / "forged").exists()


@pytest.mark.skipif(not ROOT, reason="only root can make a program that makes root")
async def test_a_program_that_makes_root_makes_nobody_root_behind_the_walls(ground: Ground) -> None:
    tools = ground.workbench()
    os.chmod(shutil.copy(shutil.which("id") or "id", ground.workspace / "id"), 0o4755)  # noqa: PTH101
    assert said(await tools.run("./id -u", lambda: None, timedelta(seconds=60))) == "1000\n"
    outside = ("./id", "-u"), ground.workspace, STRANGER
    assert await asyncio.to_thread(_printed, *outside) == b"0\n"


async def test_a_command_does_not_outlive_a_captain_that_is_killed(ground: Ground) -> None:
    held, loose = (f"3100.{uuid4().int}" for _ in range(2))
    captain = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CAPTAIN, str(ground.workspace), held, loose, cwd=Path(__file__).parents[3]
    )
    try:
        await _until(lambda: bool(alive(held)) and bool(alive(loose)))
        captain.kill()
        await captain.wait()
        await _until(lambda: not alive(held))
        assert alive(loose)
    finally:
        for each in (*alive(held), *alive(loose)):
            os.kill(each, 9)


def _printed(command: Sequence[str], folder: Path, user: int) -> bytes:
    return subprocess.run(command, cwd=folder, user=user, capture_output=True, check=False).stdout


def _soon(look: Callable[[], bool], within_s: float) -> bool:
    """Whether it comes to hold; nobody tells of processes."""
    deadline = time.monotonic() + within_s
    while not (holds := look()) and time.monotonic() < deadline:
        pass
    return holds


async def _until(look: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not look():  # noqa: ASYNC110 -- nobody tells of processes
            await asyncio.sleep(0)
