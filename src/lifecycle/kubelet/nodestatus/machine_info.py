"""What a kubelet says of its machine: kernel, operating system, identity.

A real node is asked. A node that is only there on paper is the kind node that was
recorded, in everything that no machine can be asked for.

Upstream: `pkg/kubelet/nodestatus/setters.go` (`MachineInfo`, `VersionInfo`), cAdvisor
`utils/sysinfo`, `machine/machine.go` and `machine/operatingsystem_unix.go`.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

PAPER_CAPACITY: Mapping[str, str] = {
    "cpu": "2",
    "ephemeral-storage": "264212084Ki",
    "hugepages-1Gi": "0",
    "hugepages-2Mi": "0",
    "memory": "24684096Ki",
    "pods": "110",
}
"""The recorded kind node's."""


GOARCH: Mapping[str, str] = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "i686": "386",
    "wasm32": "wasm",
}
"""Go's names of what the kernel calls its machine."""


def paper_machine_info() -> dict[str, str]:
    """Fields of `nodeInfo`. All kind nodes are containers of one machine, so their ids
    are the same.
    """
    machine = sha256(b"machine").hexdigest()[:32]
    boot = sha256(b"boot").hexdigest()
    return {
        "machineID": machine,
        "systemUUID": machine,
        "bootID": (
            f"{boot[:8]}-{boot[8:12]}-4{boot[13:16]}-a{boot[17:20]}-{boot[20:32]}"
        ),
        "kernelVersion": "6.18.0",
        "osImage": "Debian GNU/Linux 12 (bookworm)",
        "architecture": "amd64",
    }


def machine_info(root: Path = Path("/")) -> dict[str, str]:
    """The same of the machine that this runs on. What it does not tell is empty, but
    for the system's UUID, which is then the machine's id, as with cAdvisor.
    """
    machine = _first_line(root, "etc/machine-id", "var/lib/dbus/machine-id")
    return {
        "machineID": machine,
        "systemUUID": _first_line(
            root, "sys/class/dmi/id/product_uuid", "proc/device-tree/vm,uuid"
        )
        or machine,
        "bootID": _first_line(root, "proc/sys/kernel/random/boot_id"),
        "kernelVersion": os.uname().release,
        "osImage": _pretty_name(root),
        "architecture": GOARCH.get(os.uname().machine, os.uname().machine),
    }


def _first_line(root: Path, *names: str) -> str:
    for name in names:
        try:
            text = (root / name).read_text().strip()
        except (OSError, UnicodeDecodeError):
            continue
        if text:
            return text
    return ""


def _pretty_name(root: Path) -> str:
    """Upstream's word for a system without a name is `Linux`, too."""
    for name in ("etc/os-release", "usr/lib/os-release"):
        try:
            lines = (root / name).read_text().splitlines()
        except (OSError, UnicodeDecodeError):
            continue
        for line in lines:
            key, _, value = line.partition("=")
            if key.strip() == "PRETTY_NAME":
                return " ".join(shlex.split(value))
    return "Linux"
