"""What an object uses, in the terms of a quota: admission charges by it, and the quota controller counts by it.

Pods use CPU and memory, claims use storage, services use ports and load balancers; of everything else a quota can only limit how many
there are (`count/deployments.apps`, or for a few old types simply `configmaps`).

Upstream: `pkg/quota/v1/evaluator/core/{pods,services,persistent_volume_claims}.go`, `apiserver/pkg/quota/v1/generic/evaluator.go`, v1.36.
Left out: extended resources beyond requests, device claims, scope selectors other than the four plain ones and priority classes.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.quantity import Quantity, parse_quantity
from lifecycle.api.resources import Resource
from lifecycle.api.wire import Object

Usage = dict[str, Quantity]

ONE = parse_quantity("1")
ZERO = parse_quantity("0")
COMPUTE = ("cpu", "memory", "ephemeral-storage")
REQUIRED = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})
PLAIN_COUNTS = frozenset(
    {"pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps", "persistentvolumeclaims"}
)


def usage(resource: Resource, obj: Object) -> Usage:
    """All that an object uses."""
    count = f"count/{resource.plural}.{resource.group}" if resource.group else f"count/{resource.plural}"
    used: Usage = {count: ONE}
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


def _amounts(container: Object, key: str) -> Usage:
    return {n: parse_quantity(q) for n, q in ((container.get("resources") or {}).get(key) or {}).items()}


def _add(total: Usage, more: Usage) -> Usage:
    return total | {name: total[name] + amount if name in total else amount for name, amount in more.items()}


def _largest(total: Usage, more: Usage) -> Usage:
    return total | {name: amount for name, amount in more.items() if name not in total or amount > total[name]}


def _pod_total(spec: Object, key: str) -> Usage:
    """What a pod needs at once: containers and sidecars together, or an init container beside the sidecars started before it."""
    total: Usage = {}
    for container in spec.get("containers") or ():
        total = _add(total, _amounts(container, key))
    sidecars: Usage = {}
    peak: Usage = {}
    for container in spec.get("initContainers") or ():
        amounts = _amounts(container, key)
        if container.get("restartPolicy") == "Always":
            sidecars = _add(sidecars, amounts)
            total = _add(total, amounts)
            peak = _largest(peak, sidecars)
        else:
            peak = _largest(peak, _add(sidecars, amounts))
    total = _largest(total, peak)
    overhead = {name: parse_quantity(text) for name, text in (spec.get("overhead") or {}).items()}
    if key == "limits":
        overhead = {name: amount for name, amount in overhead.items() if name in total}
    return _add(total, overhead)


def _pod_usage(pod: Object, used: Usage) -> Usage:
    counted = {"count/pods": ONE}
    if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return counted  # it exists, but uses nothing any more
    requests, limits = _pod_total(pod["spec"], "requests"), _pod_total(pod["spec"], "limits")
    for name, amount in requests.items():
        if name in COMPUTE:
            used[name] = amount
        used[f"requests.{name}"] = amount
    for name, amount in limits.items():
        used[f"limits.{name}"] = amount
    return used


def _service_usage(service: Object) -> Usage:
    spec = service.get("spec") or {}
    ports = len(spec.get("ports") or ())
    used: Usage = {"services.nodeports": ZERO, "services.loadbalancers": ZERO}
    if spec.get("type") == "NodePort":
        used["services.nodeports"] = parse_quantity(str(ports))
    elif spec.get("type") == "LoadBalancer":
        allocated = ports if spec.get("allocateLoadBalancerNodePorts") is not False else 0
        used["services.nodeports"] = parse_quantity(str(allocated))
        used["services.loadbalancers"] = ONE
    return used


def _claim_usage(claim: Object) -> Usage:
    spec = claim.get("spec") or {}
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    used: Usage = {}
    prefix = f"{spec['storageClassName']}.storageclass.storage.k8s.io/" if spec.get("storageClassName") else ""
    if prefix:
        used[f"{prefix}persistentvolumeclaims"] = ONE
    if storage is not None:
        used["requests.storage"] = parse_quantity(storage)
        if prefix:
            used[f"{prefix}requests.storage"] = used["requests.storage"]
    return used


def missing_requirements(resource: Resource, obj: Object, limited: Iterable[str]) -> str:
    """Under a compute quota every container has to say what it needs: which do not, in upstream's words ("" if all do)."""
    if resource.group or resource.plural != "pods" or (obj.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return ""
    complaints = []
    spec = obj["spec"]
    for name in sorted(REQUIRED.intersection(limited)):
        key, _, plain = name.partition(".")
        key, plain = (key, plain) if plain else ("requests", name)
        containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
        without = [c.get("name", "") for c in containers if plain not in ((c.get("resources") or {}).get(key) or {})]
        if without:
            complaints.append(f"{name} for: {','.join(sorted(without))}")
    return "must specify " + "; ".join(complaints) if complaints else ""


def matches_scopes(quota: Object, resource: Resource, obj: Object) -> bool:
    """Whether a quota with scopes is about an object."""
    spec = quota["spec"]
    wanted = [{"scopeName": scope, "operator": "Exists"} for scope in spec.get("scopes") or ()]
    wanted += (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    if not wanted:
        return True
    if resource.group or resource.plural != "pods":
        return False
    return all(_in_scope(requirement, obj) for requirement in wanted)


def _in_scope(requirement: Object, pod: Object) -> bool:
    spec, scope = pod["spec"], requirement.get("scopeName")
    if scope in ("Terminating", "NotTerminating"):
        terminating = (spec.get("activeDeadlineSeconds") or -1) >= 0
        return terminating is (scope == "Terminating")
    if scope in ("BestEffort", "NotBestEffort"):
        containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
        best_effort = not any(c.get("resources", {}).get(k) for c in containers for k in ("requests", "limits"))
        return best_effort is (scope == "BestEffort")
    if scope == "PriorityClass":
        name, operator = spec.get("priorityClassName") or "", requirement.get("operator")
        values = requirement.get("values") or ()
        outcomes = {"In": name in values, "NotIn": name not in values, "Exists": bool(name), "DoesNotExist": not name}
        return outcomes.get(str(operator), False)
    return False
