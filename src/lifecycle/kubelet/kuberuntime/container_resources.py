"""A container's own limits, which the kubelet computes but the runtime writes.

They travel in the CRI call `CreateContainer`. Beside CPU and memory there is the score
that says whom the kernel kills first when memory runs out: 1000 for a container that
asked for nothing, next to nothing for a guaranteed one, and in between the less the
more it asked for.

Upstream: `pkg/kubelet/kuberuntime/kuberuntime_container_linux.go`
(`generateLinuxContainerResources`, `calculateLinuxResources`),
`pkg/kubelet/qos/policy.go` (`GetContainerOOMScoreAdjust`), v1.36. Left out: swap.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.pod_util import is_restartable_init_container
from lifecycle.api.qos import get_pod_qos
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.wire import Object
from lifecycle.kubelet.cm.resource_config import (
    HUGE_PAGES_PREFIX,
    QUOTA_PERIOD,
    hugepage_size,
    milli_cpu_to_quota,
    milli_cpu_to_shares,
)

GUARANTEED_OOM_SCORE_ADJ = -997
BEST_EFFORT_OOM_SCORE_ADJ = 1000


def _amount(container: Object, key: str, name: str) -> int | None:
    text = ((container.get("resources") or {}).get(key) or {}).get(name)
    return None if text is None else parse_quantity(str(text)).milli()


def oom_score_adjust(pod: Object, container: Object, memory_capacity: int) -> int:
    """`oom_score_adj` of a container's processes, -1000 … 1000. `memory_capacity`: the
    node's, in bytes.

    A sidecar is not to be killed before the containers it serves: it gets no more than
    the least of theirs.
    """
    if pod["spec"].get("priorityClassName") == "system-node-critical":
        return GUARANTEED_OOM_SCORE_ADJ
    qos = get_pod_qos(pod)
    if qos == "Guaranteed":
        return GUARANTEED_OOM_SCORE_ADJ
    if qos == "BestEffort":
        return BEST_EFFORT_OOM_SCORE_ADJ
    request = (_amount(container, "requests", "memory") or 0) // 1000
    if is_restartable_init_container(container):
        others = [
            (_amount(c, "requests", "memory") or 0) // 1000
            for c in pod["spec"]["containers"]
        ]
        request = max(request, *others)
    score = 1000 - 1000 * request // memory_capacity
    if score < 1000 + GUARANTEED_OOM_SCORE_ADJ:
        return 1000 + GUARANTEED_OOM_SCORE_ADJ
    return score - 1 if score == BEST_EFFORT_OOM_SCORE_ADJ else score


def linux_container_resources(
    pod: Object,
    container: Object,
    memory_capacity: int,
    *,
    page_sizes: tuple[str, ...] = ("2MB", "1GB"),
    enforce_cpu_limits: bool = True,
) -> dict[str, Any]:
    """`LinuxContainerResources` as CRI spells them; fields that are zero are left out,
    as on the wire.
    """
    cpu_request, cpu_limit = (
        _amount(container, "requests", "cpu"),
        _amount(container, "limits", "cpu"),
    )
    memory = (_amount(container, "limits", "memory") or 0) // 1000
    shares = milli_cpu_to_shares(
        cpu_limit if cpu_request is None and cpu_limit else cpu_request or 0
    )
    limits = (container.get("resources") or {}).get("limits") or {}
    pages = {
        hugepage_size(name): parse_quantity(str(limits[name])).value()
        for name in limits
        if _is_page(name)
    }
    resources = {
        "cpu_period": QUOTA_PERIOD,
        "cpu_quota": milli_cpu_to_quota(cpu_limit or 0) if enforce_cpu_limits else 0,
        "cpu_shares": shares,
        "memory_limit_in_bytes": memory,
        "memory_swap_limit_in_bytes": memory,
        "oom_score_adj": oom_score_adjust(pod, container, memory_capacity),
        "hugepage_limits": [
            {"page_size": size} | ({"limit": pages[size]} if pages.get(size) else {})
            for size in page_sizes
        ],
    }
    return {name: value for name, value in resources.items() if value}


def _is_page(name: str) -> bool:
    return name.startswith(HUGE_PAGES_PREFIX)
