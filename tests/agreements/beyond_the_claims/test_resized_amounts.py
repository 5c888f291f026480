"""What counts of a pod that was asked to become another size."""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.resources import (
    PodResourcesOptions,
    ResourceList,
    pod_limits,
    pod_requests,
)

WISHED, PROMISED, IN_FORCE = ({kind: {"cpu": cpu} for kind in ("requests", "limits")} for cpu in ("4", "2", "1"))
BY_STATUS = PodResourcesOptions(use_status_resources=True)


def pod(reason: str = "", told: Object | None = IN_FORCE) -> Object:
    """One that wishes for four CPUs, was promised two, and has one; why it has not what
    it wishes for, if anybody says it, and what is told of what it has.
    """
    pending = {"type": "PodResizePending", "status": "True", "reason": reason}
    container = {"name": "c", "allocatedResources": PROMISED["requests"]}
    status: Object = {"containerStatuses": [{**container, "resources": told}]}
    if reason:
        status["conditions"] = [pending]
    return {
        "spec": {"containers": [{"name": "c", "resources": WISHED}]},
        "status": status,
    }


def _cpus(amounts: ResourceList) -> str:
    return ",".join(f"{name}={amount}" for name, amount in amounts.items())


def counted() -> list[tuple[str, str]]:
    """Requests and limits: what the spec says; what may come to be in force; what is,
    if the node can never grant more; and that of one of which nothing is told.
    """
    rows = (
        (pod(), PodResourcesOptions()),
        (pod(), BY_STATUS),
        (pod("Deferred"), BY_STATUS),
        (pod("Infeasible"), BY_STATUS),
        (pod("Infeasible", {}), BY_STATUS),
    )
    return [(_cpus(pod_requests(*row)), _cpus(pod_limits(*row))) for row in rows]


COUNTED = [
    ("cpu=4", "cpu=4"),
    ("cpu=4", "cpu=4"),
    ("cpu=4", "cpu=4"),
    ("cpu=2", "cpu=1"),
    ("cpu=2", ""),
]


def test_a_pod_that_is_to_become_larger_counts_as_far_as_its_node_can_grant_it() -> None:
    assert counted() == COUNTED


def test_what_was_promised_is_no_limit() -> None:
    """Of what the container may use without a limit, nothing that it was promised makes one."""
    body = pod()
    body["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1", "memory": "64"}, "limits": {"cpu": "4"}}
    body["status"]["containerStatuses"][0] |= {
        "allocatedResources": {"cpu": "1", "memory": "64"},
        "resources": {"requests": {"cpu": "1", "memory": "64"}, "limits": {"cpu": "4"}},
    }
    assert _cpus(pod_requests(body, BY_STATUS)) == "cpu=1,memory=64"
    assert _cpus(pod_limits(body, BY_STATUS)) == "cpu=4"
