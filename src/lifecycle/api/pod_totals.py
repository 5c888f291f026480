"""What a pod as a whole requests, or may use at most.

Containers and sidecars run together; an init container runs beside the sidecars that
were started before it, and only its peak counts. What the pod itself names wins over
what its containers add up to, and the sandbox costs something as well. While a
container is resized, the larger of what is wanted and what is in force counts, or only
the latter if the node can never grant more.

Upstream: `component-helpers/resource/helpers.go` (`PodRequests`, `PodLimits`,
`AggregateContainerRequests`, `AggregateContainerLimits`, `determineContainerReqs`,
`determineContainerLimits`), v1.36. Left out: resizing the pod's own resources.
"""

from __future__ import annotations

from lifecycle.api.quantity import Quantity, parse_quantity
from lifecycle.api.wire import Object

Amounts = dict[str, Quantity]

_ZERO = parse_quantity("0")


def amounts(quantities: Object | None) -> Amounts:
    """A resource list, parsed."""
    return {name: parse_quantity(text) for name, text in (quantities or {}).items()}


def is_pod_level(name: str) -> bool:
    """Whether a pod can name this for all of its containers. Upstream:
    `IsSupportedPodLevelResource`.
    """
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def names_pod_level(spec: Object) -> bool:
    """Whether a pod names anything for all of its containers. Upstream:
    `IsPodLevelResourcesSet`.
    """
    resources = spec.get("resources") or {}
    return any(
        is_pod_level(name)
        for key in ("requests", "limits")
        for name in resources.get(key) or ()
    )


def pod_total(pod: Object, key: str) -> Amounts:
    """The sum of a pod's `requests` or `limits`."""
    spec = pod["spec"]
    total = containers_total(pod, key, in_force=True)
    own = amounts((spec.get("resources") or {}).get(key))
    total |= {name: amount for name, amount in own.items() if is_pod_level(name)}
    overhead = amounts(spec.get("overhead"))
    if key == "limits":
        overhead = {
            name: amount
            for name, amount in overhead.items()
            if total.get(name, _ZERO) > _ZERO
        }
    return _add(total, overhead)


def containers_total(pod: Object, key: str, *, in_force: bool = False) -> Amounts:
    """The sum over a pod's containers, by its spec alone or in the light of what is in
    force.
    """
    spec = pod["spec"]

    def of(container: Object) -> Amounts:
        wanted = amounts((container.get("resources") or {}).get(key))
        return _effective(pod, container["name"], key, wanted) if in_force else wanted

    total: Amounts = {}
    for container in spec.get("containers") or ():
        total = _add(total, of(container))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            more = of(container)
            sidecars, total = _add(sidecars, more), _add(total, more)
            peak = _largest(peak, sidecars)
        else:
            peak = _largest(
                peak,
                _add(sidecars, amounts((container.get("resources") or {}).get(key))),
            )
    return _largest(total, peak)


def _effective(pod: Object, name: str, key: str, wanted: Amounts) -> Amounts:
    """What a container counts for, in the light of its status."""
    status = pod.get("status") or {}
    statuses = [
        *(status.get("containerStatuses") or ()),
        *(status.get("initContainerStatuses") or ()),
    ]
    found: Object = next((s for s in reversed(statuses) if s.get("name") == name), {})
    if found.get("resources") is None:
        return wanted
    in_force = amounts(found["resources"].get(key))
    if key == "requests":
        in_force = _largest(in_force, amounts(found.get("allocatedResources")))
    return in_force if _resize_infeasible(status) else _largest(wanted, in_force)


def _resize_infeasible(status: Object) -> bool:
    pending = [
        c for c in status.get("conditions") or () if c.get("type") == "PodResizePending"
    ]
    return bool(pending) and pending[0].get("reason") == "Infeasible"


def _add(total: Amounts, more: Amounts) -> Amounts:
    return total | {
        name: total[name] + amount if name in total else amount
        for name, amount in more.items()
    }


def _largest(total: Amounts, more: Amounts) -> Amounts:
    return total | {
        name: amount
        for name, amount in more.items()
        if name not in total or amount > total[name]
    }
