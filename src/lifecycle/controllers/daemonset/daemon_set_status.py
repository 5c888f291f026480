"""What a DaemonSet says of its nodes.

Upstream: `pkg/controller/daemon/daemon_controller.go` (`updateDaemonSetStatus`,
`storeDaemonSetStatus`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.controllers.daemonset.daemon_pods import node_should_run_daemon_pod
from lifecycle.controllers.daemonset.rolling_update import is_updated
from lifecycle.controllers.pod_readiness import is_pod_available, is_pod_ready


def daemon_set_status(
    ds: Object,
    nodes: Sequence[Object],
    pods_on: Mapping[str, list[Object]],
    revision_hash: str,
    now: float,
) -> Object:
    """The whole status. Of several pods on a node the oldest speaks for it."""
    desired = current = misscheduled = ready = updated = available = 0
    min_ready = ds["spec"].get("minReadySeconds", 0)
    for node in nodes:
        should = node_should_run_daemon_pod(ds, node)
        pods = sorted(
            pods_on.get(node["metadata"]["name"], []),
            key=lambda pod: (
                pod["metadata"]["creationTimestamp"],
                pod["metadata"]["name"],
            ),
        )
        if not should.run:
            misscheduled += bool(pods)
            continue
        desired += 1
        if not pods:
            continue
        current += 1
        pod = pods[0]
        if is_pod_ready(pod):
            ready += 1
            available += is_pod_available(pod, min_ready, now)
        updated += is_updated(ds, pod, revision_hash)
    status: Object = {
        "currentNumberScheduled": current,
        "numberMisscheduled": misscheduled,
        "desiredNumberScheduled": desired,
        "numberReady": ready,
        "observedGeneration": ds["metadata"].get("generation", 0),
        "updatedNumberScheduled": updated,
        "numberAvailable": available,
        "numberUnavailable": desired - available,
    }
    always = (
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
    )
    old = ds.get("status") or {}
    status = {name: value for name, value in status.items() if value or name in always}
    for name in ("collisionCount", "conditions"):
        if old.get(name) is not None:
            status[name] = old[name]
    return status
