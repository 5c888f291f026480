"""What a pod asks for and what a node has, as integers.

The scheduler adds and compares these sums for every node it looks at, so quantities are parsed once, when a pod or a
node enters the cache: CPU in thousandths, everything else in whole units.

A pod's request is more than the sum of its containers: init containers run one after the other *before* the others,
so the largest of them counts; a sidecar (an init container that restarts always) stays, so it counts beside
everything that starts after it; the runtime class may add an overhead; and requests set on the pod itself win over
those of its containers.

Upstream: `component-helpers/resource/helpers.go` (`PodRequests`), `pkg/scheduler/framework/types.go` (`Resource`),
`pkg/scheduler/util/pod_resources.go` (`DefaultMilliCPURequest`, `DefaultMemoryRequest`), v1.36. Left out: resize in
place (allocated versus desired), device claims.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from lifecycle.api.quantity import parse_quantity
from lifecycle.api.wire import Object

DEFAULT_MILLI_CPU_REQUEST = 100
"""What a container without a CPU request counts for when nodes are scored (thousandths)."""

DEFAULT_MEMORY_REQUEST = 200 * 1024 * 1024
"""What a container without a memory request counts for when nodes are scored (bytes)."""

Amounts = dict[str, int]
"""Resource name to amount: `cpu` in thousandths, the others in whole units."""


@lru_cache(maxsize=8192)
def amount(name: str, text: str) -> int:
    """A quantity as the integer the scheduler counts with; fractions round up."""
    quantity = parse_quantity(text)
    return quantity.milli() if name == "cpu" else quantity.value()


def amounts(quantities: Mapping[str, str] | None) -> Amounts:
    """A resource list as integers."""
    return {name: amount(name, str(value)) for name, value in quantities.items()} if quantities else {}


class Resource:
    """A sum of resources. Upstream: `framework.Resource`."""

    __slots__ = ("allowed_pod_number", "ephemeral_storage", "memory", "milli_cpu", "scalar_resources")

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
        copy.scalar_resources = dict(self.scalar_resources) if self.scalar_resources else {}
        return copy


def _plus(total: Amounts, more: Mapping[str, int]) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def _maximum(total: Amounts, other: Mapping[str, int]) -> None:
    for name, value in other.items():
        if value > total.get(name, 0):
            total[name] = value


def _container_requests(container: Object, defaults: Mapping[str, int]) -> Amounts:
    resources = container.get("resources")
    requests = amounts(resources.get("requests")) if resources else {}
    return {**defaults, **requests} if defaults else requests


_NO_DEFAULTS: Amounts = {}
_NON_ZERO: Amounts = {"cpu": DEFAULT_MILLI_CPU_REQUEST, "memory": DEFAULT_MEMORY_REQUEST}


def pod_requests(spec: Object, *, non_zero: bool = False) -> Amounts:
    """What the pod asks for. With `non_zero`, containers without a CPU or memory request count for the defaults."""
    defaults = _NON_ZERO if non_zero else _NO_DEFAULTS
    total: Amounts = {}
    for container in spec["containers"]:
        _plus(total, _container_requests(container, defaults))
    init_containers = spec.get("initContainers")
    if init_containers:
        largest: Amounts = {}
        sidecars: Amounts = {}
        for container in init_containers:
            requests = _container_requests(container, defaults)
            if container.get("restartPolicy") == "Always":
                _plus(total, requests)
                _plus(sidecars, requests)
                requests = dict(sidecars)
            else:
                _plus(requests, sidecars)
            _maximum(largest, requests)
        _maximum(total, largest)
    pod_level = spec.get("resources")
    if pod_level and pod_level.get("requests"):
        total.update(amounts(pod_level["requests"]))
    if spec.get("overhead"):
        _plus(total, amounts(spec["overhead"]))
    return total
