"""LimitRanger: a namespace's defaults and bounds for what one container, pod or claim
may ask for.

First the defaults: a container without a request or limit gets the namespace's, and the
pod an annotation that says so. Then the bounds, on the pod as it is by then: minimum,
maximum, and how far the limit may exceed the request.

Upstream: `plugin/pkg/admission/limitranger/admission.go` (`PodMutateLimitFunc`,
`PodValidateLimitFunc`), v1.36.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Iterator, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.worker import LARGE, beside
from lifecycle.api.pods.resources import (
    ResourceList,
    aggregate_container_limits,
    aggregate_container_requests,
    resource_list,
)
from lifecycle.api.resources import Resource, resource
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.admission.namespaced_index import NamespacedIndex
from lifecycle.apiserver.authz.union import aggregate
from lifecycle.apiserver.storage.object_reader import ObjectReader

ANNOTATION = "kubernetes.io/limit-ranger"
_MILLI = -3
AMOUNT = 8
"""Bytes of JSON that are as much work as one container beside one amount."""


class LimitRanger(Plugin):
    """Looks at new pods and at resized ones, and at claims."""

    name = "LimitRanger"
    operations = frozenset({CREATE, UPDATE})

    def __init__(self, reader: ObjectReader) -> None:
        self._limit_ranges = NamespacedIndex(reader, resource("limitranges"))

    def handles(self, resource: Resource, subresource: str, operation: str) -> bool:
        """A pod's requests change by a resize only. Upstream: `SupportsAttributes`."""
        if (resource.group, resource.plural) == ("", "pods"):
            return (subresource, operation) in (("", CREATE), ("resize", UPDATE))
        is_claim = (resource.group, resource.plural) == ("", "persistentvolumeclaims")
        return is_claim and not subresource and operation in self.operations

    def admit(self, attributes: Attributes) -> Awaitable[None] | None:
        """Fill in the defaults of every limit range of the namespace."""
        if (
            attributes.resource.plural != "pods"
            or attributes.obj is None
            or _goes_away(attributes.old_obj)
        ):
            return None
        limit_ranges = self._limit_ranges[attributes.namespace]
        size = _size(attributes.obj, limit_ranges)
        if size > LARGE:
            return beside(size, _set_all_defaults, attributes.obj, limit_ranges)
        _set_all_defaults(attributes.obj, limit_ranges)
        return None

    def validate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Refuse what is out of bounds, with all that is wrong by one limit range."""
        limit_ranges = self._limit_ranges[attributes.namespace]
        if not limit_ranges or attributes.obj is None:
            return None
        if _goes_away(attributes.old_obj):
            return None
        size = _size(attributes.obj, limit_ranges)
        if size > LARGE:
            return beside(size, _refuse_violations, attributes, limit_ranges)
        _refuse_violations(attributes, limit_ranges)
        return None


def _size(obj: Object, limit_ranges: Sequence[Object]) -> int:
    """What it takes to hold each container against each amount of each range."""
    spec = obj["spec"]
    containers = len(spec.get("containers") or ())
    containers += len(spec.get("initContainers") or ())
    amounts = sum(
        len(limit.get(key) or ())
        for limit_range in limit_ranges
        for limit in limit_range["spec"].get("limits") or ()
        for key in ("default", "defaultRequest", "max", "maxLimitRequestRatio", "min")
    )
    return containers * amounts * AMOUNT


def _set_all_defaults(pod: Object, limit_ranges: Iterable[Object]) -> None:
    for limit_range in limit_ranges:
        _set_defaults(pod, limit_range)


def _refuse_violations(attributes: Attributes, limit_ranges: Iterable[Object]) -> None:
    is_pod = attributes.resource.plural == "pods"
    violations = _pod_violations if is_pod else _claim_violations
    for limit_range in limit_ranges:
        errors = list(violations(attributes.obj or {}, limit_range))
        if errors:
            raise attributes.forbidden(aggregate(errors))


def _goes_away(old: Object | None) -> bool:
    return old is not None and "deletionTimestamp" in old["metadata"]


def _limits(limit_range: Object, kind: str) -> Iterator[Object]:
    return (
        limit
        for limit in limit_range["spec"].get("limits") or ()
        if limit.get("type") == kind
    )


def _set_defaults(pod: Object, limit_range: Object) -> None:
    requests: Object = {}
    limits: Object = {}
    for limit in _limits(limit_range, "Container"):
        requests |= limit.get("defaultRequest") or {}
        limits |= limit.get("default") or {}
    notes: list[str] = []
    for key, what in (
        ("containers", "container"),
        ("initContainers", "init container"),
    ):
        for container in pod["spec"].get(key) or ():
            notes += _merge(container, requests, limits, what)
    if notes:
        meta = pod["metadata"]
        annotations = dict(meta.get("annotations") or {})
        meta["annotations"] = annotations | {
            ANNOTATION: "LimitRanger plugin set: " + "; ".join(notes)
        }


def _merge(
    container: Object, requests: Object, limits: Object, what: str
) -> Iterator[str]:
    """Fill in one container; says what was filled in."""
    resources = dict(container.get("resources") or {})
    for key, word, defaults in (
        ("requests", "request", requests),
        ("limits", "limit", limits),
    ):
        present = resources.get(key) or {}
        missing = {
            name: amount for name, amount in defaults.items() if name not in present
        }
        if missing:
            resources[key] = present | missing
            yield (
                f"{', '.join(sorted(missing))} {word} for {what}"
                f" {container.get('name', '')}"
            )
    container["resources"] = resources


def _requests_and_limits(container: Object) -> tuple[ResourceList, ResourceList]:
    resources = container.get("resources") or {}
    return resource_list(resources.get("requests")), resource_list(
        resources.get("limits")
    )


def _pod_violations(pod: Object, limit_range: Object) -> Iterator[str]:
    spec = pod["spec"]
    containers = [_requests_and_limits(c) for c in spec.get("containers") or ()]
    init_containers = [
        _requests_and_limits(c) for c in spec.get("initContainers") or ()
    ]
    for limit in limit_range["spec"].get("limits") or ():
        if limit.get("type") == "Container":
            for requests, limits in (*containers, *init_containers):
                yield from _violations("Container", limit, requests, limits)
        elif limit.get("type") == "Pod":
            requests = aggregate_container_requests(pod) | _own(pod, "requests")
            limits = aggregate_container_limits(pod) | _own(pod, "limits")
            yield from _violations("Pod", limit, requests, limits)


def _own(pod: Object, key: str) -> ResourceList:
    """What a pod says itself, which wins over its containers' sum. Of huge pages that
    does not count here, unlike elsewhere.
    """
    own = resource_list((pod["spec"].get("resources") or {}).get(key))
    return {name: amount for name, amount in own.items() if name in ("cpu", "memory")}


def _violations(
    kind: str, limit: Object, requests: ResourceList, limits: ResourceList
) -> Iterator[str]:
    for name, bound in sorted(resource_list(limit.get("min")).items()):
        rule = f"minimum {name} usage per {kind} is {bound}"
        request, upper = requests.get(name), limits.get(name)
        if request is None:
            yield f"{rule}.  No request is specified"
        elif request < bound:
            yield f"{rule}, but request is {request}"
        elif upper is not None and upper < bound:
            yield f"{rule}, but limit is {upper}"
    for name, bound in sorted(resource_list(limit.get("max")).items()):
        rule = f"maximum {name} usage per {kind} is {bound}"
        request, upper = requests.get(name), limits.get(name)
        if upper is None:
            yield f"{rule}.  No limit is specified"
        elif upper > bound:
            yield f"{rule}, but limit is {upper}"
        elif request is not None and request > bound:
            yield f"{rule}, but request is {request}"
    for name, bound in sorted(resource_list(limit.get("maxLimitRequestRatio")).items()):
        rule = f"{name} max limit to request ratio per {kind} is {bound}"
        request, upper = requests.get(name), limits.get(name)
        if request is None or request.is_zero:
            yield f"{rule}, but no request is specified or request is 0"
        elif upper is None or upper.is_zero:
            yield f"{rule}, but no limit is specified or limit is 0"
        elif upper.exact(_MILLI) * 1000 > bound.exact(_MILLI) * request.exact(_MILLI):
            ratio = upper.exact(_MILLI) / request.exact(_MILLI)
            yield f"{rule}, but provided ratio is {ratio:.6f}"


def _claim_violations(claim: Object, limit_range: Object) -> Iterator[str]:
    kind = "PersistentVolumeClaim"
    requests = resource_list((claim["spec"].get("resources") or {}).get("requests"))
    for limit in _limits(limit_range, kind):
        yield from _violations(kind, {"min": limit.get("min")}, requests, {})
        for name, bound in sorted(resource_list(limit.get("max")).items()):
            rule, request = (
                f"maximum {name} usage per {kind} is {bound}",
                requests.get(name),
            )
            if request is None:
                yield f"{rule}.  No request is specified"
            elif request > bound:
                yield f"{rule}, but request is {request}"
