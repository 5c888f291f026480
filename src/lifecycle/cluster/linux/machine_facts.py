"""What this machine has, as a Node says it.

Upstream: cAdvisor `machine/machine.go` (`GetMachineMemoryCapacity`,
`GetHugePagesInfo`), `fs/fs.go` (`GetDirFsDevice`), `pkg/kubelet/cadvisor/util.go`
(`CapacityFromMachineInfo`), v1.36.
"""

from __future__ import annotations

import os
from pathlib import Path

from lifecycle.api.quantity import Format, Quantity

HUGE_PAGES = Path("/sys/kernel/mm/hugepages")
MAX_PODS = 110


def machine_capacity(
    directory: Path = Path("/"), huge_pages: Path = HUGE_PAGES
) -> dict[str, str]:
    """Every node claims the whole machine, as kind's do, and the whole disk that
    `directory` is on.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    disk = os.statvfs(directory)
    return {
        "cpu": str(os.cpu_count() or 1),
        "ephemeral-storage": _bytes(disk.f_blocks * disk.f_frsize),
        **_huge_pages(huge_pages),
        "memory": _bytes(memory),
        "pods": str(MAX_PODS),
    }


def _huge_pages(where: Path) -> dict[str, str]:
    """Bytes set aside for pages of each size that the kernel knows."""
    found = {}
    for pool in sorted(where.glob("hugepages-*kB")):
        size = int(pool.name.removeprefix("hugepages-").removesuffix("kB")) << 10
        pages = int((pool / "nr_hugepages").read_text())
        found[f"hugepages-{_bytes(size)}"] = _bytes(size * pages)
    return found


def _bytes(amount: int) -> str:
    return str(Quantity(amount, 0, Format.BINARY_SI))
