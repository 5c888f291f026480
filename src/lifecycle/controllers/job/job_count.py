"""What a Job's pods have come to: active, ended, ended before and counted, not worth
counting.

A pod that has the finalizer is still to be counted; a pod that has none has been,
whatever it says.

Upstream: `pkg/controller/job/job_controller.go` (`syncJobCtx`, `getNewFinishedPods`,
`isPodFailed`), v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lifecycle.api.http.wire import Object
from lifecycle.controllers.job.indexes import completion_index
from lifecycle.controllers.job.job_status import Condition
from lifecycle.controllers.job.ordered_intervals import (
    NO_INDEXES,
    OrderedIntervals,
    parse_intervals,
)
from lifecycle.controllers.job.pod_failure_policy import match_pod_failure_policy
from lifecycle.controllers.pod_readiness import (
    is_pod_active,
    is_pod_ready,
    is_pod_terminal,
    is_pod_terminating,
    pod_phase,
)

TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"


def has_finalizer(pod: Object) -> bool:
    """Whether the pod is still to be counted."""
    return TRACKING_FINALIZER in (pod["metadata"].get("finalizers") or ())


def tracked(pod: Object, job: str) -> Object:
    """The pod as it is once the Job of that uid has adopted it, which the cache does
    not know yet. Upstream: `getPodsForJob`.
    """
    meta = pod["metadata"]
    known = any(each["uid"] == job for each in meta.get("ownerReferences") or ())
    if known or has_finalizer(pod):
        return pod
    finalizers = [*(meta.get("finalizers") or ()), TRACKING_FINALIZER]
    return {**pod, "metadata": {**meta, "finalizers": finalizers}}


@dataclass(slots=True)
class JobCount:
    """One sync's view of a Job. `status` is the sync's own, and written at its end."""

    job: Object
    pods: list[Object]
    active: list[Object]
    ready: int
    terminating: int
    status: Object
    counted_indexes: OrderedIntervals = NO_INDEXES
    failed_indexes: OrderedIntervals = NO_INDEXES
    delayed: dict[int, Object] = field(default_factory=dict)
    new_succeeded: list[Object] = field(default_factory=list)
    new_failed: list[Object] = field(default_factory=list)
    ignored: list[Object] = field(default_factory=list)

    @property
    def indexed(self) -> bool:
        """Whether the Job's pods have numbers."""
        return bool(self.job["spec"].get("completionMode") == "Indexed")

    @property
    def succeeded(self) -> int:
        """Successes, whether counted already or not. Of an Indexed Job: indexes."""
        if self.indexed:
            return self.done.total
        uncounted = (self.status.get("uncountedTerminatedPods") or {}).get(
            "succeeded"
        ) or ()
        return (
            self.status.get("succeeded", 0) + len(self.new_succeeded) + len(uncounted)
        )

    @property
    def failed(self) -> int:
        """Failures, whether counted already or not."""
        uncounted = (self.status.get("uncountedTerminatedPods") or {}).get(
            "failed"
        ) or ()
        return int(self.status.get("failed", 0) + len(self.new_failed) + len(uncounted))

    @property
    def done(self) -> OrderedIntervals:
        """Indexes that succeeded."""
        completions = self.job["spec"].get("completions") or 0
        fresh = {
            completion_index(pod)
            for pod in self.pods
            if pod_phase(pod) == "Succeeded" and has_finalizer(pod)
        }
        return self.counted_indexes.with_indexes(
            index for index in fresh if 0 <= index < completions
        )


def count_pods(
    job: Object,
    pods: list[Object],
    status: Object,
    freed: frozenset[str] = frozenset(),
) -> JobCount:
    """Who is active, who has ended since the last count, and whose end does not count.
    `freed` are uids of pods that were counted, whatever the cache shows of them.
    Upstream: `getNewFinishedPods`.
    """
    uncounted = status.get("uncountedTerminatedPods") or {}
    listed = {*(uncounted.get("succeeded") or ()), *(uncounted.get("failed") or ())}
    terminating = sum(1 for pod in pods if is_pod_terminating(pod))
    active = [pod for pod in pods if is_pod_active(pod)]
    ready = sum(map(is_pod_ready, active))
    count = JobCount(job, pods, active, ready, terminating, status)
    completions = job["spec"].get("completions") or 0
    if count.indexed:
        count.counted_indexes = parse_intervals(
            status.get("completedIndexes", ""), completions
        )
    replaced_early = (
        job["spec"].get("podReplacementPolicy") or "TerminatingOrFailed"
    ) == "TerminatingOrFailed"
    for pod in pods:
        if not has_finalizer(pod) or pod["metadata"]["uid"] in listed | freed:
            continue
        if pod_phase(pod) == "Succeeded":
            count.new_succeeded.append(pod)
        elif pod_phase(pod) == "Failed" or (
            "deletionTimestamp" in pod["metadata"] and replaced_early
        ):
            policy = job["spec"].get("podFailurePolicy")
            counts = (
                pod_phase(pod) != "Failed"
                or match_pod_failure_policy(policy, pod).counts
            )
            (count.new_failed if counts else count.ignored).append(pod)
    return count


def settle_the_rest(count: JobCount, target: Condition | None) -> None:
    """With the outcome certain, what still runs failed with the Job; or is let go
    uncounted, if the Job did not.
    """
    if target is None:
        return
    seen = {
        id(pod) for pod in (*count.new_succeeded, *count.new_failed, *count.ignored)
    }
    rest = [
        pod
        for pod in count.pods
        if has_finalizer(pod) and id(pod) not in seen and not is_pod_terminal(pod)
    ]
    if target["type"] == "FailureTarget":
        listed = (count.status.get("uncountedTerminatedPods") or {}).get("failed") or ()
        count.new_failed += [
            pod for pod in rest if pod["metadata"]["uid"] not in listed
        ]
    else:
        count.ignored += rest
