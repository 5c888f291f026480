"""What a status says about resources: what was set aside, and what the running
container really has.

A container that runs is asked through the runtime: its limits are those of its cgroup,
in bytes and in thousandths of a CPU, however the spec spelt them (`128974848` of memory
is shown as `123Mi`). One that does not run has what was set aside for it. The pod as a
whole has the sum.

Upstream: `pkg/kubelet/kubelet_pods.go` (`convertContainerStatusResources`,
`convertToAPIPodLevelResourcesStatus`, `getEffectiveAllocatedResources`),
`pkg/kubelet/kuberuntime/kuberuntime_container_linux.go` (`toKubeContainerResources`),
v1.36. A pod without a limit of memory is shown with the kernel's largest number where
groups are those of version 1, as upstream does. Left out: requests read from a group.
"""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.resources import pod_limits, pod_requests
from lifecycle.api.quantity import Format, Quantity, parse_quantity
from lifecycle.cri.apis.container import ContainerState, ContainerStatus
from lifecycle.kubelet.cm.resource_config import (
    MIN_SHARES,
    QUOTA_PERIOD,
    SHARES_PER_CPU,
    ResourceConfig,
)

MIN_MILLI_CPU_LIMIT = 10
"""Below this a quota cannot go: what is shown then is what was asked for."""


def required_resources(container: Object, key: str) -> Object:
    """The container's `requests` or `limits`, empty if it has none."""
    quantities: Object = (container.get("resources") or {}).get(key) or {}
    return quantities


def canonical(quantities: Mapping[str, object]) -> Object:
    """Each quantity as it is written."""
    return {name: str(parse_quantity(str(text))) for name, text in quantities.items()}


def _milli(quantities: Mapping[str, object], name: str) -> int:
    return parse_quantity(str(quantities[name])).milli() if name in quantities else 0


def _actual_cpu_request(resources: Mapping[str, object]) -> int:
    """Thousandths of a CPU, from shares. Upstream: `sharesToMilliCPU`."""
    shares = int(str(resources.get("cpu_shares") or 0))
    return -(-shares * 1000 // SHARES_PER_CPU)


def _actual_cpu_limit(resources: Mapping[str, object]) -> int:
    """Thousandths of a CPU, from a quota; 0 if there is none. Upstream:
    `quotaToMilliCPU`.
    """
    quota = int(str(resources.get("cpu_quota") or 0))
    return (
        quota * 1000 // int(str(resources.get("cpu_period") or QUOTA_PERIOD))
        if quota > 0
        else 0
    )


def _milli_cpu(milli: int) -> str:
    return str(Quantity(milli, -3))


def container_resources(container: Object, run: ContainerStatus) -> Object:
    """A container status's `resources`."""
    resources = {
        key: canonical(required_resources(container, key))
        for key in ("limits", "requests")
    }
    if run.state is ContainerState.RUNNING:
        limits, requests = (
            required_resources(container, "limits"),
            required_resources(container, "requests"),
        )
        actual = run.resources
        if limits:
            milli = _actual_cpu_limit(actual)
            if milli and max(milli, _milli(limits, "cpu")) > MIN_MILLI_CPU_LIMIT:
                resources["limits"]["cpu"] = _milli_cpu(milli)
            memory = int(str(actual.get("memory_limit_in_bytes") or 0))
            if memory > 0:
                resources["limits"]["memory"] = str(
                    Quantity(memory, 0, Format.BINARY_SI)
                )
        if requests:
            milli = _actual_cpu_request(actual)
            if milli and max(milli, _milli(requests, "cpu")) > MIN_SHARES:
                resources["requests"]["cpu"] = _milli_cpu(milli)
    return {key: value for key, value in resources.items() if value}


def pod_resources_status(
    pod: Object, cgroup: ResourceConfig | None = None
) -> tuple[Object, Object]:
    """The pod's `allocatedResources` and `resources`. What is known to run has the
    limits of its `cgroup`, where there is one to be asked.
    """
    requests, limits = (
        {n: str(q) for n, q in each.items()}
        for each in (pod_requests(pod), pod_limits(pod))
    )
    if cgroup is not None and (pod.get("status") or {}).get("phase") == "Running":
        limits = limits | _limits_of(cgroup, limits)
    resources = {
        key: value
        for key, value in (("limits", limits), ("requests", requests))
        if value
    }
    return requests, resources


def _limits_of(cgroup: ResourceConfig, limits: Mapping[str, str]) -> dict[str, str]:
    actual = {}
    if cgroup.cpu_quota and cgroup.cpu_quota > 0:
        milli = cgroup.cpu_quota * 1000 // (cgroup.cpu_period or QUOTA_PERIOD)
        if max(milli, _milli(limits, "cpu")) > MIN_MILLI_CPU_LIMIT:
            actual["cpu"] = _milli_cpu(milli)
    if cgroup.memory:
        actual["memory"] = str(Quantity(cgroup.memory, 0, Format.BINARY_SI))
    return actual
