"""Binding a pod to a node.

A binding is how a scheduler speaks. It does not update the pod; it posts a `Binding`,
and the registry sets the node and the `PodScheduled` condition in one write that fails
if anybody has bound the pod already.

Upstream: `pkg/registry/core/pod/storage/storage.go` (`BindingREST.Create`,
`setPodNodeAndMetadata`, `assignPod`), v1.36.
"""

from __future__ import annotations

from lifecycle.api import status
from lifecycle.api.aggregate import aggregate
from lifecycle.api.conditions import set_status_condition
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.admission import Validate
from lifecycle.apiserver.registry.core.binding import validate as validate_binding
from lifecycle.apiserver.registry.metadata import in_go_order
from lifecycle.apiserver.registry.preconditions import check_stored
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.registry.store import MAX_CONFLICTS, ResourceStore
from lifecycle.etcd.keys import registry_key


async def bind(
    store: ResourceStore, scope: RequestScope, binding: Object, validate: Validate
) -> Object:
    """Bind a pod to the node a `Binding` names. Raises StatusError 400, 404, 409 (bound
    already), 500 (a bad target).
    """
    environment = store.environment
    if (binding.get("metadata") or {}).get("name", "") != scope.name:
        raise status.bad_request("name in URL does not match name in Binding object")
    errors = validate_binding(binding)
    if errors:  # returned as they are, and so an error of the server
        messages = [f"{error.field}: {error.cause()['message']}" for error in errors]
        raise status.failure(500, "", aggregate(messages))
    await validate(binding, None)
    if not scope.name:
        raise status.bad_request("Name parameter required.")
    for _ in range(MAX_CONFLICTS):
        stored = store.get(scope.namespace, scope.name)
        pod = assign_pod(stored.obj, binding, scope, environment.clock.timestamp())
        if (
            scope.dry_run
            or await store.write(stored.key, pod, stored.revision) is not None
        ):
            return status.success(code=201)
    raise status.conflict("pods/binding", scope.name)


def assign_pod(pod: Object, binding: Object, scope: RequestScope, now: str) -> Object:
    """The pod as it is once it has its node. Raises StatusError 409."""
    metadata, spec = pod["metadata"], pod["spec"]
    meta = binding.get("metadata") or {}
    key = registry_key(scope.resource, scope.namespace, scope.name)
    uid, version = meta.get("uid", ""), meta.get("resourceVersion", "")
    check_stored(metadata, key, scope, uid, version)
    if "deletionTimestamp" in metadata:
        raise status.conflict(
            "pods/binding",
            scope.name,
            f"pod {scope.name} is being deleted, cannot be assigned to a host",
        )
    if spec.get("nodeName"):
        why = f'pod {scope.name} is already assigned to node "{spec["nodeName"]}"'
        raise status.conflict("pods/binding", scope.name, why)
    if spec.get("schedulingGates"):
        why = f"pod {scope.name} has non-empty .spec.schedulingGates"
        raise status.conflict("pods/binding", scope.name, why)
    merged = dict(metadata)
    for key in ("labels", "annotations"):
        if meta.get(key):
            merged[key] = dict(
                sorted({**(metadata.get(key) or {}), **meta[key]}.items())
            )
    # a node that was kept for the pod is none any more
    # (`ClearingNominatedNodeNameAfterBinding`)
    old_status = {
        key: value
        for key, value in (pod.get("status") or {}).items()
        if key != "nominatedNodeName"
    }
    condition = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
    }
    conditions = list(old_status.get("conditions") or ())
    set_status_condition(conditions, condition, now)
    return {
        **pod,
        "metadata": in_go_order(merged),
        "spec": {**spec, "nodeName": binding["target"]["name"]},
        "status": {**old_status, "conditions": conditions},
    }
