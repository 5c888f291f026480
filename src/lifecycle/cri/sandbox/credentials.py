"""Who a container's process is and what it may do: user, groups, capabilities, no new
privileges, resource limits.

The order matters. The bounding set can only be cut while one still has `CAP_SETPCAP`,
and only before the user changes; changing the user away from root drops what is
effective unless the kernel is told to keep it, and the last word is `capset`, which for
a user other than root leaves nothing effective after `exec` anyway.

Upstream: runc `libcontainer/init_linux.go` (`finalizeNamespace`),
`capabilities/capabilities.go`. Left out: ambient capabilities (the kubelet sets none),
keyrings.
"""

from __future__ import annotations

import os
import stat
from typing import Any

from lifecycle.cri.capability_names import ALL_CAPABILITIES
from lifecycle.cri.sandbox import seccomp
from lifecycle.cri.sandbox import syscalls as sys

MAX_INTERPRETERS = 5
"""So often the kernel follows a script to another one."""


def capability_bits(names: list[str]) -> int:
    """`CAP_…` names as bits by number; unknown names are left out."""
    known = {"CAP_" + name: number for number, name in enumerate(ALL_CAPABILITIES)}
    return sum(1 << known[name] for name in set(names) if name in known)


def own_capabilities() -> int:
    """What this process may use at most."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("CapPrm:"):
                return int(line.split()[1], 16)
    return 0


def become(process: dict[str, Any], filter_: bytes = b"") -> None:
    """From root with everything to what the spec says. `process` is the spec's,
    `filter_` its seccomp profile, compiled.

    The filter comes first: later there may be no right left to install one. What is
    done after it, every profile has to allow: it is what each program does at its
    start.
    """
    if process.get("noNewPrivileges"):
        sys.prctl(sys.PR_SET_NO_NEW_PRIVS, 1)
    if filter_:
        seccomp.install(filter_)
    own = own_capabilities()
    capabilities = process.get("capabilities") or {}
    bounding = capability_bits(capabilities.get("bounding") or [])
    for number in range(len(ALL_CAPABILITIES)):
        if own >> number & 1 and not bounding >> number & 1:
            sys.prctl(sys.PR_CAPBSET_DROP, number)
    user = process["user"]
    sys.prctl(sys.PR_SET_KEEPCAPS, 1)
    os.setgroups(user.get("additionalGids") or [])
    os.setresgid(user["gid"], user["gid"], user["gid"])
    os.setresuid(user["uid"], user["uid"], user["uid"])
    permitted = capability_bits(capabilities.get("permitted") or []) & own
    sys.set_capabilities(
        capability_bits(capabilities.get("effective") or []) & own, permitted
    )


def refuse_own_program(program: str) -> None:
    """Raises PermissionError for a program that is, by a link or as a script's
    interpreter, the very one that runs here: the machine's own Python, which a
    container may be given a handle to no more than runc's (CVE-2019-5736).

    A container that is already running could exchange the link in the moment between
    this look and `exec`; then what it holds is a sealed copy: see `own_program`.
    """
    here = os.stat("/proc/self/exe")
    for _ in range(MAX_INTERPRETERS):
        opened = os.open(program, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(opened, "rb") as file:
            look = os.fstat(opened)
            if os.path.samestat(look, here) or not stat.S_ISREG(look.st_mode):
                raise PermissionError(f'exec: "{program}": permission denied')
            head = file.read(256)
        words = head[2:].split(b"\n")[0].split()
        if not head.startswith(b"#!") or not words:
            return
        program = os.fsdecode(words[0])
        if not os.path.exists(program):
            return  # the kernel has its own words for that


def find_program(name: str, path: str) -> str:
    """Where a command is. Raises FileNotFoundError or PermissionError with runc's
    words.
    """
    if "/" in name:
        if not os.path.exists(name):
            raise FileNotFoundError(
                f'exec: "{name}": stat {name}: no such file or directory'
            )
        if os.path.isdir(name):
            raise PermissionError(f'exec: "{name}": is a directory')
        if not os.access(name, os.X_OK):
            raise PermissionError(f'exec: "{name}": permission denied')
        return name
    for directory in path.split(":"):
        candidate = f"{directory or '.'}/{name}"
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    raise FileNotFoundError(f'exec: "{name}": executable file not found in $PATH')
