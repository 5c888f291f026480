"""Claims about a Deployment's status: its progress, its deadline, and when it is
complete.
"""

from __future__ import annotations

from lifecycle.agreements.claim_checks.deployment_life import journey, life
from lifecycle.agreements.claim_checks.played_deployments import (
    a_deployment,
)
from lifecycle.api.http.wire import Object
from lifecycle.compare.claims import check, rebuilt
from lifecycle.controllers.deployment.deployment_util import deployment_complete
from lifecycle.inspector import Recording


def _progressing(deployment: Object) -> bool:
    conditions = (deployment.get("status") or {}).get("conditions") or ()
    return bool(deployment["spec"].get("progressDeadlineSeconds")) and any(
        c["type"] == "Progressing" for c in conditions
    )


@check("deployment-controller-deployment-updated-for-progress-deadline")
def deadline(recording: Recording) -> bool:
    """There is a deadline by default, and a condition for it."""
    return any(map(_progressing, journey(recording)[0]))


@rebuilt("deployment-controller-deployment-updated-for-progress-deadline")
def deadline_here() -> bool:
    """Likewise; and when the deadline of one that is stuck is over, it says so, though
    nothing else has happened to it.
    """
    return _progressing(life().created) and life().overdue == [
        "ReplicaSetUpdated",
        "ProgressDeadlineExceeded",
    ]


@check("deployment-controller-updates-status")
def status(recording: Recording) -> bool:
    """Empty at first, then not."""
    states = journey(recording)[0]
    return not states[0].get("status") and any(
        (d.get("status") or {}).get("replicas") for d in states
    )


@rebuilt("deployment-controller-updates-status")
def status_here() -> bool:
    """Written by the controller, to the subresource."""
    return any(
        a.method == "PUT" and a.path.endswith("/deployments/web/status")
        for a in life().asked
    )


@check("deployment-controller-definition-of-complete")
def complete_as_recorded(recording: Recording) -> bool | None:
    """Whenever a recorded status says that a rollout has finished, our rule says so,
    too.
    """
    done = [d for d in journey(recording)[0] if _says_available(d)]
    return (
        deployment_complete(done[-1], done[-1]["status"]) if done else None
    )  # without nodes nothing completes


def _says_available(deployment: Object) -> bool:
    conditions = (deployment.get("status") or {}).get("conditions") or ()
    return any(
        c.get("reason") == "NewReplicaSetAvailable" for c in conditions
    ) and bool(
        deployment["status"].get("observedGeneration")
        == deployment["metadata"]["generation"]
    )


@rebuilt("deployment-controller-definition-of-complete")
def complete() -> bool:
    """All numbers equal: complete. Any one of them off: not."""
    d = {**a_deployment(), "metadata": {"name": "web", "generation": 2}}
    full = {
        "updatedReplicas": 3,
        "replicas": 3,
        "availableReplicas": 3,
        "observedGeneration": 2,
    }
    off = [
        {**full, key: value}
        for key, value in (
            ("updatedReplicas", 2),
            ("replicas", 4),
            ("availableReplicas", 2),
        )
    ]
    return deployment_complete(d, full) and not any(
        deployment_complete(d, status) for status in off
    )
