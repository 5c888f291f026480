"""What a Job says of its pods, and when it is over.

Two steps lead to the end. First a condition says what will become of it
(`SuccessCriteriaMet`, `FailureTarget`), and the remaining pods are deleted. Only when
none is left does `Complete` or `Failed` follow: whoever waits for those may rely on
nothing running any more.

Upstream: `pkg/controller/job/job_controller.go` (`syncJob`, `enactJobFinished`,
`newFailedConditionForFailureTarget`), `utils.go` (`IsJobFinished`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.conditions import Condition, find_status_condition, get_condition
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import format_time, parse_time
from lifecycle.controllers.job.ordered_intervals import OrderedIntervals
from lifecycle.controllers.job.pod_failure_policy import match_pod_failure_policy
from lifecycle.controllers.pod_readiness import pod_phase


def job_condition(job: Object, kind: str) -> Condition | None:
    """The condition of that type, if it is true."""
    condition = get_condition(job, kind)
    return condition if condition and condition["status"] == "True" else None


def is_job_finished(job: Object) -> bool:
    """Complete or Failed."""
    return bool(job_condition(job, "Complete") or job_condition(job, "Failed"))


def new_condition(
    kind: str, status: str, reason: str, message: str, now: float
) -> Condition:
    """A condition that begins now."""
    stamp = format_time(now)
    return {
        "type": kind,
        "status": status,
        "lastProbeTime": stamp,
        "lastTransitionTime": stamp,
        "reason": reason,
        "message": message,
    }


def ensure_condition(conditions: list[Condition], condition: Condition) -> bool:
    """Put a condition in; whether anything changed. A false condition that is not there
    stays away. Upstream: `ensureJobConditionStatus`.
    """
    old = find_status_condition(conditions, condition["type"])
    if old is None:
        if condition["status"] == "False":
            return False
        conditions.append(condition)
        return True
    if old["status"] == condition["status"] and (
        old.get("reason") == condition["reason"]
    ):
        return False
    conditions[conditions.index(old)] = condition
    return True


def restarts(pods: Sequence[Object]) -> int:
    """All restarts of containers of pods that may restart them."""
    return sum(
        container.get("restartCount", 0)
        for pod in pods
        if pod_phase(pod) in ("Running", "Pending")
        for kind in ("initContainerStatuses", "containerStatuses")
        for container in (pod.get("status") or {}).get(kind) or ()
    )


def failed_indexes_target(
    job: Object, failed_indexes: OrderedIntervals, done: OrderedIntervals, now: float
) -> Condition | None:
    """Whether too many indexes were given up, or all others are done."""
    spec = job["spec"]
    most = spec.get("maxFailedIndexes")
    if most is not None and failed_indexes.total > most:
        message = "Job has exceeded the specified maximal number of failed indexes"
        return new_condition(
            "FailureTarget", "True", "MaxFailedIndexesExceeded", message, now
        )
    if failed_indexes and failed_indexes.total + done.total >= (
        spec.get("completions") or 0
    ):
        return new_condition(
            "FailureTarget", "True", "FailedIndexes", "Job has failed indexes", now
        )
    return None


def failure_target(
    job: Object, pods: Sequence[Object], failed: int, now: float
) -> Condition | None:
    """Why the Job must fail; None as long as it need not. `failed`: failures so far,
    counted and not.
    """
    existing = job_condition(job, "FailureTarget")
    if existing is not None:
        return existing
    spec = job["spec"]
    for pod in pods:
        if pod_phase(pod) == "Failed":
            verdict = match_pod_failure_policy(spec.get("podFailurePolicy"), pod)
            if verdict.job_failure:
                return new_condition(
                    "FailureTarget",
                    "True",
                    "PodFailurePolicy",
                    verdict.job_failure,
                    now,
                )
    limit = spec.get("backoffLimit", 6)
    by_restarts = spec["template"]["spec"].get("restartPolicy") == "OnFailure"
    restarted = restarts(pods) if by_restarts else 0
    if failed > limit or (
        by_restarts and (restarted > 0 if limit == 0 else restarted >= limit)
    ):
        message = "Job has reached the specified backoff limit"
        return new_condition(
            "FailureTarget", "True", "BackoffLimitExceeded", message, now
        )
    if past_active_deadline(job, now):
        message = "Job was active longer than specified deadline"
        return new_condition("FailureTarget", "True", "DeadlineExceeded", message, now)
    return None


def past_active_deadline(job: Object, now: float) -> bool:
    """Whether `activeDeadlineSeconds` are over. A suspended Job's clock stands
    still.
    """
    deadline, start = (
        job["spec"].get("activeDeadlineSeconds"),
        (job.get("status") or {}).get("startTime"),
    )
    if deadline is None or not start or job["spec"].get("suspend"):
        return False
    return now >= parse_time(start) + deadline


def success_criteria(
    job: Object, succeeded: int, active: int, now: float
) -> Condition | None:
    """Whether the Job has done what it was for."""
    existing = job_condition(job, "SuccessCriteriaMet")
    if existing is not None:
        return existing
    completions = job["spec"].get("completions")
    done = (
        (succeeded > 0 and active == 0)
        if completions is None
        else succeeded >= completions
    )
    if not done:
        return None
    return new_condition(
        "SuccessCriteriaMet",
        "True",
        "CompletionsReached",
        "Reached expected number of succeeded pods",
        now,
    )
