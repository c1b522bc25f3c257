"""What bubblewrap is told: all that a command sees of the machine, and nothing else. Source: GRANT-4.

Each wall has a name, so that the tests can take one away and see what it held.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from clankie_captain.core.machine import Most
from clankie_captain.machine.workspace import INSIDE

SYSTEM: Final = Path("/usr")
"""Where programs are: commands read it, and whatever lies in it."""

PATH: Final = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
"""Where a command looks for programs."""

USER: Final = 1000
"""Who a command believes to be, whoever that is outside."""

PROXY_PORT: Final = 3128
"""Where a command that has the web finds its proxy, on a loopback of its own."""

OPENS: Final = """
import os, socket, sys
door = socket.create_server(("127.0.0.1", int(sys.argv[2])))
captain = socket.socket(fileno=int(sys.argv[1]))
socket.send_fds(captain, [b"."], [door.fileno()])
captain.close()
door.close()
os.execvp(sys.argv[3], sys.argv[3:])
"""
"""Opens the proxy's port behind the walls, hands it to the captain, who answers there, and becomes the command."""

FILES: Final[Mapping[str, bytes]] = {
    "/etc/passwd": f"clankie:x:{USER}:{USER}::{INSIDE}:/bin/sh\n".encode(),
    "/etc/group": f"clankie:x:{USER}:\n".encode(),
    "/etc/hosts": b"127.0.0.1 localhost\n::1 localhost\n",
}
"""What programs look up there: of its own, since the machine's says who else is here."""

_LINKED: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC: Final = (
    "alternatives", "ca-certificates", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types",
    "pki/ca-trust/extracted", "pki/tls/certs", "ssl/certs", "ssl/openssl.cnf",
)  # fmt: skip


def walls(most: Most, files: Mapping[str, int], calls: int | None = None) -> dict[str, tuple[str, ...]]:
    """The walls by their names, in the order in which they are built.

    Args:
        most: What a command may take.
        files: Open files by the places where a command finds what stands in them.
        calls: An open file with the kernel's program about system calls; None where there is none for this machine.
    """
    return {
        "users": ("--unshare-user", "--disable-userns", "--uid", str(USER), "--gid", str(USER)),
        "powers": ("--cap-drop", "ALL"),
        "processes": ("--unshare-pid",),
        "network": ("--unshare-net",),
        "memory between processes": ("--unshare-ipc",),
        "name": ("--unshare-uts", "--hostname", "clankie"),
        "groups": ("--unshare-cgroup-try",),
        "calls": () if calls is None else ("--seccomp", str(calls)),
        "life": ("--die-with-parent",),
        "terminal": ("--new-session",),
        "environment": ("--clearenv",),
        "system": (*_system(), *_etc(files)),
        "proc": ("--proc", "/proc"),
        # It runs as the command does, holds up the walls and has none of the reins: nobody is to take it over.
        "first process": ("--tmpfs", "/proc/1", "--remount-ro", "/proc/1"),
        "devices": ("--dev", "/dev", "--size", str(most.scratch), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),  # noqa: S108
        "scratch": ("--size", str(most.scratch), "--tmpfs", "/tmp"),  # noqa: S108
    }


def seen() -> tuple[Path, ...]:
    """What of the machine commands read, wherever links among it lead."""
    linked, etc = (Path("/", each) for each in _LINKED), (Path("/etc", each) for each in _ETC)
    return tuple(each.resolve() for each in (SYSTEM, *linked, *etc))


def names() -> tuple[str, ...]:
    """The environment of a command: only what is named here."""
    named = {"PATH": PATH, "HOME": INSIDE, "USER": "clankie", "LANG": "C.UTF-8", "TERM": "dumb"}
    return tuple(each for name, value in named.items() for each in ("--setenv", name, value))


def proxied() -> tuple[str, ...]:
    """What tells programs of the proxy that is their only way to the web."""
    named = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), f"http://127.0.0.1:{PROXY_PORT}")
    named |= dict.fromkeys(("no_proxy", "NO_PROXY"), "localhost,127.0.0.1")
    return tuple(each for name, value in named.items() for each in ("--setenv", name, value))


def reins(most: Most) -> tuple[str, ...]:
    """What a command is started by, inside: its bounds, the kernel's first victim where memory ends, behind others.

    One byte of a core is none; with a bound of 0 the machine's own handler of crashes would be started, as root.
    """
    cpu = max(1, int(most.each_cpu.total_seconds()))
    return (
        "prlimit", f"--nproc={most.processes}", f"--as={most.each_claim}", f"--nofile={most.each_files}",
        f"--fsize={most.each_file_bytes}", f"--cpu={cpu}:{cpu + 1}", "--core=1", "--memlock=0", "--msgqueue=0", "--",
        "choom", "--adjust", "1000", "--", "nice", "-n", "5",
    )  # fmt: skip


def _system() -> Sequence[str]:
    said = ["--ro-bind", str(SYSTEM), str(SYSTEM)]
    for name in _LINKED:
        place = Path("/", name)
        if place.is_symlink():
            said += ["--symlink", os.readlink(place), str(place)]  # noqa: PTH115 -- as it stands there
        elif place.is_dir():
            said += ["--ro-bind", str(place), str(place)]
    return said


def _etc(files: Mapping[str, int]) -> Sequence[str]:
    said = [each for name in _ETC for each in ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")]
    return [*said, *(each for place, file in files.items() for each in ("--ro-bind-data", str(file), place))]
