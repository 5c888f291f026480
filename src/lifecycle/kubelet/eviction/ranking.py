"""Who has to go first, and what is said of it.

First those that use more than they asked for, among these the least important, among
these the greediest: whoever uses most beyond its request. A pod that asked for what it
uses is safe as long as there is any other.

Upstream: `pkg/kubelet/eviction/helpers.go` (`rankMemoryPressure`,
`rankDiskPressureFunc`, `exceedMemoryRequests`, `priority`, `memory`,
`evictionMessage`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.resources import pod_requests
from lifecycle.api.quantity import parse_quantity
from lifecycle.kubelet.cm.resource_config import milli_values
from lifecycle.kubelet.eviction.thresholds import (
    INODES,
    RESOURCES,
    Threshold,
    binary,
)
from lifecycle.kubelet.stats.summary import Observation, PodUsage


def rank(
    pods: Iterable[Object], usages: Mapping[str, PodUsage], resource: str
) -> list[Object]:
    """The pods in the order in which they are to go. One of which nothing is known goes
    first: it cannot be defended.
    """

    def key(pod: Object) -> tuple[bool, bool, int, int]:
        usage = usages.get(pod["metadata"]["uid"])
        priority = pod["spec"].get("priority") or 0
        if usage is None:
            return False, False, priority, 0
        used, requested = (
            usage.total(resource),
            milli_values(pod_requests(pod)).get(resource, 0) // 1000,
        )
        return True, used <= requested, priority, requested - used

    return sorted(pods, key=key)


def eviction_message(
    pod: Object, usage: PodUsage | None, threshold: Threshold, seen: Observation
) -> str:
    """What was short, how short, and which of the pod's containers had taken more than
    they asked for.
    """
    resource = RESOURCES[threshold.signal]
    message = f"The node was low on resource: {resource}. "
    message += (
        f"Threshold quantity: {threshold.format_quantity(seen.capacity)}, available:"
        f" {_format_available(seen.available, resource)}. "
    )
    for container in [
        *pod["spec"]["containers"],
        *(pod["spec"].get("initContainers") or ()),
    ]:
        used = usage.containers.get(container["name"]) if usage is not None else None
        if used is None:
            continue
        text = ((container.get("resources") or {}).get("requests") or {}).get(
            resource, "0"
        )
        amount, request = used.of(resource), parse_quantity(str(text))
        if amount > request.value():
            message += (
                f"Container {container['name']} was using {binary(amount)}, request is"
                f" {request}, has larger consumption of {resource}. "
            )
    return message


def _format_available(available: int, resource: str) -> str:
    """Bytes or inodes."""
    return binary(available) if resource != INODES else str(available)
