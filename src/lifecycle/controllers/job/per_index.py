"""Limits per index: one bad piece of an Indexed Job does not take the good ones with
it.

How often an index failed is written on its newest pod. So a failed pod must not be let
go before the one that replaces it carries the number on: its finalizer stays (its
deletion is *delayed*) until then, and it is not counted either. An index that failed
once too often, or whose pod the failure policy gives up, is a *failed index* and is not
tried again.

Upstream: `pkg/controller/job/backoff_utils.go` (`calculateFailedIndexes`,
`getPodsWithDelayedDeletionPerIndex`, `getNewIndexFailureCounts`,
`getRemainingTimePerIndex`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.controllers.job.backoff import finished_at, remaining_after
from lifecycle.controllers.job.indexes import completion_index
from lifecycle.controllers.job.ordered_intervals import (
    OrderedIntervals,
    parse_intervals,
)
from lifecycle.controllers.job.pod_failure_policy import match_pod_failure_policy

FAILURE_COUNT = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURE_COUNT = "batch.kubernetes.io/job-index-ignored-failure-count"


def has_backoff_limit_per_index(job: Object) -> bool:
    """Whether every index has a limit of its own."""
    return job["spec"].get("backoffLimitPerIndex") is not None


def _number(pod: Object, annotation: str) -> int:
    try:
        return int((pod["metadata"].get("annotations") or {}).get(annotation, "0"))
    except ValueError:
        return 0


def failed_indexes(job: Object, failed: Iterable[Object]) -> OrderedIntervals:
    """The indexes given up: those of the status, and those whose last chance one of
    these uncounted failed pods was.
    """
    spec = job["spec"]
    completions, limit, policy = (
        spec.get("completions") or 0,
        spec["backoffLimitPerIndex"],
        spec.get("podFailurePolicy"),
    )
    known = parse_intervals(
        (job.get("status") or {}).get("failedIndexes") or "", completions
    )
    fresh = set()
    for pod in failed:
        index, verdict = completion_index(pod), match_pod_failure_policy(policy, pod)
        exhausted = verdict.counts and _number(pod, FAILURE_COUNT) >= limit
        if 0 <= index < completions and (verdict.fails_index or exhausted):
            fresh.add(index)
    return known.with_indexes(fresh)


def delayed_pods(
    failed: Iterable[Object], settled: OrderedIntervals, completions: int
) -> dict[int, Object]:
    """The failed pod that has to wait for its replacement, per index that is not
    `settled` (done, given up, or running again).
    """
    last: dict[int, Object] = {}
    for pod in failed:
        index = completion_index(pod)
        if 0 <= index < completions and index not in settled:
            other = last.get(index)
            if other is None or _seniority(other) <= _seniority(pod):
                last[index] = pod
    return last


def _seniority(pod: Object) -> tuple[int, float]:
    return (
        _number(pod, FAILURE_COUNT) + _number(pod, IGNORED_FAILURE_COUNT),
        finished_at(pod),
    )


def failure_counts(job: Object, replaced: Object | None) -> dict[str, str]:
    """The annotations of the pod that takes another one's place (None: the first of its
    index).
    """
    counted = ignored = 0
    if replaced is not None:
        counted, ignored = (
            _number(replaced, FAILURE_COUNT),
            _number(replaced, IGNORED_FAILURE_COUNT),
        )
        if match_pod_failure_policy(
            job["spec"].get("podFailurePolicy"), replaced
        ).counts:
            counted += 1
        else:
            ignored += 1
    annotations = {FAILURE_COUNT: str(counted)}
    if ignored:
        annotations[IGNORED_FAILURE_COUNT] = str(ignored)
    return annotations


def indexes_to_add_now(
    indexes: Sequence[int], delayed: Mapping[int, Object], now: float
) -> tuple[list[int], float]:
    """The indexes whose back-off is over; if there are none, the seconds until the
    first one's is.
    """
    waits = {}
    for index in indexes:
        pod = delayed.get(index)
        waits[index] = (
            0.0
            if pod is None
            else remaining_after(_seniority(pod)[0] + 1, finished_at(pod), now)
        )
    ready = [index for index in indexes if waits[index] <= 0]
    return ready, 0.0 if ready else min(waits.values(), default=0.0)
