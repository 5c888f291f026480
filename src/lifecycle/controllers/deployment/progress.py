"""Reporting a rollout: complete, progressing, or out of time.

Nothing happens in the cluster when a deadline passes, so no event would bring a stuck
Deployment back here; it is put into the queue for the second after its deadline.

Upstream: `pkg/controller/deployment/progress.go` (`syncRolloutStatus`,
`requeueStuckDeployment`, `getReplicaFailures`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from lifecycle.controllers.deployment import conditions as c
from lifecycle.controllers.deployment.deployment_control import DeploymentControl
from lifecycle.controllers.deployment.deployment_util import (
    deployment_complete,
    deployment_progressing,
    deployment_timed_out,
    has_progress_deadline,
    status_of,
)
from lifecycle.controllers.deployment.sync import calculate_status

EnqueueAfter = Callable[[float], None]


async def sync_rollout_status(
    control: DeploymentControl,
    all_replica_sets: Sequence[Object | None],
    new_rs: Object | None,
    d: Object,
    enqueue_after: EnqueueAfter,
) -> None:
    """Write the status during a rollout, if it changed. Raises StatusError."""
    now = control.clock.now()
    status = calculate_status(all_replica_sets, new_rs, d, now)
    if not has_progress_deadline(d):
        c.remove_deployment_condition(status, c.PROGRESSING)
    current = c.get_deployment_condition(status_of(d), c.PROGRESSING)
    was_complete = (
        status.get("replicas", 0) == status.get("updatedReplicas", 0)
        and current is not None
        and current["reason"] == c.NEW_RS_AVAILABLE
    )
    if has_progress_deadline(d) and not was_complete:
        subject = (
            f'ReplicaSet "{new_rs["metadata"]["name"]}"'
            if new_rs
            else f'Deployment "{d["metadata"]["name"]}"'
        )
        if deployment_complete(d, status):
            message = f"{subject} has successfully progressed."
            c.set_deployment_condition(
                status,
                c.new_condition(
                    c.PROGRESSING, "True", c.NEW_RS_AVAILABLE, message, now
                ),
            )
        elif deployment_progressing(d, status):
            condition = c.new_condition(
                c.PROGRESSING,
                "True",
                c.REPLICA_SET_UPDATED,
                f"{subject} is progressing.",
                now,
            )
            if (
                current is not None
            ):  # same reason, but every step forward restarts the deadline
                if current["status"] == "True":
                    condition["lastTransitionTime"] = current["lastTransitionTime"]
                c.remove_deployment_condition(status, c.PROGRESSING)
            c.set_deployment_condition(status, condition)
        elif deployment_timed_out(d, status, now):
            message = f"{subject} has timed out progressing."
            c.set_deployment_condition(
                status,
                c.new_condition(c.PROGRESSING, "False", c.TIMED_OUT, message, now),
            )
    failures = replica_failures(all_replica_sets, new_rs)
    if failures:
        c.set_deployment_condition(status, failures[0])
    else:
        c.remove_deployment_condition(status, c.REPLICA_FAILURE)
    if status == status_of(d):
        requeue_stuck_deployment(d, status, now, enqueue_after)
        return
    d["status"] = status
    await control.update_status(d)


def replica_failures(
    all_replica_sets: Sequence[Object | None], new_rs: Object | None
) -> list[c.Condition]:
    """The failures that ReplicaSets report; the new one's if it has any."""

    def of(rs: Object | None) -> list[c.Condition]:
        conditions = status_of(rs).get("conditions", ()) if rs is not None else ()
        return [
            c.replica_set_to_deployment_condition(x)
            for x in conditions
            if x["type"] == c.REPLICA_FAILURE
        ]

    return of(new_rs) or [condition for rs in all_replica_sets for condition in of(rs)]


def requeue_stuck_deployment(
    d: Object, status: Object, now: float, enqueue_after: EnqueueAfter
) -> None:
    """Have a look at an unfinished rollout when its deadline is over."""
    current = c.get_deployment_condition(status_of(d), c.PROGRESSING)
    if not has_progress_deadline(d) or current is None:
        return
    if deployment_complete(d, status) or current["reason"] == c.TIMED_OUT:
        return
    after = (
        parse_time(current["lastUpdateTime"])
        + d["spec"]["progressDeadlineSeconds"]
        - now
    )
    enqueue_after(after + 1.0 if after >= 1.0 else 1.0)
