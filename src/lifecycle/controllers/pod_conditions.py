"""What a controller says of a pod in its status: a condition, and the patch.

Upstream: `pkg/controller/podgc/gc_controller.go`, `pkg/controller/tainteviction`
(`addConditionAndDeletePod`), `pkg/util/pod/pod.go` (`PatchPodStatus`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.conditions import update_pod_condition
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH, Client


def disruption_target(
    pod: Object, reason: str, message: str, now: str
) -> dict[str, Any] | None:
    """`DisruptionTarget`, which says that the pod did not end of itself; None if it
    says so already.
    """
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": reason,
        "message": message,
    }
    return update_pod_condition(pod, condition, now)


async def patch_pod_status(client: Client, pod: Object, status: Object) -> None:
    """Write these fields of the status, if it is still this pod. Raises what the client
    raises.
    """
    meta = pod["metadata"]
    await client.patch(
        resource("pods"),
        meta["name"],
        meta["namespace"],
        {"metadata": {"uid": meta["uid"]}, "status": status},
        patch_type=STRATEGIC_MERGE_PATCH,
        subresource="status",
    )
