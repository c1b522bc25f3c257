"""A machine to break out to: a workspace, what lies beside it, and a sandbox whose walls can be taken away."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest

from clankie_captain.core.machine import Most
from clankie_captain.machine import walls
from clankie_captain.machine.sandbox import STRANGER, Place, Sandbox
from clankie_captain.machine.workbench import Workbench
from clankie_captain.machine.workspace import Workspace
from clankie_captain.ports import Gate, Ran
from clankie_settings.clock import RandomIds, SystemClock

SECRET = "nobody reads this"
Walls = dict[str, tuple[str, ...]]
Change = Callable[[Walls, "Ground"], Walls]
ROOT = os.geteuid() == 0


def unchanged(walls: Walls, ground: "Ground") -> Walls:
    """The walls as they are."""
    del ground
    return walls


@dataclass(frozen=True, slots=True)
class Ground:
    """Folders that a captain has, of which commands may see one.

    Attributes:
        top: Where all of them lie.
        facts: What commands are told: places, ports, numbers of processes.
    """

    top: Path
    facts: dict[str, object] = field(default_factory=dict[str, object])

    @classmethod
    def laid(cls, top: Path) -> "Ground":
        """A fresh one."""
        for name in ("workspace", "state/secrets", "attachments/diagrams"):
            (top / name).mkdir(parents=True)
        (top / "state" / "secrets" / "token").write_text(SECRET, "utf-8")
        if ROOT:
            os.chown(top / "workspace", STRANGER, STRANGER)
        return cls(top, {"top": top, "secret": top / "state/secrets/token"})

    @property
    def workspace(self) -> Path:
        """The folder of commands."""
        return self.top / "workspace"

    def swept(self) -> None:
        """Empty the folder of commands."""
        shutil.rmtree(self.workspace)
        self.workspace.mkdir()
        if ROOT:
            os.chown(self.workspace, STRANGER, STRANGER)

    def workbench(
        self,
        most: Most | None = None,
        change: Change = unchanged,
        *,
        as_root: bool = False,
        gate: Callable[[], Gate] | None = None,
        patience: timedelta = timedelta(seconds=60),
    ) -> Workbench:
        """The tools; ``as_root`` runs commands as root where the tests do, within the same walls."""

        def around(most: Most, files: Mapping[str, int], calls: int | None) -> Mapping[str, tuple[str, ...]]:
            return change(walls.walls(most, files, calls), self)

        stranger = (STRANGER, STRANGER) if ROOT and not as_root else None
        if as_root and ROOT:
            os.chown(self.workspace, 0, 0)
        sandbox = _Tried(Place(self.workspace, (), stranger), most, around, gate)
        kept = Workspace(self.workspace, RandomIds(), stranger)
        return Workbench(sandbox, kept, timedelta(seconds=60), patience, SystemClock(), RandomIds())


class _Tried(Sandbox):
    """One that was tried before."""

    async def lack(self) -> None:
        return None


def said(ran: Ran) -> str:
    """What a command printed."""
    return ran.output.partition("\n")[2].rpartition("\n")[0] + "\n"


def alive(mark: str) -> list[int]:
    """The processes of this machine that sleep for just so long."""
    found: list[int] = []
    for each in Path("/proc").iterdir():
        if each.name.isdecimal():
            try:
                arguments = (each / "cmdline").read_bytes().split(b"\0")
                state = (each / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]
            except OSError:
                continue
            if arguments[:2] == [b"sleep", mark.encode()] and state != "Z":
                found.append(int(each.name))
    return found


@cache
def hindrance() -> str | None:
    """Why no sandbox can be had here; None where it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed: apt install bubblewrap"
    tried = ["bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--ro-bind", "/", "/", "true"]
    done = subprocess.run(tried, capture_output=True, check=False, timeout=60)
    return None if done.returncode == 0 else "this machine forbids user namespaces"


needs_a_sandbox = pytest.mark.skipif(hindrance() is not None, reason=f"NO SANDBOX IS TRIED: {hindrance()}")
