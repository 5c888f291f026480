"""The default seccomp profile of container runtimes, and the numbers of system calls.

The profile is data that Docker's authors publish (`moby/profiles`, Apache-2.0):
which calls a container may make, which only with a capability, which only with certain
arguments. What is kept of it is that, a line for each call; the numbers are the
kernel's, from its own headers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from generators.first_line import first_line

HEADERS = {
    "x86_64": "x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "asm-generic/unistd.h",
}
"""Below `/usr/include`."""

ARCHES = {"amd64": "x86_64", "arm64": "aarch64"}
_NUMBER = re.compile(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)\b", re.MULTILINE)
_ALIAS = re.compile(r"^#define __NR_(\w+)\s+__NR3264_(\w+)", re.MULTILINE)


def rules(profile: bytes, source: str) -> bytes:
    """`cri/seccomp.tsv`: call, with which capability, without which, on which machine,
    the argument that is looked at, and the error instead (0: allowed).
    """
    document = json.loads(profile)
    assert document["defaultAction"] == "SCMP_ACT_ERRNO"
    lines = sorted(line for rule in document["syscalls"] for line in _lines(rule))
    header = "call\twith\twithout\tmachine\targument\toperator\tvalue\terrno\n"
    text = first_line(
        "What a container may ask of the kernel by default",
        f"seccomp/default.json of {source} (Apache-2.0)",
        "seccomp",
    )
    return (text + header + "".join(lines)).encode()


def _lines(rule: dict[str, object]) -> Iterator[str]:
    includes, excludes = rule.get("includes") or {}, rule.get("excludes") or {}
    assert isinstance(includes, dict)
    assert isinstance(excludes, dict)
    arches = includes.get("arches")
    machines = [ARCHES[each] for each in arches or () if each in ARCHES]
    if arches and not machines:
        return
    machine = machines[0] if len(machines) == 1 else ""
    without = ",".join(excludes.get("caps") or ())
    error = rule.get("errnoRet", 1) if rule["action"] == "SCMP_ACT_ERRNO" else 0
    args = rule.get("args") or [None]
    assert isinstance(args, list)
    assert len(args) == 1
    test = ("", "", "")
    if args[0] is not None:
        operator = args[0]["op"].removeprefix("SCMP_CMP_")
        test = (str(args[0]["index"]), operator, str(args[0]["value"]))
    names = rule["names"]
    assert isinstance(names, list)
    for name in names:
        for capability in includes.get("caps") or ("",):
            fields = (name, capability, without, machine, *test, str(error))
            yield "\t".join(fields) + "\n"


def numbers(include: Path) -> bytes:
    """`cri/sandbox/syscall_numbers.tsv`: call, its number on each machine."""
    by_machine = {
        machine: _numbers((include / path).read_text())
        for machine, path in HEADERS.items()
    }
    text = first_line(
        "The numbers of system calls", "Linux's own headers", "syscall-numbers"
    )
    names = sorted(set().union(*by_machine.values()) - {"arch_specific_syscall"})
    text += "\t".join(("call", *by_machine)) + "\n"
    for name in names:
        row = (str(each.get(name, "")) for each in by_machine.values())
        text += "\t".join((name, *row)) + "\n"
    return text.encode()


def _numbers(header: str) -> dict[str, int]:
    known = {name: int(number) for name, number in _NUMBER.findall(header)}
    for name, other in _ALIAS.findall(header):
        if other in known:
            known.setdefault(name, known[other])
    known.pop("syscalls", None)
    return known
