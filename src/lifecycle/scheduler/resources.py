"""What a pod asks for and what a node has, as integers.

The scheduler adds and compares these sums for every node it looks at, so quantities are
parsed once, when a pod or a node enters the cache: CPU in thousandths, everything else
in whole units.

A pod's request is more than the sum of its containers: init containers run one after
the other *before* the others, so the largest of them counts; a sidecar (an init
container that restarts always) stays, so it counts beside everything that starts after
it; the runtime class may add an overhead; and requests set on the pod itself win over
those of its containers. While a running pod is resized in place, it counts for the
larger of what it wants, what it was granted and what it has; a resize that its node can
never grant does not count.

Upstream: `component-helpers/resource/helpers.go` (`PodRequests`,
`determineEffectiveRequests`), `pkg/scheduler/framework/types.go` (`Resource`,
`getNonMissingContainerRequests`), `pkg/scheduler/util/pod_resources.go`
(`DefaultMilliCPURequest`, `DefaultMemoryRequest`), v1.36. Left out: device claims.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from lifecycle.api.quantity import parse_quantity
from lifecycle.api.wire import Object

DEFAULT_MILLI_CPU_REQUEST = 100
"""What a container without a CPU request counts for when nodes are scored
(thousandths).
"""

DEFAULT_MEMORY_REQUEST = 200 * 1024 * 1024
"""What a container without a memory request counts for when nodes are scored
(bytes).
"""

Amounts = dict[str, int]
"""Resource name to amount: `cpu` in thousandths, the others in whole units."""


@lru_cache(maxsize=8192)
def amount(name: str, text: str) -> int:
    """A quantity as the integer the scheduler counts with; fractions round up."""
    quantity = parse_quantity(text)
    return quantity.milli() if name == "cpu" else quantity.value()


def amounts(quantities: Mapping[str, str] | None) -> Amounts:
    """A resource list as integers."""
    return (
        {name: amount(name, str(value)) for name, value in quantities.items()}
        if quantities
        else {}
    )


class Resource:
    """A sum of resources. Upstream: `framework.Resource`."""

    __slots__ = (
        "allowed_pod_number",
        "ephemeral_storage",
        "memory",
        "milli_cpu",
        "scalar_resources",
    )

    def __init__(self) -> None:
        self.milli_cpu = 0
        self.memory = 0
        self.ephemeral_storage = 0
        self.allowed_pod_number = 0
        self.scalar_resources: Amounts = {}

    @classmethod
    def of(cls, values: Mapping[str, int]) -> Resource:
        """The sum a resource list stands for."""
        resource = cls()
        resource.add(values, 1)
        return resource

    def add(self, values: Mapping[str, int], sign: int) -> None:
        """Add (sign 1) or take away (sign -1) a resource list."""
        for name, value in values.items():
            value *= sign
            if name == "cpu":
                self.milli_cpu += value
            elif name == "memory":
                self.memory += value
            elif name == "ephemeral-storage":
                self.ephemeral_storage += value
            elif name == "pods":
                self.allowed_pod_number += value
            else:
                self.scalar_resources[name] = self.scalar_resources.get(name, 0) + value

    def get(self, name: str) -> int:
        """The amount of one resource, 0 if there is none."""
        if name == "cpu":
            return self.milli_cpu
        if name == "memory":
            return self.memory
        if name == "ephemeral-storage":
            return self.ephemeral_storage
        return self.scalar_resources.get(name, 0)

    def clone(self) -> Resource:
        """An independent copy."""
        copy = Resource()
        copy.milli_cpu = self.milli_cpu
        copy.memory = self.memory
        copy.ephemeral_storage = self.ephemeral_storage
        copy.allowed_pod_number = self.allowed_pod_number
        copy.scalar_resources = (
            dict(self.scalar_resources) if self.scalar_resources else {}
        )
        return copy


def _plus(total: Amounts, more: Mapping[str, int]) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def _maximum(total: Amounts, other: Mapping[str, int]) -> None:
    for name, value in other.items():
        if value > total.get(name, 0):
            total[name] = value


_NO_DEFAULTS: Amounts = {}
_NON_ZERO: Amounts = {
    "cpu": DEFAULT_MILLI_CPU_REQUEST,
    "memory": DEFAULT_MEMORY_REQUEST,
}


def pod_requests(pod: Object) -> Amounts:
    """What the pod asks for."""
    return _pod_requests(pod, _NO_DEFAULTS)


def non_zero_requests(pod: Object, requests: Amounts) -> Amounts:
    """The same for scoring: containers without a CPU or memory request count for the
    defaults.

    Not so where the pod as a whole has requests or limits, and something is asked for
    in its name or a container's.
    """
    pod_level = pod["spec"].get("resources")
    defaults = _NON_ZERO
    if pod_level and any(
        _is_pod_level(name)
        for part in ("requests", "limits")
        for name in pod_level.get(part) or ()
    ):
        defaults = {
            name: default for name, default in _NON_ZERO.items() if name not in requests
        }
    return _pod_requests(pod, defaults) if defaults else requests


def scaled_down(old: Object, new: Object) -> set[str]:
    """The resources of which a pod asks for less than before."""
    if old["spec"] == new["spec"] and same_in_force(old, new):
        return set()
    before, after = pod_requests(old), pod_requests(new)
    return {
        name
        for name, amount in before.items()
        if after.get(name, 0) < amount or name not in after
    }


def same_in_force(old: Object, new: Object) -> bool:
    """Whether two statuses of a pod tell the same of its resources: nearly always, and
    quickly told.
    """
    return _in_force(old.get("status") or {}) == _in_force(new.get("status") or {})


def _in_force(status: Object) -> list[Any]:
    statuses = [
        status,
        *(status.get("containerStatuses") or ()),
        *(status.get("initContainerStatuses") or ()),
    ]
    return [
        _resize_infeasible(status),
        *((s.get("resources"), s.get("allocatedResources")) for s in statuses),
    ]


def _is_pod_level(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def _pod_requests(pod: Object, defaults: Amounts) -> Amounts:
    spec, status = pod["spec"], pod.get("status") or {}
    total: Amounts = {}
    for container in spec["containers"]:
        _plus(
            total, _container_requests(container, defaults, status, "containerStatuses")
        )
    init_containers = spec.get("initContainers")
    if init_containers:
        largest: Amounts = {}
        sidecars: Amounts = {}
        for container in init_containers:
            if container.get("restartPolicy") == "Always":
                requests = _container_requests(
                    container, defaults, status, "initContainerStatuses"
                )
                _plus(total, requests)
                _plus(sidecars, requests)
                requests = dict(sidecars)
            else:
                requests = _container_requests(container, defaults)
                _plus(requests, sidecars)
            _maximum(largest, requests)
        _maximum(total, largest)
    pod_level = spec.get("resources")
    if pod_level and pod_level.get("requests"):
        wanted = amounts(pod_level["requests"])
        effective = _effective(wanted, status, status)
        total.update(
            (name, effective.get(name, 0)) for name in wanted if _is_pod_level(name)
        )
    if spec.get("overhead"):
        _plus(total, amounts(spec["overhead"]))
    return total


_NOTHING: Object = {}


def _container_requests(
    container: Object, defaults: Amounts, status: Object = _NOTHING, statuses: str = ""
) -> Amounts:
    resources = container.get("resources")
    requests = amounts(resources.get("requests")) if resources else {}
    for found in (status.get(statuses) or ()) if status else ():
        if found["name"] == container["name"]:
            requests = _effective(requests, found, status)
    return {**defaults, **requests} if defaults else requests


def _effective(wanted: Amounts, status: Object, of_pod: Object) -> Amounts:
    """Requests in the light of a status: what is wanted, what is in force, what was
    granted; the largest of each.
    """
    resources = status.get("resources")
    if resources is None:
        return wanted
    total = {} if _resize_infeasible(of_pod) else dict(wanted)
    _maximum(total, amounts(resources.get("requests")))
    _maximum(total, amounts(status.get("allocatedResources")))
    return total


def _resize_infeasible(status: Object) -> bool:
    pending = next(
        (c for c in status.get("conditions") or () if c["type"] == "PodResizePending"),
        None,
    )
    return pending is not None and pending.get("reason") == "Infeasible"
