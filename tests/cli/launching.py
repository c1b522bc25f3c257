"""A real ``clankie up`` in a folder of its own, read line by line."""

import io
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from clankie_cli.__main__ import main
from tests.ports import free_ports

PATIENCE_S = 100.0
"""How long a condition is waited for; a loaded machine starts the services slowly."""


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """What a person's shell has, and these settings; nothing of whoever runs the tests."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "CLANKIE_STATE": str(folder / "state"), **settings}


def clankie(folder: Path, env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, run to its end."""
    command = [sys.executable, "-m", "clankie_cli", *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def called(folder: Path, env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, run within this process, which spares a start; for what ends by itself."""
    out, err = io.StringIO(), io.StringIO()
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name in [*os.environ]:
            patch.delenv(name)
        for name, value in env.items():
            patch.setenv(name, value)
        patch.chdir(folder)
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        try:
            code = main(arguments)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
    return subprocess.CompletedProcess([*arguments], code, out.getvalue(), err.getvalue())


def until(holds: Callable[[], bool], within_s: float = PATIENCE_S) -> bool:
    """Whether something came true in time; a look hands over to other threads in between."""
    looked, deadline = threading.Event(), time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            return False
        looked.wait(0.05)
    return True


@dataclass(slots=True)
class Launched:
    """A running ``clankie up``."""

    process: subprocess.Popen[str]
    folder: Path
    env: dict[str, str]
    stage_port: int
    captain_port: int
    lines: list[str] = field(default_factory=list[str])
    _fresh: queue.Queue[str | None] = field(default_factory=queue.Queue[str | None])

    @property
    def page(self) -> str:
        """The stage's address."""
        return f"http://127.0.0.1:{self.stage_port}"

    @property
    def said(self) -> str:
        """All that was printed so far and waited for."""
        return "\n".join(self.lines)

    def read(self) -> None:
        """Read its output until it ends, on a thread of its own."""
        for line in self.process.stdout or ():
            self._fresh.put(line.rstrip("\n"))
        self._fresh.put(None)

    def line(self, part: str, within_s: float = PATIENCE_S) -> str:
        """The next line with this in it; fails when the output ends before."""
        deadline = time.monotonic() + within_s
        while True:
            line = self._fresh.get(timeout=max(0.0, deadline - time.monotonic()))
            if line is None:
                raise AssertionError(f"it ended without saying {part!r}:\n{self.said}")
            self.lines.append(line)
            if part in line:
                return line

    def rest(self) -> int:
        """Read to the end; its exit code."""
        while (line := self._fresh.get(timeout=PATIENCE_S)) is not None:
            self.lines.append(line)
        return self.process.wait(PATIENCE_S)

    def programs(self) -> dict[str, psutil.Process]:
        """The processes it started, by the module that they run."""
        found: dict[str, psutil.Process] = {}
        for each in psutil.Process(self.process.pid).children():
            try:
                module = (*each.cmdline(), "", "", "")[2]
            except psutil.NoSuchProcess:
                continue
            if module != "clankie_cli":  # between its birth and its program
                found[module.removeprefix("clankie_")] = each
        return found


def somewhere(folder: Path, ports: tuple[int, int], **settings: str) -> dict[str, str]:
    """The settings of a trial whose stage and captain have these ports."""
    stage, captain = ports
    places = {"CLANKIE_STAGE_PORT": str(stage), "CLANKIE_CAPTAIN_URL": f"http://127.0.0.1:{captain}"}
    return environment(folder, **{**places, **settings})


@contextmanager
def launched(folder: Path, **settings: str) -> Generator[Launched]:
    """A ``clankie up`` on free ports, ended with all that it started however the test ends."""
    stage_port, captain_port = free_ports(2)
    env = somewhere(folder, (stage_port, captain_port), **settings)
    process = subprocess.Popen(
        [sys.executable, "-m", "clankie_cli", "up"],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    up = Launched(process, folder, env, stage_port, captain_port)
    reader = threading.Thread(target=up.read)
    reader.start()
    family: list[psutil.Process] = []
    try:
        yield up
    finally:
        if process.poll() is None:
            family = psutil.Process(process.pid).children(recursive=True)
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
        for each in family:
            if each.is_running():
                each.kill()
        reader.join()
        if process.stdout is not None:
            process.stdout.close()


def alive(processes: dict[str, psutil.Process]) -> list[str]:
    """Those that still run."""
    return [name for name, each in processes.items() if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]
