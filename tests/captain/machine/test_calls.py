"""What the kernel is told of system calls, run here as it runs it, for every machine that is known."""

import errno
import struct

import pytest

from clankie_captain.machine.calls import ALLOW, FAMILIES, KERNELS, KILL, REFUSE, REQUESTS, SHARED_BYTES, program

pytestmark = pytest.mark.requirement("GRANT-4")


def answered(machine: str, nr: int, *arguments: int, arch: int | None = None) -> int:
    """What the kernel would do about a call."""
    told = program(machine)
    assert told is not None
    steps, at, held = list(struct.iter_unpack("<HBBI", told)), 0, 0
    data = struct.pack("<IIQ6Q", nr, KERNELS[machine].arch if arch is None else arch, 0, *(*arguments, *[0] * 6)[:6])
    while True:
        code, yes, no, value = steps[at]
        at += 1
        if code == 0x20:
            held = struct.unpack_from("<I", data, value)[0]
        elif code == 0x06:
            return value
        else:
            at += yes if (held == value if code == 0x15 else held >= value) else no


@pytest.mark.parametrize("machine", KERNELS)
def test_calls_that_get_round_the_walls_are_refused_and_all_others_go_through(machine: str) -> None:
    kernel = KERNELS[machine]
    special = {*kernel.refused, kernel.socket, kernel.ioctl, kernel.ptrace, kernel.shmget, *kernel.reaches}
    assert len(special) == 19
    for number in range(600):
        expected = REFUSE | kernel.refused[number] if number in kernel.refused else ALLOW
        if number not in special - kernel.refused.keys():
            assert answered(machine, number, 2**64 - 1) == expected
        assert answered(machine, number, arch=0x4000_0003) == KILL
    assert answered(machine, 0x4000_0000 + kernel.socket) == REFUSE | errno.ENOSYS


@pytest.mark.parametrize("machine", KERNELS)
def test_arguments_are_judged_as_the_kernel_will_read_them(machine: str) -> None:
    kernel, above = KERNELS[machine], 1 << 32
    for family in range(50):
        expected = ALLOW if family in FAMILIES else REFUSE | errno.EAFNOSUPPORT
        assert answered(machine, kernel.socket, family) == expected
        assert answered(machine, kernel.socket, family | above) == expected
    for request in REQUESTS.values():
        assert answered(machine, kernel.ioctl, 3, request) == REFUSE | errno.EPERM
        assert answered(machine, kernel.ioctl, 3, request | above) == REFUSE | errno.EPERM
    assert answered(machine, kernel.ioctl, 3, 0x5401) == ALLOW
    for size, expected in (
        (0, ALLOW),
        (SHARED_BYTES, ALLOW),
        *((each, REFUSE | errno.ENOMEM) for each in (SHARED_BYTES + 1, above, above + 1, 2**64 - 1)),
    ):
        assert answered(machine, kernel.shmget, 0, size) == expected
    for process in (0, 1, 1 | above, 2, 300):
        expected = REFUSE | errno.EPERM if process % above == 1 else ALLOW
        assert answered(machine, kernel.ptrace, 16, process) == expected
        assert {answered(machine, each, process) for each in kernel.reaches} == {expected}


def test_a_machine_whose_calls_are_not_known_has_no_such_wall() -> None:
    assert program("s390x") is None
