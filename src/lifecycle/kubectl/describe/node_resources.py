"""What the pods of a node ask for, one by one and together, and which part of the node
that is.

Upstream: `kubectl/pkg/describe/describe.go` (`describeNodeResource`,
`getPodsTotalRequestsAndLimits`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.resources import (
    PodResourcesOptions,
    ResourceList,
    pod_limits,
    pod_requests,
    resource_list,
)
from lifecycle.api.quantity import Quantity, parse_quantity
from lifecycle.kubectl.describe.moments import translate_timestamp_since
from lifecycle.kubectl.describe.writer import PrefixWriter

CPU, MEMORY, STORAGE = "cpu", "memory", "ephemeral-storage"
HUGE = "hugepages-"
NOTHING = parse_quantity("0")
IN_FORCE = PodResourcesOptions(use_status_resources=True)
NO_NUMBER = -(2**63)
"""What Go makes of a share of nothing."""


def describe_node_resource(
    pods: Sequence[Object], node: Object, w: PrefixWriter
) -> None:
    """A row for each pod, then a row for each resource."""
    status = node.get("status") or {}
    allocatable = resource_list(status.get("allocatable") or status.get("capacity"))
    w.field(0, "Non-terminated Pods", f"({len(pods)} in total)")
    amounts = ("CPU Requests", "CPU Limits", "Memory Requests", "Memory Limits")
    w.header(1, "Namespace", "Name", "", *amounts, "Age")
    for pod in pods:
        _pod(pod, allocatable, w)
    requests, limits = _totals(pods)
    w.write(0, "Allocated resources:\n")
    w.write(1, "(Total limits may be over 100 percent, i.e., overcommitted.)\n")
    w.header(1, "Resource", "Requests", "Limits")
    huge = sorted(name for name in allocatable if name.startswith(HUGE))
    for name in (CPU, MEMORY, STORAGE, *huge):
        asked, limit = requests.get(name, NOTHING), limits.get(name, NOTHING)
        whole = allocatable.get(name, NOTHING)
        w.row(1, name, *(_with_share(each, whole, name, 0) for each in (asked, limit)))
    known = {CPU, MEMORY, STORAGE, "pods", *huge}
    for name in sorted(set(allocatable) - known):
        w.row(1, name, requests.get(name, NOTHING), limits.get(name, NOTHING))


def _pod(pod: Object, allocatable: ResourceList, w: PrefixWriter) -> None:
    requests, limits = pod_requests(pod, IN_FORCE), pod_limits(pod, IN_FORCE)
    shares = [
        _with_share(
            amounts.get(name, NOTHING), allocatable.get(name, NOTHING), name, NO_NUMBER
        )
        for name in (CPU, MEMORY)
        for amounts in (requests, limits)
    ]
    meta = pod["metadata"]
    age = translate_timestamp_since(meta.get("creationTimestamp"))
    w.row(1, meta["namespace"], meta["name"], "", *shares, age)


def _with_share(part: Quantity, whole: Quantity, name: str, of_nothing: int) -> str:
    """`250m (12%)`; CPU is compared in thousandths, the rest in whole units."""
    of = Quantity.milli if name == CPU else Quantity.value
    total = of(whole)
    share = int(of(part) / total * 100) if total else of_nothing
    return f"{part} ({share}%)"


def _totals(pods: Sequence[Object]) -> tuple[ResourceList, ResourceList]:
    requests: ResourceList = {}
    limits: ResourceList = {}
    for pod in pods:
        for total, more in ((requests, pod_requests(pod)), (limits, pod_limits(pod))):
            for name, amount in more.items():
                total[name] = total[name] + amount if name in total else amount
    return requests, limits
