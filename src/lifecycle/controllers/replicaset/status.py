"""What a ReplicaSet says of its pods.

Counted anew from the cache in each sync. Written only if something changed; a write
that lost a race is tried once more on the object's newest revision, because the numbers
are still the freshest anybody has.

Upstream: `pkg/controller/replicaset/replica_set_utils.go` (`calculateStatus`,
`updateReplicaSetStatus`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.api.conditions import get_condition
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import format_time
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.pod_readiness import is_pod_available

STATUS_UPDATE_RETRIES = 1
REPLICA_FAILURE = "ReplicaFailure"


def calculate_status(
    rs: Object,
    active_pods: Sequence[Object],
    terminating: int,
    manage_replicas_error: Exception | None,
    now: float,
) -> Object:
    """The status as it should be, without `observedGeneration`. `now` in seconds since
    1970.
    """
    spec = rs["spec"]
    template_labels = (spec["template"]["metadata"].get("labels") or {}).items()
    min_ready_seconds = spec.get("minReadySeconds", 0)
    fully_labeled = ready = available = 0
    for pod in active_pods:
        if template_labels <= (pod["metadata"].get("labels") or {}).items():
            fully_labeled += 1
        condition = get_condition(pod, "Ready")
        if condition is not None and condition["status"] == "True":
            ready += 1
            if not min_ready_seconds or is_pod_available(pod, min_ready_seconds, now):
                available += 1
    status: Object = {"replicas": len(active_pods)}
    for name, count in (
        ("fullyLabeledReplicas", fully_labeled),
        ("readyReplicas", ready),
        ("availableReplicas", available),
    ):
        if count:
            status[name] = count
    status["terminatingReplicas"] = terminating
    conditions = _conditions(rs, len(active_pods), manage_replicas_error, now)
    if conditions:
        status["conditions"] = conditions
    return status


def _conditions(
    rs: Object, active: int, error: Exception | None, now: float
) -> list[dict[str, Any]]:
    conditions = list((rs.get("status") or {}).get("conditions") or ())
    failure = get_condition(rs, REPLICA_FAILURE)
    if error is not None and failure is None:
        diff = active - rs["spec"].get("replicas", 1)
        condition = {
            "type": REPLICA_FAILURE,
            "status": "True",
            "lastTransitionTime": format_time(now),
            "reason": "FailedCreate"
            if diff < 0
            else "FailedDelete"
            if diff > 0
            else "",
            "message": str(error),
        }
        conditions.append({key: value for key, value in condition.items() if value})
    elif error is None and failure is not None:
        conditions = [c for c in conditions if c["type"] != REPLICA_FAILURE]
    return conditions


async def update_replica_set_status(
    client: Client, resource: Resource, rs: Object, status: Object
) -> Object:
    """Write the status if it differs. The ReplicaSet as it is now. Raises
    StatusError.
    """
    generation = rs["metadata"].get("generation", 0)
    old = dict(rs.get("status") or {})
    observed = old.pop("observedGeneration", 0)
    if old == status and observed == generation:
        return rs
    conditions = status.pop("conditions", None)
    status = {**status, "observedGeneration": generation}
    if conditions:
        status["conditions"] = conditions
    for attempt in range(STATUS_UPDATE_RETRIES + 1):
        try:
            return await client.update(
                resource, {**mutable_copy(rs), "status": status}, subresource="status"
            )
        except StatusError:
            if attempt == STATUS_UPDATE_RETRIES:
                raise
            meta = rs["metadata"]
            rs = await client.get(resource, meta["name"], meta["namespace"])
    raise AssertionError("unreachable")
