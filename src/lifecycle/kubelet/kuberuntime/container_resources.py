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

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.pod_util import is_restartable_init_container
from lifecycle.api.pods.qos import get_pod_qos
from lifecycle.api.pods.resources import (
    aggregate_container_requests,
    is_pod_level_resources_set,
)
from lifecycle.api.quantity import parse_quantity
from lifecycle.kubelet.cm.resource_config import (
    HUGE_PAGES_PREFIX,
    QUOTA_PERIOD,
    hugepage_size,
    milli_cpu_to_quota,
    milli_cpu_to_shares,
    milli_values,
)

GUARANTEED_OOM_SCORE_ADJ = -997
BEST_EFFORT_OOM_SCORE_ADJ = 1000


def _amount(container: Object, key: str, name: str) -> int | None:
    text = ((container.get("resources") or {}).get(key) or {}).get(name)
    return None if text is None else parse_quantity(str(text)).milli()


def _limit(pod: Object, container: Object, name: str) -> int | None:
    """A container's limit; one without has the pod's, where the pod as a whole has
    any. Upstream: `getCPULimit`, `getMemoryLimit`.
    """
    own = _amount(container, "limits", name)
    if not own and is_pod_level_resources_set(pod["spec"]):
        return _amount(pod["spec"], "limits", name)
    return own


def _memory_request(container: Object) -> int:
    """In bytes."""
    return (_amount(container, "requests", "memory") or 0) // 1000


def _share_of_pod_request(pod: Object) -> int:
    """Bytes for each container of what only the pod as a whole asks for. Upstream:
    `remainingPodMemReqPerContainer`.
    """
    spec = pod["spec"]
    whole = _memory_request(spec)
    if not whole:
        return 0
    asked = milli_values(aggregate_container_requests(pod)).get("memory", 0) // 1000
    number = len(spec["containers"]) + len(spec.get("initContainers") or ())
    return (whole - asked) // number


def oom_score_adjust(pod: Object, container: Object, memory_capacity: int) -> int:
    """`oom_score_adj` of a container's processes, -1000 … 1000. `memory_capacity`: the
    node's, in bytes.

    What a pod asks for beyond its containers is shared out among them. A sidecar is not
    to be killed before all of the containers that it serves: it gets no more than the
    most of theirs.
    """
    if pod["spec"].get("priorityClassName") == "system-node-critical":
        return GUARANTEED_OOM_SCORE_ADJ
    qos = get_pod_qos(pod)
    if qos == "Guaranteed":
        return GUARANTEED_OOM_SCORE_ADJ
    if qos == "BestEffort":
        return BEST_EFFORT_OOM_SCORE_ADJ
    request = _memory_request(container)
    if is_restartable_init_container(container):
        request = max(request, min(map(_memory_request, pod["spec"]["containers"])))
    request += _share_of_pod_request(pod)
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
    cpu_request = _amount(container, "requests", "cpu")
    cpu_limit = _limit(pod, container, "cpu")
    memory = (_limit(pod, container, "memory") or 0) // 1000
    shares = milli_cpu_to_shares(
        cpu_limit if cpu_request is None and cpu_limit else cpu_request or 0
    )
    pages = {**_pages(pod["spec"]), **_pages(container)}
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


def _pages(container: Object) -> dict[str, int]:
    """Bytes by page size that are a limit. Upstream: in
    `GetHugepageLimitsFromResources`.
    """
    limits = (container.get("resources") or {}).get("limits") or {}
    return {
        hugepage_size(name): parse_quantity(str(limits[name])).value()
        for name in limits
        if name.startswith(HUGE_PAGES_PREFIX)
    }
