"""A seccomp profile as the program that the kernel runs before each system call.

The program is in the kernel's oldest language for packets (BPF, the classic one): load
a number, compare, jump ahead, return a verdict. It sees which machine's calling
convention is used, the call's number and its six arguments as numbers; it cannot follow
pointers. Once installed it stays, for the process and all its children.

Numbers next to each other share two comparisons, so a list of 360 calls becomes some
60 ranges. Calls that are newer than the whole list are answered as an older kernel
would (ENOSYS), so that programs fall back to what is allowed.

Upstream: libseccomp `src/gen_bpf.c`; runc `libcontainer/seccomp/seccomp_linux.go`,
`patchbpf/enosys_linux.go`; Linux `<linux/seccomp.h>`, `<linux/filter.h>`,
`<linux/audit.h>`. Left out: conventions of 32 bits, notification of a supervisor.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable
from functools import cache
from typing import Any

from lifecycle.cri.sandbox import syscalls

Spec = dict[str, Any]

_NUMBERS = os.path.join(os.path.dirname(__file__), "syscall_numbers.tsv")
"""Read as a file: whoever starts a container loads this, and nothing more than it needs
(`importlib.resources` loads thirty modules).
"""

LOAD, AND, EQUAL, GREATER, AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x25, 0x35, 0x06
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16  # places in the kernel's struct seccomp_data

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000
"""The numbers of x86-64's second convention begin here."""

KILL_PROCESS, KILL_THREAD, TRAP = 0x80000000, 0x00000000, 0x00030000
ERRNO, LOG, ALLOW = 0x00050000, 0x7FFC0000, 0x7FFF0000
ACTIONS = {
    "SCMP_ACT_ALLOW": ALLOW,
    "SCMP_ACT_ERRNO": ERRNO,
    "SCMP_ACT_KILL": KILL_THREAD,
    "SCMP_ACT_KILL_THREAD": KILL_THREAD,
    "SCMP_ACT_KILL_PROCESS": KILL_PROCESS,
    "SCMP_ACT_LOG": LOG,
    "SCMP_ACT_TRAP": TRAP,
}
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
MAX_INSTRUCTIONS = 4096

Instruction = tuple[int, int, int, int]
"""Code, how far to jump if true, if false, and the operand."""


class _Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def compiled(profile: Spec | None) -> bytes:
    """The filter as the kernel takes it; empty for no profile. To be made while the
    package can still be read: in the container it cannot. Raises ValueError.
    """
    if profile is None:
        return b""
    return b"".join(struct.pack("=HBBI", *each) for each in program(profile))


def install(code: bytes) -> None:
    """From here on this process obeys. It needs CAP_SYS_ADMIN, or to have given up new
    privileges. Raises OSError.
    """
    argument = _Program(len(code) // 8, code)
    syscalls.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(argument))


def program(profile: Spec, machine: str = os.uname().machine) -> list[Instruction]:
    """The filter of an OCI profile. Raises ValueError for what cannot be said, or on a
    machine that is not known here.
    """
    if machine not in AUDIT_ARCH:
        raise ValueError(f"seccomp is not known for {machine}")
    known = numbers(machine)
    default = _verdict(
        profile["defaultAction"], profile.get("defaultErrnoRet", errno.EPERM)
    )
    plain: dict[int, set[int]] = {}
    tested: list[Instruction] = []
    named = 0
    for rule in profile.get("syscalls") or ():
        verdict = _verdict(rule["action"], rule.get("errnoRet", errno.EPERM))
        for name in rule.get("names") or ():
            number = known.get(name)
            if number is None:
                continue
            named = max(named, number)
            if rule.get("args"):
                tested += _tested(number, rule["args"], verdict)
            else:
                plain.setdefault(verdict, set()).add(number)
    code: list[Instruction] = [
        (LOAD, 0, 0, MACHINE),
        (EQUAL, 1, 0, AUDIT_ARCH[machine]),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 0, 1, X32_BIT),
        (RETURN, 0, 0, ERRNO | errno.ENOSYS),
    ]
    for verdict, calls in sorted(plain.items()):
        code += _ranges(calls, verdict)
    code += tested
    code.append((LOAD, 0, 0, NUMBER))
    if default & 0xFFFF0000 == ERRNO:
        newest = (GREATER, 0, 1, named)
        code += [newest, (RETURN, 0, 0, ERRNO | errno.ENOSYS)]
    code.append((RETURN, 0, 0, default))
    if len(code) > MAX_INSTRUCTIONS:
        raise ValueError(f"a seccomp filter of {len(code)} instructions is too long")
    return code


def _verdict(action: str, error: int) -> int:
    if action not in ACTIONS:
        raise ValueError(f"seccomp action {action} is not known here")
    verdict = ACTIONS[action]
    return verdict | error if verdict == ERRNO else verdict


def _ranges(calls: Iterable[int], verdict: int) -> list[Instruction]:
    """One verdict for many calls; the accumulator holds the number."""
    code: list[Instruction] = []
    first = last = -2
    for number in [*sorted(calls), 1 << 32]:
        if number == last + 1:
            last = number
            continue
        if first == last >= 0:
            code += [(EQUAL, 0, 1, first), (RETURN, 0, 0, verdict)]
        elif first >= 0:
            code += [
                (AT_LEAST, 0, 2, first),
                (GREATER, 1, 0, last),
                (RETURN, 0, 0, verdict),
            ]
        first = last = number
    return code


def _tested(number: int, args: list[Spec], verdict: int) -> list[Instruction]:
    """A verdict that depends on arguments, all of which have to fit. Each test is a
    block that jumps to the end of all if it fails.
    """
    blocks = [_test(each) for each in args]
    code: list[Instruction] = [(RETURN, 0, 0, verdict)]
    for block in reversed(blocks):
        behind = len(code)
        length = len(block)
        resolved: list[Instruction] = []
        for place, (operation, yes, no, operand) in enumerate(block):
            end, fits = length - place - 1 + behind, length - place - 1
            jumps = [{FAIL: end, FITS: fits}.get(jump, jump) for jump in (yes, no)]
            resolved.append((operation, jumps[0], jumps[1], operand))
        code = [*resolved, *code]
    return [(LOAD, 0, 0, NUMBER), (EQUAL, 0, len(code), number), *code]


FITS, FAIL = -1, -2


def _test(arg: Spec) -> list[Instruction]:
    """A comparison of 64 bits, half by half: the jumps FITS and FAIL leave it."""
    value, operator = arg["value"], arg["op"].removeprefix("SCMP_CMP_")
    low, high = value & 0xFFFFFFFF, value >> 32
    place = ARGUMENTS + 8 * arg["index"]
    load_low, load_high = (LOAD, 0, 0, place), (LOAD, 0, 0, place + 4)
    if operator == "EQ":
        return [load_high, (EQUAL, 0, FAIL, high), load_low, (EQUAL, FITS, FAIL, low)]
    if operator == "NE":
        return [load_high, (EQUAL, 0, FITS, high), load_low, (EQUAL, FAIL, FITS, low)]
    if operator == "MASKED_EQ":
        datum = arg.get("valueTwo", 0)
        return [
            load_high,
            (AND, 0, 0, high),
            (EQUAL, 0, FAIL, datum >> 32),
            load_low,
            (AND, 0, 0, low),
            (EQUAL, FITS, FAIL, datum & 0xFFFFFFFF),
        ]
    orders = {
        "GT": (FITS, FAIL, (GREATER, FITS, FAIL, low)),
        "GE": (FITS, FAIL, (AT_LEAST, FITS, FAIL, low)),
        "LT": (FAIL, FITS, (AT_LEAST, FAIL, FITS, low)),
        "LE": (FAIL, FITS, (GREATER, FAIL, FITS, low)),
    }
    if operator not in orders:
        raise ValueError(f"seccomp operator {arg['op']} is not known here")
    above, below, last = orders[operator]
    return [
        load_high,
        (GREATER, above, 0, high),
        (EQUAL, 0, below, high),
        load_low,
        last,
    ]


@cache
def numbers(machine: str) -> dict[str, int]:
    """The system calls of a machine by name."""
    with open(_NUMBERS, encoding="ascii") as file:
        head, *rows = (line.split("\t") for line in file.read().splitlines()[1:])
    column = head.index(machine)
    return {row[0]: int(row[column]) for row in rows if row[column]}
