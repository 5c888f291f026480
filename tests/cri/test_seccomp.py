"""RuntimeDefault: the profile is the recorded containerd's, the program says what the profile says, and the kernel obeys it."""

from __future__ import annotations

import errno
import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators import seccomp as generator
from lifecycle.agreements.cri.container_runtime import CONTAINERS, PODS, documents
from lifecycle.cri import seccomp_profile
from lifecycle.cri.sandbox import seccomp
from lifecycle.cri.seccomp_profile import default_profile, seccomp_of
from lifecycle.inspector import open_recording
from tests.conftest import unavailable

MACHINE = "x86_64"
NODES = ("lifecycle-worker", "lifecycle-worker2", "lifecycle-control-plane")
ONLY_THERE = {"lsm_get_self_attr", "lsm_list_modules", "lsm_set_self_attr"}
"""The recorded containerd allows them (they came with Linux 6.8); the list that ours is made from does not."""
ONLY_HERE = {"riscv_hwprobe"}
"""Of another machine: without a number it is passed over."""


def rules(profile: dict[str, Any]) -> set[tuple[str, str, str, int]]:
    """Call, argument, action and error."""
    return {
        (name, json.dumps(rule.get("args") or [], sort_keys=True), rule["action"], rule.get("errnoRet", errno.EPERM))
        for rule in profile["syscalls"]
        for name in rule["names"]
    }


def test_the_profile_is_that_of_the_recorded_nodes() -> None:
    recording, compared = open_recording(), 0
    for node in NODES:
        for command in (PODS, CONTAINERS):
            for document in documents(recording, node, command):
                spec = document["info"]["runtimeSpec"]
                theirs = spec["linux"].get("seccomp")
                if theirs is None:
                    continue
                ours = default_profile(spec["process"]["capabilities"].get("bounding") or (), MACHINE)
                assert theirs["defaultAction"] == ours["defaultAction"]
                assert {rule[0] for rule in rules(theirs) - rules(ours)} == ONLY_THERE
                assert {rule[0] for rule in rules(ours) - rules(theirs)} == ONLY_HERE
                compared += 1
    assert compared > 10


def judged(profile: dict[str, Any], number: int, arguments: list[int]) -> int:
    """What the profile says of a call, read rule by rule."""
    known = seccomp.numbers(MACHINE)
    named = max(known[name] for rule in profile["syscalls"] for name in rule["names"] if name in known)
    for rule in profile["syscalls"]:
        for name in rule["names"]:
            if known.get(name) == number and all(fits(arg, arguments) for arg in rule.get("args") or ()):
                verdict = seccomp.ACTIONS[rule["action"]]
                return verdict | rule.get("errnoRet", errno.EPERM) if verdict == seccomp.ERRNO else verdict
    return seccomp.ERRNO | (errno.ENOSYS if number > named else errno.EPERM)


def fits(arg: dict[str, Any], arguments: list[int]) -> bool:
    value, given_ = arg["value"], arguments[arg["index"]]
    return {
        "EQ": given_ == value,
        "NE": given_ != value,
        "LT": given_ < value,
        "LE": given_ <= value,
        "GT": given_ > value,
        "GE": given_ >= value,
        "MASKED_EQ": given_ & value == arg.get("valueTwo", 0),
    }[arg["op"].removeprefix("SCMP_CMP_")]


def executed(code: list[seccomp.Instruction], number: int, arguments: list[int], machine: int) -> int:
    """What the kernel's machine makes of a program: a plain reading of each instruction."""
    words = {seccomp.NUMBER: number, seccomp.MACHINE: machine}
    for index, argument in enumerate(arguments):
        words[seccomp.ARGUMENTS + 8 * index] = argument & 0xFFFFFFFF
        words[seccomp.ARGUMENTS + 8 * index + 4] = argument >> 32
    accumulator = at = 0
    while True:
        operation, yes, no, operand = code[at]
        assert 0 <= yes < 256, "a jump is a byte"
        assert 0 <= no < 256
        at += 1
        if operation == seccomp.LOAD:
            accumulator = words[operand]
        elif operation == seccomp.AND:
            accumulator &= operand
        elif operation == seccomp.RETURN:
            return operand
        else:
            true = {
                seccomp.EQUAL: accumulator == operand,
                seccomp.GREATER: accumulator > operand,
                seccomp.AT_LEAST: accumulator >= operand,
            }[operation]
            at += yes if true else no


CAPABILITIES = ["CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_SYS_TIME", "CAP_BPF", "CAP_SYSLOG"]
NATIVE = seccomp.AUDIT_ARCH[MACHINE]
ODD = [0, 1, 8, 37, 38, 39, 40, 41, 131072, 131080, 4294967295, 2114060288, 1 << 32, (1 << 32) + 39, (1 << 64) - 1]
words_ = st.one_of(st.sampled_from(ODD), st.integers(0, (1 << 64) - 1))


@given(
    st.sets(st.sampled_from(CAPABILITIES)),
    st.one_of(st.integers(0, 500), st.sampled_from([41, 56, 135, 272, 435])),
    st.lists(words_, min_size=6, max_size=6),
)
def test_the_program_says_what_the_profile_says(capabilities: set[str], number: int, arguments: list[int]) -> None:
    profile = default_profile(capabilities, MACHINE)
    assert executed(seccomp.program(profile, MACHINE), number, arguments, NATIVE) == judged(profile, number, arguments)


@given(
    st.sampled_from(["EQ", "NE", "LT", "LE", "GT", "GE", "MASKED_EQ"]),
    words_, words_, words_, words_, words_,
)  # fmt: skip
def test_every_comparison_looks_at_all_64_bits(
    operator: str, value: int, second: int, given_: int, other: int, datum: int
) -> None:
    first = {"index": 2, "value": value, "op": f"SCMP_CMP_{operator}", "valueTwo": datum & value}
    more = {"index": 5, "value": second, "op": "SCMP_CMP_NE"}
    rule = {"names": ["read"], "action": "SCMP_ACT_KILL_PROCESS", "args": [first, more]}
    profile = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [rule]}
    arguments = [0, 0, given_, 0, 0, other]
    verdict = executed(seccomp.program(profile, MACHINE), 0, arguments, NATIVE)
    assert (verdict == seccomp.KILL_PROCESS) == (fits(first, arguments) and fits(more, arguments))


def test_another_convention_is_no_way_around_the_list() -> None:
    code = seccomp.program(default_profile((), MACHINE), MACHINE)
    assert executed(code, 165, [0] * 6, 0x40000003) == seccomp.KILL_PROCESS, "the numbers of i386 mean other calls"
    assert executed(code, seccomp.X32_BIT + 39, [0] * 6, NATIVE) == seccomp.ERRNO | errno.ENOSYS


def test_who_gets_which_profile(tmp_path: Path) -> None:
    default = {"profile_type": "RuntimeDefault"}
    assert seccomp_of(None, (), privileged=False) is None
    assert seccomp_of({"profile_type": "Unconfined"}, (), privileged=False) is None
    assert seccomp_of(default, (), privileged=True) is None
    assert seccomp_of(default, (), privileged=False) == seccomp_of({}, (), privileged=False) == default_profile(())
    own = tmp_path / "own.json"
    local = {"profile_type": "Localhost", "localhost_ref": str(own)}
    with pytest.raises(FileNotFoundError):
        seccomp_of(local, (), privileged=False)
    own.write_text("[]")
    with pytest.raises(ValueError, match=r"has no defaultAction$"):
        seccomp_of(local, (), privileged=False)
    own.write_text(
        '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO"}]}'
    )
    profile = seccomp_of(local, (), privileged=False)
    assert profile is not None
    code = seccomp.program(profile, MACHINE)
    assert executed(code, seccomp.numbers(MACHINE)["mkdir"], [0] * 6, NATIVE) == seccomp.ERRNO | errno.EPERM
    assert executed(code, 900, [0] * 6, NATIVE) == seccomp.ALLOW


@pytest.mark.parametrize(
    ("profile", "complaint"),
    [
        ({"defaultAction": "SCMP_ACT_NOTIFY"}, "action SCMP_ACT_NOTIFY is not known"),
        (
            {
                "defaultAction": "SCMP_ACT_ALLOW",
                "syscalls": [
                    {
                        "names": ["read"],
                        "action": "SCMP_ACT_LOG",
                        "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_X"}],
                    }
                ],
            },
            "operator SCMP_CMP_X is not known",
        ),
    ],
)
def test_what_cannot_be_said_to_the_kernel_is_refused(profile: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        seccomp.program(profile, MACHINE)


OBEYED = """
import ctypes, os
from lifecycle.cri.sandbox import seccomp, syscalls
from lifecycle.cri.seccomp_profile import default_profile
code = seccomp.compiled(default_profile(()))
syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
seccomp.install(code)
libc = ctypes.CDLL(None, use_errno=True)
for name, *arguments in (("getpid",), ("mount", 0, 0, 0, 0, 0), ("unshare", 0x10000000), ("socket", 40, 1, 0), ("socket", 38, 5, 0),
                         ("personality", 0x40000), ("clone3", 0, 0), ("keyctl", 0, 0), ("bpf", 0, 0, 0)):
    ctypes.set_errno(0)
    libc.syscall(seccomp.numbers(os.uname().machine)[name], *arguments)
    print(name, ctypes.get_errno())
"""


def test_the_kernel_obeys_it() -> None:
    if sys.platform != "linux" or platform.machine() not in seccomp.AUDIT_ARCH:
        unavailable("seccomp is Linux's, on x86_64 and aarch64")
    done = subprocess.run([sys.executable, "-c", OBEYED], capture_output=True, text=True, check=True)
    expected = [0, *[errno.EPERM] * 5, errno.ENOSYS, errno.EPERM, errno.EPERM]
    assert [int(line.split()[1]) for line in done.stdout.splitlines()] == expected


SMALL = {
    "defaultAction": "SCMP_ACT_ERRNO",
    "syscalls": [
        {"names": ["read", "arch_only"], "action": "SCMP_ACT_ALLOW", "includes": {"arches": ["amd64", "x32"]}},
        {"names": ["s390"], "action": "SCMP_ACT_ALLOW", "includes": {"arches": ["s390x"]}},
        {"names": ["bpf"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_BPF"]}},
        {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38, "excludes": {"caps": ["CAP_SYS_ADMIN"]}},
        {"names": ["socket"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 38, "op": "SCMP_CMP_LT"}]},
    ],
}


def test_the_tables_are_made_from_the_published_profile_and_the_kernels_headers(tmp_path: Path) -> None:
    lines = generator.rules(json.dumps(SMALL).encode(), "here").decode().splitlines()
    assert lines[0].startswith(
        "# What a container may ask of the kernel by default. Made from seccomp/default.json of here"
    )
    assert lines[2:] == [
        "arch_only\t\t\tx86_64\t\t\t\t0",
        "bpf\tCAP_BPF\t\t\t\t\t\t0",
        "clone3\t\tCAP_SYS_ADMIN\t\t\t\t\t38",
        "read\t\t\tx86_64\t\t\t\t0",
        "socket\t\t\t\t0\tLT\t38\t0",
    ]
    for path, text in {
        generator.HEADERS["x86_64"]: "#define __NR_read 0\n#define __NR_fcntl 72\n",
        generator.HEADERS[
            "aarch64"
        ]: "#define __NR3264_fcntl 25\n#define __NR_fcntl __NR3264_fcntl\n#define __NR_read 63\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text)
    assert generator.numbers(tmp_path).decode().splitlines()[1:] == [
        "call\tx86_64\taarch64",
        "fcntl\t72\t25",
        "read\t0\t63",
    ]
    table = Path(seccomp_profile.__file__).with_name("seccomp.tsv").read_text().splitlines()
    assert "Apache-2.0" in table[0]
    assert seccomp.numbers("x86_64")["openat"] == 257
    assert seccomp.numbers("aarch64")["openat"] == 56
