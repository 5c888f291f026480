"""Create what is missing, delete what is too much: the heart of the ReplicaSet
controller.

At most 500 pods per sync; the next sync, caused by the pods' own events, does the rest.
What is about to happen is put into the expectations *before* the first request, so that
not even an event that overtakes the answer can be missed; what then does not happen is
taken out again.

Upstream: `pkg/controller/replicaset/replica_set.go` (`manageReplicas`), v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.client.store import meta_namespace_key
from lifecycle.controllers.expectations import ControllerExpectations
from lifecycle.controllers.namespace_terminating import is_namespace_terminating
from lifecycle.controllers.pod_control import PodControl, pod_from_template
from lifecycle.controllers.replicaset.slow_start_batch import (
    SLOW_START_INITIAL_BATCH_SIZE,
    slow_start_batch,
)
from lifecycle.controllers.replicaset.victim_ranking import get_pods_to_delete

BURST_REPLICAS = 500


async def manage_replicas(
    rs: Object,
    active_pods: Sequence[Object],
    *,
    pod_control: PodControl,
    expectations: ControllerExpectations,
    related_pods: Callable[[], Sequence[Object]],
    now: float,
) -> Exception | None:
    """Bring the number of active pods to `spec.replicas`. The first error, if requests
    failed.

    `related_pods` gives all pods of ReplicaSets with the same owner; it is asked only
    for a scale-down. `now`: seconds since 1970.
    """
    diff = len(active_pods) - rs["spec"].get("replicas", 1)
    if diff < 0:
        return await _create(rs, min(-diff, BURST_REPLICAS), pod_control, expectations)
    if diff > 0:
        victims = get_pods_to_delete(
            active_pods, related_pods(), min(diff, BURST_REPLICAS), now
        )
        return await _delete(rs, victims, pod_control, expectations)
    return None


async def _create(
    rs: Object,
    count: int,
    pod_control: PodControl,
    expectations: ControllerExpectations,
) -> Exception | None:
    key, namespace = meta_namespace_key(rs), rs["metadata"]["namespace"]
    encoded = fast_json.dumps(pod_from_template(rs["spec"]["template"], rs))

    async def create() -> None:
        try:
            await pod_control.create_pod(encoded, namespace, rs)
        except StatusError as error:
            if not is_namespace_terminating(
                error
            ):  # else every create will fail, and everything here is about to go anyway
                raise

    expectations.expect_creations(key, count)
    successes, error = await slow_start_batch(
        count, SLOW_START_INITIAL_BATCH_SIZE, create
    )
    for _ in range(count - successes):
        expectations.creation_observed(key)
    return error


async def _delete(
    rs: Object,
    victims: Sequence[Object],
    pod_control: PodControl,
    expectations: ControllerExpectations,
) -> Exception | None:
    key, namespace = meta_namespace_key(rs), rs["metadata"]["namespace"]

    async def delete(pod: Object) -> None:
        try:
            await pod_control.delete_pod(pod["metadata"]["name"], namespace, rs)
        except Exception as error:
            expectations.deletion_observed(key, meta_namespace_key(pod))
            if not (isinstance(error, StatusError) and error.code == 404):
                raise

    expectations.expect_deletions(key, [meta_namespace_key(pod) for pod in victims])
    results = await asyncio.gather(
        *(delete(pod) for pod in victims), return_exceptions=True
    )
    for result in results:
        if isinstance(result, Exception):
            return result
        if isinstance(result, BaseException):
            raise result
    return None
