"""What this machine has, as a Node says it."""

from __future__ import annotations

import os

from lifecycle.kubelet.nodestatus.machine_info import PAPER_CAPACITY


def machine_capacity() -> dict[str, str]:
    """Every node claims the whole machine, as kind's do."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        **PAPER_CAPACITY,
        "cpu": str(os.cpu_count() or 1),
        "memory": f"{memory // 1024}Ki",
    }
