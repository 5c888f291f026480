"""`RuntimeDefault`: which system calls a container may make if its pod says so.

The kernel has some 380 calls, and a program in a container needs few of them. The
others – mounting, loading modules, other machines' clocks, tracing what is older – are
either useless there or a way out. The list is not ours: it is the one that Docker's
authors publish and that containerd's own is level with. A capability opens the calls
that it is for.

Upstream: containerd `contrib/seccomp/seccomp_default.go` (`DefaultProfile`),
`internal/cri/server/container_create_linux.go` (`generateSeccompSpecOpts`); OCI
runtime-spec v1.3 `config-linux.md` (Seccomp). Left out: 32-bit programs: their calls
are refused.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Collection
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from lifecycle.cri.apis.message import Fields

Spec = dict[str, Any]

EPERM = 1


def seccomp_of(
    profile: Fields | None, capabilities: Collection[str], privileged: bool
) -> Spec | None:
    """The filter of a CRI `SecurityProfile`; None for none at all, which is also what
    no profile means. `capabilities`
    are those that the container holds. Raises OSError, ValueError for a profile of
    the node that cannot be read.
    """
    if privileged or profile is None:
        return None
    kind = profile.get("profile_type") or "RuntimeDefault"
    if kind == "Unconfined":
        return None
    if kind == "Localhost":
        document = json.loads(Path(profile.get("localhost_ref") or "").read_text())
        if not isinstance(document, dict) or "defaultAction" not in document:
            raise ValueError(
                f"seccomp profile {profile.get('localhost_ref')} has no defaultAction"
            )
        return document
    return default_profile(capabilities)


def default_profile(
    capabilities: Collection[str], machine: str = platform.machine()
) -> Spec:
    """The profile as the OCI spec has it. `capabilities` with `CAP_` in
    front.
    """
    rules: list[Spec] = []
    plain: list[str] = []
    for call, held, without, only, argument, operator, value, error in _rows():
        if (held and held not in capabilities) or (only and only != machine):
            continue
        if without and without in capabilities:
            continue
        if error != "0":
            rules.append(_rule(call, "SCMP_ACT_ERRNO", errnoRet=int(error)))
        elif operator:
            test: Spec = {
                "index": int(argument),
                "op": f"SCMP_CMP_{operator}",
                "value": int(value),
            }
            rules.append(_rule(call, "SCMP_ACT_ALLOW", args=[test]))
        else:
            plain.append(call)
    rules.insert(0, {"names": sorted(set(plain)), "action": "SCMP_ACT_ALLOW"})
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": EPERM,
        "syscalls": rules,
    }


def _rule(call: str, action: str, **more: Any) -> Spec:
    return {"names": [call], "action": action, **more}


@cache
def _rows() -> tuple[tuple[str, ...], ...]:
    text = resources.files("lifecycle.cri").joinpath("seccomp.tsv").read_text()
    return tuple(tuple(line.split("\t")) for line in text.splitlines()[2:])
