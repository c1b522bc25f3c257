"""The system calls that no command may make, as a program for the kernel. Source: GRANT-4.

Namespaces hold what has a name, and limits what is counted; these calls get round both. Everything else goes through.
A program is a list of ``struct sock_filter`` over ``struct seccomp_data`` (seccomp(2)).
"""

import errno
import platform
import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

KILL: Final = 0x8000_0000
REFUSE: Final = 0x0005_0000
ALLOW: Final = 0x7FFF_0000

FAMILIES: Final = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16)
"""What sockets may be of, 16 being the kernel's own; a machine's host, its Bluetooth and others know no namespace."""

REQUESTS: Final = {
    "FS_IOC_RESVSP": 0x4030_5828,
    "FS_IOC_RESVSP64": 0x4030_582A,
    "FS_IOC_ZERO_RANGE": 0x4030_5839,
    "XFS_IOC_ALLOCSP": 0x4030_580A,
    "XFS_IOC_ALLOCSP64": 0x4030_5824,
    "FS_IOC_FSSETXATTR": 0x401C_5820,
    "TIOCSTI": 0x5412,
    "TIOCLINUX": 0x541C,
}
"""What no device or file may be asked: space beyond a file's end, in the twinkling of an eye; words for a terminal."""

INIT: Final = 1
"""The first process behind the walls: nobody takes it over."""

SHARED_BYTES: Final = 16 * 1024
"""The largest segment of memory that lasts without a process; there may be thousands. Databases want a small one."""

_NR, _ARCH, _FIRST, _SECOND = 0, 4, 16, 24
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06

_Step = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Kernel:
    """What a machine's kernel calls them by.

    Attributes:
        arch: Its own programs; those for another (32 bits, for example) are ended.
        socket: The number of the call, as the following are.
        ioctl: How files and devices are asked for more than reading and writing.
        ptrace: How a process is taken over.
        shmget: How memory is had that lasts without a process.
        reaches: How memory of another process is read and written.
        refused: What is answered by the numbers of calls that are refused whatever they ask for.
        beyond: Numbers from here on are of another convention for the same calls.
    """

    arch: int
    socket: int
    ioctl: int
    ptrace: int
    shmget: int
    reaches: tuple[int, int]
    refused: Mapping[int, int]
    beyond: int = 0x4000_0000


def _refused(fallocate: int, *others: int) -> dict[int, int]:
    # What cannot be reserved is written instead, which is counted as it grows. Memory that no process maps is not
    # counted, and how many queues and semaphores it may have a command can set by itself.
    return {fallocate: errno.EOPNOTSUPP, **dict.fromkeys(others, errno.ENOSYS)}


# fallocate; io_uring_setup, pidfd_getfd, memfd_create, memfd_secret, msgget, semget, add_key, request_key, keyctl,
# perf_event_open, bpf, userfaultfd
_GENERIC: Final = _refused(47, 425, 438, 279, 447, 186, 190, 217, 218, 219, 241, 280, 282)
KERNELS: Final[Mapping[str, Kernel]] = {
    "x86_64": Kernel(
        0xC000_003E,
        41,
        16,
        101,
        29,
        (310, 311),
        _refused(285, 425, 438, 319, 447, 68, 64, 248, 249, 250, 298, 321, 323),
    ),
    "aarch64": Kernel(0xC000_00B7, 198, 29, 117, 194, (270, 271), _GENERIC),
    "riscv64": Kernel(0xC000_00F3, 198, 29, 117, 194, (270, 271), _GENERIC),
}
"""By the machine's name; elsewhere there is no such wall."""


def program(machine: str | None = None) -> bytes | None:
    """The kernel's program; None for a machine whose numbers are not known here."""
    kernel = KERNELS.get(machine or platform.machine())
    if kernel is None:
        return None
    unknown = REFUSE | errno.ENOSYS
    steps: list[_Step] = [
        (_LOAD, 0, 0, _ARCH),
        *_unless(_EQUAL, kernel.arch, KILL),
        (_LOAD, 0, 0, _NR),
        *_if(_AT_LEAST, kernel.beyond, unknown),
        *(each for number, said in kernel.refused.items() for each in _if(_EQUAL, number, REFUSE | said)),
        *_asked(kernel.socket, _FIRST, FAMILIES, ALLOW, REFUSE | errno.EAFNOSUPPORT),
        *_asked(kernel.ioctl, _SECOND, tuple(REQUESTS.values()), REFUSE | errno.EPERM, ALLOW),
        *_asked(kernel.ptrace, _SECOND, (INIT,), REFUSE | errno.EPERM, ALLOW),
        *(each for call in kernel.reaches for each in _asked(call, _FIRST, (INIT,), REFUSE | errno.EPERM, ALLOW)),
        *_at_most(kernel.shmget, SHARED_BYTES, REFUSE | errno.ENOMEM),
        (_RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("<HBBI", *each) for each in steps)


def _if(test: int, value: int, answer: int) -> Sequence[_Step]:
    return (test, 0, 1, value), (_RETURN, 0, 0, answer)


def _unless(test: int, value: int, answer: int) -> Sequence[_Step]:
    return (test, 1, 0, value), (_RETURN, 0, 0, answer)


def _at_most(number: int, most: int, answer: int) -> Sequence[_Step]:
    """What is answered to one call whose second argument, both halves of it, is larger."""
    inside = [
        (_LOAD, 0, 0, _SECOND + 4),
        *_unless(_EQUAL, 0, answer),
        (_LOAD, 0, 0, _SECOND),
        *_if(_AT_LEAST, most + 1, answer),
        (_RETURN, 0, 0, ALLOW),
    ]
    return (_EQUAL, 0, len(inside), number), *inside


def _asked(number: int, argument: int, values: Sequence[int], answer: int, otherwise: int) -> Sequence[_Step]:
    """What is answered to one call by its argument; the kernel looks at the lower half of it alone."""
    inside: list[_Step] = [(_LOAD, 0, 0, argument)]
    for each in values:
        inside += _if(_EQUAL, each, answer)
    inside.append((_RETURN, 0, 0, otherwise))
    return (_EQUAL, 0, len(inside), number), *inside
