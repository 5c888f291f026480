"""The `cpu.weight` of shares until 2025: a straight line from the range of version 1 of
cgroups to that of version 2.

A request of one CPU (1024 shares) became 39, well below the 100 that a group has by
default. What is done now is `kubelet.cm.resource_config.cpu_shares_to_weight`.

Upstream: `opencontainers/cgroups` (`ConvertCPUSharesToCgroupV2Value`) before the curve;
the kubelet's KEP-2254 has the same line.
"""

from __future__ import annotations


def cpu_shares_to_weight_linear(shares: int) -> int:
    """Shares → `cpu.weight`; 0 stays 0, which means that nothing is set."""
    return 0 if shares == 0 else 1 + (shares - 2) * 9999 // 262142
