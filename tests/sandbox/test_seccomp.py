"""The filter of system calls, interpreted for both processors: the table of the one that is not at hand is tested, too."""

from __future__ import annotations

import errno
import struct

import pytest

from finexpert.isolation import seccomp

_SELF = 4711
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBERS = {
    "x86_64": {
        "read": 0, "openat": 257, "clone3": 435, "clone": 56, "fcntl": 72, "ioctl": 16, "prlimit64": 302, "tgkill": 234,
        "socket": 41, "connect": 42, "execve": 59, "execveat": 322, "fork": 57, "vfork": 58, "kill": 62, "tkill": 200,
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "memfd_create": 319, "shmget": 29, "bpf": 321,
        "io_uring_setup": 425, "unshare": 272, "mount": 165, "setns": 308, "keyctl": 250, "userfaultfd": 323,
        "pidfd_send_signal": 424, "unlink": 87, "rename": 82, "chmod": 90, "prctl": 157, "seccomp": 317, "setrlimit": 160,
    },
    "aarch64": {
        "read": 63, "openat": 56, "clone3": 435, "clone": 220, "fcntl": 25, "ioctl": 29, "prlimit64": 261, "tgkill": 131,
        "socket": 198, "connect": 203, "execve": 221, "execveat": 281, "kill": 129, "tkill": 130, "ptrace": 117,
        "process_vm_readv": 270, "process_vm_writev": 271, "memfd_create": 279, "shmget": 194, "bpf": 280,
        "io_uring_setup": 425, "unshare": 97, "mount": 40, "setns": 268, "keyctl": 219, "userfaultfd": 282,
        "pidfd_send_signal": 424, "unlinkat": 35, "renameat": 38, "fchmodat": 53, "prctl": 167, "seccomp": 277,
        "setrlimit": 164,
    },
}  # fmt: skip
_CONDITIONAL = {"read", "openat", "clone3", "fcntl", "ioctl", "prlimit64", "tgkill"}
_MACHINES = pytest.mark.parametrize("machine", ["x86_64", "aarch64"])


def _decide(machine: str, number: int, *arguments: int, audit: int | None = None) -> int:
    """What the kernel would do, by an interpreter of the few instructions that the filter uses."""
    audit = seccomp.MACHINES[machine].audit if audit is None else audit
    words = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number, audit, 0, *words)
    program, place, value = seccomp.program(machine, _SELF), 0, 0
    while True:
        code, then, otherwise, operand = program[place]
        place += 1
        match code:
            case 0x20:
                value = struct.unpack_from("<I", data, operand)[0]
            case 0x06:
                return operand
            case 0x15:
                place += then if value == operand else otherwise
            case 0x35:
                place += then if value >= operand else otherwise
            case 0x45:
                place += then if value & operand else otherwise
            case _:
                raise AssertionError(f"an instruction that is not expected: {code:#x}")


@_MACHINES
def test_what_is_not_listed_is_denied(machine: str) -> None:
    for name, number in _NUMBERS[machine].items():
        if name not in _CONDITIONAL:
            assert _decide(machine, number) == _ERRNO | errno.EPERM, name


@_MACHINES
def test_what_is_listed_is_allowed(machine: str) -> None:
    column = seccomp.MACHINES[machine].column
    for row in seccomp.ALLOWED:
        if row[column] is not None:
            assert _decide(machine, int(row[column] or 0)) == _ALLOW, row[0]


@_MACHINES
def test_no_number_is_listed_twice(machine: str) -> None:
    numbers = [row[seccomp.MACHINES[machine].column] for row in seccomp.ALLOWED]
    known = [number for number in numbers if number is not None]
    assert len(set(known)) == len(known)


@_MACHINES
def test_other_architectures_are_killed(machine: str) -> None:
    assert _decide(machine, 0, audit=0x40000003) == _KILL
    other = {"x86_64": "aarch64", "aarch64": "x86_64"}[machine]
    assert _decide(machine, 0, audit=seccomp.MACHINES[other].audit) == _KILL


def test_x32_is_killed() -> None:
    assert _decide("x86_64", 0x40000000 | 1) == _KILL


@_MACHINES
def test_files_are_opened_for_reading_only(machine: str) -> None:
    number = _NUMBERS[machine]["openat"]
    assert _decide(machine, number, 0, 0, 0o2000000) == _ALLOW
    for flags in (1, 2, 0o100, 0o1000, 0o2000, 0o2000000 | 1, 0o20000000 | 2, 0o10000000):
        assert _decide(machine, number, 0, 0, flags) == _ERRNO | errno.EACCES, oct(flags)


@_MACHINES
def test_descriptors_cannot_be_made_to_signal(machine: str) -> None:
    number = _NUMBERS[machine]["fcntl"]
    for allowed in (0, 1, 2, 3, 1030):
        assert _decide(machine, number, 5, allowed) == _ALLOW
    assert _decide(machine, number, 5, 4, 0o4000) == _ALLOW
    assert _decide(machine, number, 5, 4, 0x2000) == _ERRNO | errno.EPERM
    for denied in (5, 6, 7, 8, 10, 15, 1024, 1031, 1033):
        assert _decide(machine, number, 5, denied) == _ERRNO | errno.EPERM


@_MACHINES
def test_other_conditions(machine: str) -> None:
    numbers = _NUMBERS[machine]
    assert _decide(machine, numbers["clone3"]) == _ERRNO | errno.ENOSYS
    assert _decide(machine, numbers["tgkill"], _SELF, _SELF, 6) == _ALLOW
    assert _decide(machine, numbers["tgkill"], 1, 1, 9) == _ERRNO | errno.EPERM
    assert _decide(machine, numbers["prlimit64"], 0, 7, 0, 0xABC) == _ALLOW
    assert _decide(machine, numbers["prlimit64"], 0, 7, 1 << 32, 0) == _ERRNO | errno.EPERM
    assert _decide(machine, numbers["prlimit64"], 0, 7, 0xABC, 0) == _ERRNO | errno.EPERM
    assert _decide(machine, numbers["prlimit64"], 99, 7, 0, 0xABC) == _ERRNO | errno.EPERM
    assert _decide(machine, numbers["ioctl"], 0, 0x5401) == _ALLOW
    assert _decide(machine, numbers["ioctl"], 0, 0x5412) == _ERRNO | errno.ENOTTY
