"""Lines as Go's `klog` writes them, on standard error.

Upstream: `k8s.io/klog/v2`, `klog.go` (`formatHeader`).
"""

from __future__ import annotations

import time

from lifecycle.cri.hollow.process.process import Process


def log(process: Process, text: str, where: str = "log.go:244") -> None:
    """One line of information; a container's program is process 1."""
    now = process.machine.now()
    head = time.strftime("I%m%d %H:%M:%S", time.gmtime(now))
    process.complain(f"{head}.{int(now % 1 * 1e6):06}       1 {where}] {text}")
