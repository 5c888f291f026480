"""What a pod as a whole requests, or may use at most.

Containers and sidecars run together; an init container runs beside the sidecars that
were started before it, and of these moments only the peak counts. What the pod itself
names wins over what its containers add up to, and the sandbox costs something, too.

Who asks decides what counts. By the spec alone, a pod is what its author wants. In the
light of its status it is what its node has to hold ready: while a container is resized
in place, the largest of what is wanted, what was granted (`allocatedResources`) and
what is in force (`resources`), and without the wish if the node can never grant it.
`PodResourcesOptions` says which.

A resource list here is a dict from resource name to `Quantity`.

Upstream: `component-helpers/resource/helpers.go` (`PodRequests`, `PodLimits`,
`AggregateContainerRequests`, `AggregateContainerLimits`, `determineEffectiveRequests`,
`determineEffectiveLimits`, `IsPodLevelResourcesSet`, `IsPodResizeInfeasible`), v1.36.
Left out: `Reuse`, and `UseDRANodeAllocatableResourceClaimStatus` (alpha, off).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import Quantity, parse_quantity

ResourceList = dict[str, Quantity]

_ZERO = parse_quantity("0")


@dataclass(slots=True, frozen=True)
class PodResourcesOptions:
    """How to count. Upstream: `PodResourcesOptions`."""

    use_status_resources: bool = False
    """Whether what the status tells of containers and sidecars counts."""
    in_place_pod_level_resources: bool = False
    """Whether, beside it, what the status tells of the pod itself counts."""
    exclude_overhead: bool = False
    non_missing_container_requests: Mapping[str, Quantity] = field(default_factory=dict)
    """What a container counts for that does not name a request, not even zero."""
    skip_pod_level_resources: bool = False
    skip_container_level_resources: bool = False
    container_fn: Callable[[ResourceList], None] | None = None
    """Is called with what each container counts for, init containers together with
    the sidecars that run beside them."""


BY_SPEC = PodResourcesOptions()


def pod_requests(pod: Object, options: PodResourcesOptions = BY_SPEC) -> ResourceList:
    """What a pod requests."""
    requests: ResourceList = {}
    if not options.skip_container_level_resources:
        requests = aggregate_container_requests(pod, options)
    _override(requests, pod, "requests", options)
    overhead = pod["spec"].get("overhead")
    if overhead and not options.exclude_overhead:
        _add(requests, resource_list(overhead))
    return requests


def pod_limits(pod: Object, options: PodResourcesOptions = BY_SPEC) -> ResourceList:
    """What a pod may use at most, where anything limits it.

    Overhead is added where there is a limit other than zero.
    """
    limits = aggregate_container_limits(pod, options)
    _override(limits, pod, "limits", options)
    overhead = pod["spec"].get("overhead")
    if overhead and not options.exclude_overhead:
        more = resource_list(overhead)
        limited = [name for name in more if not limits.get(name, _ZERO).is_zero]
        _add(limits, {name: more[name] for name in limited})
    return limits


def aggregate_container_requests(
    pod: Object, options: PodResourcesOptions = BY_SPEC
) -> ResourceList:
    """What the containers request together, at the moment of the largest need."""
    return _aggregate(pod, "requests", options, options.non_missing_container_requests)


def aggregate_container_limits(
    pod: Object, options: PodResourcesOptions = BY_SPEC
) -> ResourceList:
    """The same of their limits: containers without one add nothing."""
    return _aggregate(pod, "limits", options, {})


def resource_list(quantities: Mapping[str, str] | None) -> ResourceList:
    """Quantities as they stand in an object, parsed. Raises ValueError."""
    if not quantities:
        return {}
    return {name: parse_quantity(text) for name, text in quantities.items()}


def is_supported_pod_level_resource(name: str) -> bool:
    """Whether a pod can name this resource for all of its containers."""
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def is_pod_level_resources_set(spec: Object) -> bool:
    """Whether a pod names anything for all of its containers. Takes its spec."""
    resources = spec.get("resources")
    if not resources:
        return False
    names = (
        name for key in ("requests", "limits") for name in resources.get(key) or ()
    )
    return any(is_supported_pod_level_resource(name) for name in names)


def is_pod_resize_infeasible(status: Object) -> bool:
    """Whether the node can never grant what the pod was resized to. Takes its
    status.
    """
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodResizePending":
            return bool(condition.get("reason") == "Infeasible")
    return False


def _aggregate(
    pod: Object,
    key: str,
    options: PodResourcesOptions,
    non_missing: Mapping[str, Quantity],
) -> ResourceList:
    spec, status = pod["spec"], pod.get("status") or {}
    statuses: Mapping[str, Object] = {}
    if options.use_status_resources and status:
        statuses = _container_statuses(status)
    report = options.container_fn

    def counted(container: Object, own_status: Object | None) -> ResourceList:
        resources = container.get("resources")
        container_reqs = resource_list(resources.get(key)) if resources else {}
        if own_status is not None:
            container_reqs = _effective(container_reqs, own_status, key, status) or {}
        return {**non_missing, **container_reqs} if non_missing else container_reqs

    total: ResourceList = {}
    for container in spec.get("containers") or ():
        amounts = counted(container, statuses.get(container.get("name", "")))
        if report is not None:
            report(amounts)
        _add(total, amounts)
    init_containers = spec.get("initContainers")
    if not init_containers:
        return total
    sidecars: ResourceList = {}
    peak: ResourceList = {}
    for container in init_containers:
        if container.get("restartPolicy") == "Always":
            amounts = counted(container, statuses.get(container.get("name", "")))
            _add(total, amounts)
            _add(sidecars, amounts)
            amounts = dict(sidecars)
        else:  # it is never resized
            amounts = counted(container, None)
            _add(amounts, sidecars)
        if report is not None:
            report(amounts)
        _raise_to(peak, amounts)
    _raise_to(total, peak)
    return total


def _container_statuses(status: Object) -> dict[str, Object]:
    """The statuses that tell of resources, by container."""
    statuses = status.get("containerStatuses") or ()
    init_statuses = status.get("initContainerStatuses")
    if init_statuses:
        statuses = (*statuses, *init_statuses)
    return {
        each["name"]: each for each in statuses if each.get("resources") is not None
    }


def _override(
    total: ResourceList, pod: Object, key: str, options: PodResourcesOptions
) -> None:
    """Let what the pod itself names win."""
    own = (pod["spec"].get("resources") or {}).get(key)
    if not own or options.skip_pod_level_resources:
        return
    desired = resource_list(own)
    effective: ResourceList | None = None
    status = pod.get("status") or {}
    in_force = options.in_place_pod_level_resources and options.use_status_resources
    if in_force and status.get("resources") is not None:
        effective = _effective(desired, status, key, status)
    for name, amount in desired.items():
        if is_supported_pod_level_resource(name):
            total[name] = amount if effective is None else effective.get(name, _ZERO)


def _effective(
    desired: ResourceList, status: Object, key: str, pod_status: Object
) -> ResourceList | None:
    """What counts in the light of a status, of a container or of the pod.

    None if that is only what is in force, and nothing is told of it.
    """
    in_force = status["resources"].get(key)
    if is_pod_resize_infeasible(pod_status):
        if key == "limits":
            return resource_list(in_force) if in_force is not None else None
        desired = {}
    total = dict(desired)
    _raise_to(total, resource_list(in_force))
    if key == "requests":
        _raise_to(total, resource_list(status.get("allocatedResources")))
    return total


def _add(total: ResourceList, more: Mapping[str, Quantity]) -> None:
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount


def _raise_to(total: ResourceList, other: Mapping[str, Quantity]) -> None:
    """Each resource to the larger of both."""
    for name, amount in other.items():
        if name not in total or amount > total[name]:
            total[name] = amount
