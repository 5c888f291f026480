"""Requests and limits of the pod as a whole.

Only what is half said is completed: a pod-level limit without a request takes the
containers' sum, or the limit itself; huge pages, which cannot be overcommitted, are
summed up first.

Upstream: `pkg/apis/core/v1/defaults.go` (`defaultPodRequests`,
`defaultHugePagePodLimits`, `defaultPodLimits`), `component-helpers/resource/helpers.go`
(`AggregateContainerRequests`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.quantity import parse_quantity
from lifecycle.api.wire import Object


def _supported(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def _add(total: dict[str, str], amounts: Object) -> dict[str, str]:
    for name, text in amounts.items():
        total[name] = (
            str(parse_quantity(total[name]) + parse_quantity(text))
            if name in total
            else text
        )
    return total


def _maximum(total: dict[str, str], amounts: Object) -> dict[str, str]:
    for name, text in amounts.items():
        if name not in total or parse_quantity(text) > parse_quantity(total[name]):
            total[name] = text
    return total


def aggregate_containers(spec: Object, key: str) -> dict[str, str]:
    """The effective sum of `requests` or `limits`: running containers and sidecars
    added, init containers as peaks before them.
    """
    total: dict[str, str] = {}
    for container in spec.get("containers") or ():
        _add(total, (container.get("resources") or {}).get(key) or {})
    sidecars: dict[str, str] = {}
    peak: dict[str, str] = {}
    for container in spec.get("initContainers") or ():
        amounts = (container.get("resources") or {}).get(key) or {}
        if container.get("restartPolicy") == "Always":
            _add(total, amounts)
            _add(sidecars, amounts)
            _maximum(peak, sidecars)
        else:
            _maximum(peak, _add(dict(sidecars), amounts))
    return _maximum(total, peak)


def set_pod_level_defaults(spec: Object) -> None:
    """Complete `spec.resources` in place."""
    resources = spec["resources"]
    limits, requests = (
        dict(resources.get("limits") or {}),
        dict(resources.get("requests") or {}),
    )
    if limits or requests:
        for name, text in aggregate_containers(spec, "limits").items():
            if name.startswith("hugepages-") and name not in requests:
                limits.setdefault(name, text)
    if limits:
        for name, text in aggregate_containers(spec, "requests").items():
            if name in ("cpu", "memory"):
                requests.setdefault(name, text)
        for name, text in limits.items():
            if _supported(name):
                requests.setdefault(name, text)
    elif requests:
        everyone = [
            *(spec.get("containers") or ()),
            *(spec.get("initContainers") or ()),
        ]
        for name, text in aggregate_containers(spec, "limits").items():
            if name in ("cpu", "memory") and all(
                name in ((c.get("resources") or {}).get("limits") or {})
                for c in everyone
            ):
                limits[name] = text
    if limits:
        resources["limits"] = limits
    if requests:
        resources["requests"] = requests
