"""What an object uses, in the terms of a quota: admission charges by it, and the quota
controller counts by it.

Pods use CPU and memory, claims use storage, services use ports and load balancers; of
everything else a quota can only limit how many there are (`count/deployments.apps`, or
for a few old types simply `configmaps`).

Upstream:
`pkg/quota/v1/evaluator/core/{pods,services,persistent_volume_claims,resource_claims}.go`,
`apiserver/pkg/quota/v1/generic/evaluator.go`, v1.36. Left out: pods whose grace period
is long over still count.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.qos import get_pod_qos
from lifecycle.api.pods.resources import (
    PodResourcesOptions,
    is_pod_level_resources_set,
    pod_limits,
    pod_requests,
)
from lifecycle.api.quantity import Quantity, parse_quantity
from lifecycle.api.resource_names import (
    is_extended_resource_name,
    is_native_resource,
)
from lifecycle.api.resources import Resource

Usage = dict[str, Quantity]

ONE = parse_quantity("1")
ZERO = parse_quantity("0")
COMPUTE = ("cpu", "memory", "ephemeral-storage")
REQUIRED = frozenset(
    {"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}
)
POD_NAMES = REQUIRED | {
    "ephemeral-storage",
    "requests.ephemeral-storage",
    "limits.ephemeral-storage",
    "pods",
}
DEVICES_OF_CLASS = ".deviceclass.resource.k8s.io/devices"
ALL_DEVICES = 32
"""How many devices a claim can get at most: `AllocationResultsMaxSize`."""

IN_FORCE = PodResourcesOptions(use_status_resources=True)
"""A pod is charged for what its containers hold, also while they are resized. What is
in force for the pod itself does not count: a resize of its own resources is charged as
it is wanted.
"""

PLAIN_COUNTS = frozenset(
    {
        "pods",
        "services",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
    }
)


def usage(resource: Resource, obj: Object) -> Usage:
    """All that an object uses."""
    count = (
        f"count/{resource.plural}.{resource.group}"
        if resource.group
        else f"count/{resource.plural}"
    )
    used: Usage = {count: ONE}
    if (resource.group, resource.plural) == ("resource.k8s.io", "resourceclaims"):
        return used | _device_usage(obj)
    if resource.group:
        return used
    if resource.plural in PLAIN_COUNTS:
        used[resource.plural] = ONE
    if resource.plural == "pods":
        return _pod_usage(obj, used)
    if resource.plural == "services":
        return used | _service_usage(obj)
    if resource.plural == "persistentvolumeclaims":
        return used | _claim_usage(obj)
    return used


def _pod_usage(pod: Object, used: Usage) -> Usage:
    counted = {"count/pods": ONE}
    if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return counted  # it exists, but uses nothing any more
    return used | _compute_usage(pod_requests(pod, IN_FORCE), pod_limits(pod, IN_FORCE))


def _compute_usage(requests: Usage, limits: Usage) -> Usage:
    """Under which names a quota knows requests and limits. Upstream:
    `podComputeUsageHelper`.
    """
    used: Usage = {}
    for name, amount in requests.items():
        if name in COMPUTE or name.startswith("hugepages-"):
            used[name] = used[f"requests.{name}"] = amount
        elif is_extended_resource_name(name):
            used[f"requests.{name}"] = amount
    for name, amount in limits.items():
        if name in COMPUTE:  # of anything else the limit is the request
            used[f"limits.{name}"] = amount
    return used


def _service_usage(service: Object) -> Usage:
    spec = service.get("spec") or {}
    ports = spec.get("ports") or []
    used: Usage = {"services.nodeports": ZERO, "services.loadbalancers": ZERO}
    if spec.get("type") == "NodePort":
        used["services.nodeports"] = parse_quantity(str(len(ports)))
    elif spec.get("type") == "LoadBalancer":
        if spec.get("allocateLoadBalancerNodePorts") is False:
            ports = [port for port in ports if port.get("nodePort")]
        used["services.nodeports"] = parse_quantity(str(len(ports)))
        used["services.loadbalancers"] = ONE
    return used


def _claim_usage(claim: Object) -> Usage:
    spec = claim.get("spec") or {}
    requested = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    allocated = ((claim.get("status") or {}).get("allocatedResources") or {}).get(
        "storage"
    )
    used: Usage = {}
    class_name = _class_of_claim(claim)
    prefix = f"{class_name}.storageclass.storage.k8s.io/" if class_name else ""
    if prefix:
        used[f"{prefix}persistentvolumeclaims"] = ONE
    if requested is not None:
        storage = parse_quantity(requested)
        if allocated is not None:
            storage = max(storage, parse_quantity(allocated))
        used["requests.storage"] = (
            parse_quantity(str(storage.value())) if storage.milli() % 1000 else storage
        )
        if prefix:
            used[f"{prefix}requests.storage"] = used["requests.storage"]
    return used


def _class_of_claim(claim: Object) -> str:
    """Upstream: `GetPersistentVolumeClaimClass`; the annotation is from before there
    was a field.
    """
    annotated = (claim["metadata"].get("annotations") or {}).get(
        "volume.beta.kubernetes.io/storage-class"
    )
    return str(
        annotated
        if annotated is not None
        else (claim.get("spec") or {}).get("storageClassName") or ""
    )


def _device_usage(claim: Object) -> Usage:
    """A device claim charges each class for the devices it may get; of alternatives,
    each class for its worst.
    """
    used: Usage = {}
    for request in ((claim.get("spec") or {}).get("devices") or {}).get(
        "requests"
    ) or ():
        exactly = request.get("exactly")
        worst: dict[str, int] = {}
        for wish in request.get("firstAvailable") or ([exactly] if exactly else ()):
            mode, name = (
                wish.get("allocationMode"),
                f"{wish.get('deviceClassName', '')}{DEVICES_OF_CLASS}",
            )
            count = {"ExactCount": int(wish.get("count") or 0), "All": ALL_DEVICES}.get(
                mode, 0
            )
            worst[name] = max(worst.get(name, 0), count)
        for name, count in worst.items():
            used[name] = used.get(name, ZERO) + parse_quantity(str(count))
    return used


def matching_resources(resource: Resource, names: Iterable[str]) -> list[str]:
    """Those names of a quota that are about a type, sorted. Upstream: the evaluators'
    `MatchingResources`.
    """
    count = (
        f"count/{resource.plural}.{resource.group}"
        if resource.group
        else f"count/{resource.plural}"
    )
    return sorted(name for name in names if name == count or _is_about(resource, name))


def _is_about(resource: Resource, name: str) -> bool:
    if (resource.group, resource.plural) == ("resource.k8s.io", "resourceclaims"):
        return name.endswith(DEVICES_OF_CLASS)
    if resource.group:
        return False
    if resource.plural == "pods":
        extended = name.startswith("requests.") and not is_native_resource(name)
        return (
            name in POD_NAMES
            or name.startswith(("hugepages-", "requests.hugepages-"))
            or extended
        )
    if resource.plural == "services":
        return name in ("services", "services.nodeports", "services.loadbalancers")
    if resource.plural == "persistentvolumeclaims":
        short = name.rpartition(".storageclass.storage.k8s.io/")[2]
        return short in ("persistentvolumeclaims", "requests.storage")
    return resource.plural in PLAIN_COUNTS and name == resource.plural


def missing_requirements(
    resource: Resource, obj: Object, limited: Iterable[str]
) -> str:
    """Under a compute quota every container has to say what it needs: which do not, in
    upstream's words ("" if all do).

    Nobody has to where the pod speaks for all of its containers. Upstream:
    `podEvaluator.Constraints`.
    """
    if (
        resource.group
        or resource.plural != "pods"
        or is_pod_level_resources_set(obj["spec"])
    ):
        return ""
    complaints = []
    spec = obj["spec"]
    for name in sorted(REQUIRED.intersection(limited)):
        key, _, plain = name.partition(".")
        key, plain = (key, plain) if plain else ("requests", name)
        containers = [
            *(spec.get("initContainers") or ()),
            *(spec.get("containers") or ()),
        ]
        without = {
            c.get("name", "")
            for c in containers
            if plain not in ((c.get("resources") or {}).get(key) or {})
        }
        if without:
            complaints.append(f"{name} for: {','.join(sorted(without))}")
    return "must specify " + "; ".join(complaints) if complaints else ""


def matches_scopes(quota: Object, resource: Resource, obj: Object) -> bool:
    """Whether a quota with scopes is about an object."""
    spec = quota["spec"]
    scope_selectors = [
        {"scopeName": scope, "operator": "Exists"} for scope in spec.get("scopes") or ()
    ]
    scope_selectors += (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    if not scope_selectors:
        return True
    if not resource.group and resource.plural == "pods":
        return all(_pod_in_scope(requirement, obj) for requirement in scope_selectors)
    if not resource.group and resource.plural == "persistentvolumeclaims":
        return all(_claim_in_scope(requirement, obj) for requirement in scope_selectors)
    return False


def _pod_in_scope(requirement: Object, pod: Object) -> bool:
    spec, scope = pod["spec"], requirement.get("scopeName")
    if scope in ("Terminating", "NotTerminating"):
        return is_terminating(pod) is (scope == "Terminating")
    if scope in ("BestEffort", "NotBestEffort"):
        quality = get_pod_qos(pod)
        return (quality == "BestEffort") is (scope == "BestEffort")
    if scope == "PriorityClass":
        name = spec.get("priorityClassName")
        return _selects(requirement, {name} if name else set())
    return scope == "CrossNamespacePodAffinity" and _looks_into_other_namespaces(spec)


def _claim_in_scope(requirement: Object, claim: Object) -> bool:
    """Upstream: `pvcMatchesScopeFunc`; what a claim asks for counts as well as what it
    has and what it is changing to.
    """
    if requirement.get("scopeName") != "VolumeAttributesClass":
        return False
    status = claim.get("status") or {}
    names = {
        (claim.get("spec") or {}).get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    }
    return _selects(requirement, {name for name in names if name})


def _selects(requirement: Object, names: set[str]) -> bool:
    """Whether any of the names is meant; without a name, whether that is."""
    operator, values = requirement.get("operator"), set(requirement.get("values") or ())
    if operator == "In":
        return bool(names & values)
    if operator == "NotIn":
        return not names or bool(names - values)
    return bool(names) is (operator == "Exists") and operator in (
        "Exists",
        "DoesNotExist",
    )


def is_terminating(pod: Object) -> bool:
    """Whether a pod has only so long to run. Upstream: `IsTerminating`."""
    seconds = pod["spec"].get("activeDeadlineSeconds")
    return seconds is not None and seconds >= 0


def _looks_into_other_namespaces(spec: Object) -> bool:
    """Upstream: `usesCrossNamespacePodAffinity`."""
    affinity = spec.get("affinity") or {}
    terms: list[Object] = []
    for side in (
        affinity.get("podAffinity") or {},
        affinity.get("podAntiAffinity") or {},
    ):
        terms += side.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        preferred = side.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [weighted.get("podAffinityTerm") or {} for weighted in preferred]
    return any(
        term.get("namespaces") or term.get("namespaceSelector") is not None
        for term in terms
    )
