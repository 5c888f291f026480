"""From what a pod asks for to what the kernel is told.

CPU requests become *shares*: a weight that counts only when CPUs are short, 1024 for a
whole one, never below 2. CPU limits become a *quota* of microseconds in each period of
100 ms, never below 1 ms. Memory limits are bytes. Memory requests become nothing at all
here: they are for the scheduler (and, if asked for, `memory.min`).

Version 2 of cgroups has no shares but a *weight* from 1 to 10000. Until 2025 the range
was stretched over it in a straight line, so that a request of one CPU (1024) became 39,
well below the 100 that a group has by default; now a curve goes through (2, 1), (1024,
100) and (262144, 10000).

Upstream: `pkg/kubelet/cm/helpers_linux.go` (`MilliCPUToShares`, `MilliCPUToQuota`,
`ResourceConfigForPod`), `opencontainers/cgroups` (`ConvertCPUSharesToCgroupV2Value`),
v1.36. Left out: resources taken by dynamic allocation. Of a pod that is resized the
spec is what it was promised (see `allocation`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.qos import get_pod_qos
from lifecycle.api.pods.resources import (
    PodResourcesOptions,
    ResourceList,
    pod_limits,
    pod_requests,
    resource_list,
)
from lifecycle.api.quantity import parse_quantity

MIN_SHARES = 2
MAX_SHARES = 262144
SHARES_PER_CPU = 1024
QUOTA_PERIOD = 100_000
MIN_QUOTA_PERIOD = 1_000
HUGE_PAGES_PREFIX = "hugepages-"
PAGE_SIZE = 4096
_ZERO = parse_quantity("0")


@dataclass(slots=True, frozen=True)
class ResourceConfig:
    """Limits of one cgroup, version-neutral. None: leave it as it is. `memory` in
    bytes, quota and period in µs, -1: no limit.
    """

    cpu_shares: int | None = None
    cpu_quota: int | None = None
    cpu_period: int | None = None
    memory: int | None = None
    pids_limit: int | None = None
    hugepage_limit: Mapping[str, int] = field(default_factory=dict)
    """Bytes by page size as the kernel spells it: `2MB`, `1GB`."""
    unified: Mapping[str, str] = field(default_factory=dict)
    """Files of version 2, as they are to be written."""


def milli_cpu_to_shares(milli_cpu: int) -> int:
    """Thousandths of a CPU → shares."""
    return min(max(milli_cpu * SHARES_PER_CPU // 1000, MIN_SHARES), MAX_SHARES)


def milli_cpu_to_quota(milli_cpu: int, period: int = QUOTA_PERIOD) -> int:
    """Thousandths of a CPU → µs per period; 0 stays 0, which means no limit."""
    return max(milli_cpu * period // 1000, MIN_QUOTA_PERIOD) if milli_cpu else 0


def cpu_shares_to_weight(shares: int) -> int:
    """Shares → `cpu.weight`, by the curve that runtimes and kubelet use since 2025."""
    if shares == 0:
        return 0
    if shares <= MIN_SHARES:
        return 1
    if shares >= MAX_SHARES:
        return 10000
    log = math.log2(shares)
    return math.ceil(10 ** ((log * log + 125 * log) / 612 - 7 / 34))


def _milli(resources: Object | None, key: str) -> dict[str, int]:
    return milli_values(resource_list((resources or {}).get(key)))


def milli_values(quantities: ResourceList) -> dict[str, int]:
    """A resource list in thousandths."""
    return {name: quantity.milli() for name, quantity in quantities.items()}


def _limits(pod: Object) -> tuple[dict[str, int], set[str]]:
    """A pod's limits in thousandths, and what of it is limited at every time: only then
    the pod as a whole is.
    """
    names = {"cpu", "memory"}
    own = resource_list((pod["spec"].get("resources") or {}).get("limits"))

    def note(limits: ResourceList) -> None:
        for name in tuple(names):
            if name not in limits or limits[name].is_zero:
                names.discard(name)

    total = milli_values(pod_limits(pod, PodResourcesOptions(container_fn=note)))
    return total, names | {
        name for name in ("cpu", "memory") if name in own and not own[name].is_zero
    }


def hugepage_size(resource_name: str) -> str:
    """`hugepages-2Mi` → `2MB`, the kernel's spelling."""
    size = parse_quantity(resource_name.removeprefix(HUGE_PAGES_PREFIX)).value()
    for unit, factor in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if size >= factor:
            return f"{size // factor}{unit}"
    return f"{size}B"


def hugepage_limits(pod: Object) -> dict[str, int]:
    """Bytes of huge pages by page size."""
    limits = milli_values(pod_limits(pod))
    return {
        hugepage_size(n): value // 1000
        for n, value in limits.items()
        if n.startswith(HUGE_PAGES_PREFIX)
    }


def resource_config_for_pod(
    pod: Object,
    *,
    enforce_cpu_limits: bool = True,
    cpu_period: int = QUOTA_PERIOD,
    pod_pids_limit: int = -1,
    memory_qos: bool = False,
) -> ResourceConfig:
    """The limits of a pod's own cgroup. `pod_pids_limit` is the kubelet's setting,
    `memory_qos` its alpha feature.
    """
    requests = milli_values(pod_requests(pod))
    limits, limited = _limits(pod)
    shares = milli_cpu_to_shares(requests.get("cpu", limits.get("cpu", 0)))
    quota = (
        milli_cpu_to_quota(limits.get("cpu", 0), cpu_period)
        if enforce_cpu_limits
        else -1
    )
    memory = limits.get("memory", 0) // 1000
    unified = {}
    if memory_qos and requests.get("memory"):
        unified["memory.min"] = str(requests["memory"] // 1000)
    qos = get_pod_qos(pod)
    extra: dict[str, object] = {
        "hugepage_limit": hugepage_limits(pod),
        "unified": unified,
    }
    if pod_pids_limit > 0:
        extra["pids_limit"] = pod_pids_limit
    if qos == "BestEffort":
        return ResourceConfig(cpu_shares=MIN_SHARES, **extra)  # type: ignore[arg-type]
    cpu_limited = qos == "Guaranteed" or "cpu" in limited
    memory_limited = qos == "Guaranteed" or "memory" in limited
    return ResourceConfig(
        cpu_shares=shares,
        cpu_quota=quota if cpu_limited else None,
        cpu_period=cpu_period if cpu_limited else None,
        memory=memory if memory_limited else None,
        **extra,  # type: ignore[arg-type]
    )


def memory_high(
    container: Object, node_allocatable_memory: int, throttling_factor: float = 0.9
) -> int | None:
    """Where the kernel begins to slow a container down, in bytes (memory QoS, alpha).
    None: nowhere before its limit.
    """
    requests, limits = (
        _milli(container.get("resources"), "requests"),
        _milli(container.get("resources"), "limits"),
    )
    request = requests.get("memory", 0) // 1000
    ceiling = (
        limits["memory"] // 1000 if limits.get("memory") else node_allocatable_memory
    )
    if request == ceiling:
        return None
    return int(
        (request + throttling_factor * (ceiling - request)) // PAGE_SIZE * PAGE_SIZE
    )


def total_cpu_request(pods: Iterable[Object]) -> int:
    """Thousandths of a CPU that pods request together."""
    return sum(pod_requests(pod).get("cpu", _ZERO).milli() for pod in pods)
