"""What a pod asks for and what a node has, as integers.

The scheduler adds and compares these sums for every node it looks at, so quantities are
parsed once, when a pod or a node enters the cache: CPU in thousandths, everything else
in whole units.

A pod's request is more than the sum of its containers (`api/pods/resources.py`). The
scheduler counts it in the light of the status: while a running pod is resized in place,
it takes the larger of what it wants, what it was granted and what it has; a resize that
its node can never grant does not count.

Upstream: `pkg/scheduler/framework/types.go` (`Resource`, `calculateResource`,
`getNonMissingContainerRequests`), `pkg/scheduler/util/pod_resources.go`
(`DefaultMilliCPURequest`, `DefaultMemoryRequest`), v1.36. Left out: device claims.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle.api.bounded_cache import short_pair_cache
from lifecycle.api.http.wire import Object
from lifecycle.api.pods import resources
from lifecycle.api.pods.resources import PodResourcesOptions
from lifecycle.api.quantity import Format, Quantity, parse_quantity

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


@short_pair_cache(8192)
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


_NON_MISSING = {
    "cpu": Quantity(DEFAULT_MILLI_CPU_REQUEST, -3),
    "memory": Quantity(DEFAULT_MEMORY_REQUEST, 0, Format.BINARY_SI),
}


def _options(non_missing: Mapping[str, Quantity]) -> PodResourcesOptions:
    return PodResourcesOptions(
        use_status_resources=True,
        in_place_pod_level_resources=True,
        non_missing_container_requests=non_missing,
    )


_PLAIN = _options({})
_OPTIONS: dict[tuple[str, ...], PodResourcesOptions] = {
    names: _options({name: _NON_MISSING[name] for name in names})
    for names in (("cpu",), ("memory",), ("cpu", "memory"))
}


def pod_requests(pod: Object) -> Amounts:
    """What the pod asks for."""
    return _amounts(resources.pod_requests(pod, _PLAIN))


def non_zero_requests(pod: Object, requests: Amounts) -> Amounts:
    """The same for scoring: containers without a CPU or memory request count for the
    defaults.

    Not so where the pod as a whole has requests or limits, and something is asked for
    in its name or a container's.
    """
    missing = tuple(_NON_MISSING)
    if resources.is_pod_level_resources_set(pod["spec"]):
        missing = tuple(name for name in missing if name not in requests)
    if not missing or _all_ask_for(pod["spec"], missing):
        return requests
    return _amounts(resources.pod_requests(pod, _OPTIONS[missing]))


def _all_ask_for(spec: Object, names: tuple[str, ...]) -> bool:
    """Whether no container leaves out any of these requests: nearly always, and then
    there is nothing to make up.
    """
    for container in (*spec["containers"], *(spec.get("initContainers") or ())):
        requests = (container.get("resources") or {}).get("requests") or ()
        if not all(name in requests for name in names):
            return False
    return True


def _amounts(quantities: Mapping[str, Quantity]) -> Amounts:
    return {
        name: each.milli() if name == "cpu" else each.value()
        for name, each in quantities.items()
    }


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
        resources.is_pod_resize_infeasible(status),
        *((s.get("resources"), s.get("allocatedResources")) for s in statuses),
    ]
