"""What becomes of a Job: its conditions, its reasons to fail, the end of one that wanted no certain number."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, Clock, format_time
from lifecycle.api.status import StatusError, failure
from lifecycle.controllers.job.job_count import TRACKING_FINALIZER, count_pods, settle_the_rest
from lifecycle.controllers.job.job_status import (
    ensure_condition,
    failed_indexes_target,
    failure_target,
    is_job_finished,
    job_condition,
    new_condition,
    past_active_deadline,
    restarts,
    success_criteria,
)
from lifecycle.controllers.job.ordered_intervals import NO_INDEXES
from lifecycle.controllers.job.pod_failure_policy import match_pod_failure_policy
from lifecycle.controllers.job.status_tracking import StatusTracker

NOW = VIRTUAL_EPOCH


def condition(kind: str = "Suspended", status: str = "True", reason: str = "why", message: str = "text") -> Any:
    return new_condition(kind, status, reason, message, NOW)


def test_a_condition_begins_now_and_was_looked_at_now() -> None:
    assert condition() == {
        "type": "Suspended",
        "status": "True",
        "reason": "why",
        "message": "text",
        "lastProbeTime": format_time(NOW),
        "lastTransitionTime": format_time(NOW),
    }


@pytest.mark.parametrize(
    ("there", "new", "changes", "left"),
    [
        ([], condition(), True, [condition()]),
        ([], condition(status="False"), False, []),
        ([condition()], condition(message="other words"), False, [condition()]),
        ([condition()], condition(reason="other"), True, [condition(reason="other")]),
        ([condition()], condition(status="False"), True, [condition(status="False")]),
        ([condition(status="False")], condition(status="False"), False, [condition(status="False")]),
        ([condition(status="False")], condition(), True, [condition()]),
        (
            [condition("Other"), condition()],
            condition(status="False"),
            True,
            [condition("Other"), condition(status="False")],
        ),
    ],
)
def test_a_condition_changes_with_its_status_or_its_reason(
    there: list[Any], new: Any, changes: bool, left: list[Any]
) -> None:
    assert ensure_condition(there, new) is changes
    assert there == left


def a_job(*conditions: Any, **spec: Any) -> Object:
    template = {"spec": {"restartPolicy": spec.pop("restart", "Never")}}
    status = {"conditions": list(conditions), **spec.pop("status", {})}
    return {"metadata": {"name": "j", "namespace": "ns"}, "spec": {"template": template, **spec}, "status": status}


def test_a_job_is_over_when_it_says_so() -> None:
    assert [is_job_finished(a_job(condition(kind))) for kind in ("Complete", "Failed", "FailureTarget")] == [
        True,
        True,
        False,
    ]
    assert not is_job_finished(a_job(condition("Failed", status="False")))
    assert job_condition(a_job(condition()), "Suspended") == condition()
    assert job_condition(a_job(condition()), "Complete") is None


def a_pod(phase: str, *counts: int, init: tuple[int, ...] = (), **status: Any) -> Object:
    statuses = {"containerStatuses": [{"name": "c", "restartCount": count} for count in counts]}
    statuses["initContainerStatuses"] = [{"name": "i", "restartCount": count} for count in init]
    return {"metadata": {"name": "p", "namespace": "ns", "uid": "p"}, "status": {"phase": phase, **statuses, **status}}


def test_restarts_count_where_a_pod_may_still_restart_something() -> None:
    assert (
        restarts([a_pod("Running", 1, 2), a_pod("Pending", 0, init=(4,)), a_pod("Failed", 8), a_pod("Succeeded", 16)])
        == 7
    )
    assert restarts([{"metadata": {"name": "p"}}]) == 0


LIMIT, LATE = "BackoffLimitExceeded", "DeadlineExceeded"


@pytest.mark.parametrize(
    ("job", "pods", "failed", "reason"),
    [
        (a_job(), [], 6, None),
        (a_job(), [], 7, LIMIT),  # six is what the API server writes, too
        (a_job(backoffLimit=0), [], 0, None),
        (a_job(backoffLimit=0), [], 1, LIMIT),
        (a_job(backoffLimit=2), [a_pod("Running", 9)], 0, None),  # nothing is restarted: that is another pod's doing
        (a_job(backoffLimit=2, restart="OnFailure"), [a_pod("Running", 1)], 0, None),
        (a_job(backoffLimit=2, restart="OnFailure"), [a_pod("Running", 1), a_pod("Pending", init=(1,))], 0, LIMIT),
        (a_job(backoffLimit=0, restart="OnFailure"), [a_pod("Running", 0)], 0, None),
        (a_job(backoffLimit=0, restart="OnFailure"), [a_pod("Running", 1)], 0, LIMIT),
        (a_job(activeDeadlineSeconds=9, status={"startTime": format_time(NOW - 10)}), [], 0, LATE),
        (a_job(activeDeadlineSeconds=11, status={"startTime": format_time(NOW - 10)}), [], 0, None),
    ],
)
def test_why_a_job_must_fail(job: Object, pods: list[Object], failed: int, reason: str | None) -> None:
    found = failure_target(job, pods, failed, NOW)
    assert (found and found["reason"]) == reason
    if found:
        assert (found["type"], found["status"]) == ("FailureTarget", "True")
        assert (
            found["message"]
            == {
                LIMIT: "Job has reached the specified backoff limit",
                LATE: "Job was active longer than specified deadline",
            }[found["reason"]]
        )


def test_what_a_job_fails_for_is_said_once() -> None:
    said = condition("FailureTarget", reason="first")
    assert failure_target(a_job(said, backoffLimit=0), [], 99, NOW) is said
    met = condition("SuccessCriteriaMet", reason="first")
    assert success_criteria(a_job(met, completions=3), 0, 0, NOW) is met


def test_the_clock_of_a_job_stands_still_while_it_is_suspended() -> None:
    started = {"startTime": format_time(NOW - 10)}
    assert past_active_deadline(a_job(activeDeadlineSeconds=10, status=started), NOW)
    assert not past_active_deadline(a_job(activeDeadlineSeconds=10, status=started, suspend=True), NOW)
    assert not past_active_deadline(a_job(activeDeadlineSeconds=10), NOW)
    assert not past_active_deadline(a_job(status=started), NOW)


@pytest.mark.parametrize(
    ("completions", "succeeded", "active", "done"),
    [
        (3, 2, 0, False),
        (3, 3, 5, True),
        (3, 4, 0, True),
        (None, 0, 0, False),  # a work queue: one that succeeds says that there is nothing left
        (None, 1, 1, False),
        (None, 1, 0, True),
    ],
)
def test_when_a_job_has_done_what_it_was_for(completions: int | None, succeeded: int, active: int, done: bool) -> None:
    spec = {} if completions is None else {"completions": completions}
    found = success_criteria(a_job(**spec), succeeded, active, NOW)
    assert (found is not None) is done
    if found:
        assert found["message"] == "Reached expected number of succeeded pods"
        assert (found["type"], found["status"], found["reason"]) == ("SuccessCriteriaMet", "True", "CompletionsReached")


@pytest.mark.parametrize(
    ("spec", "failed", "done", "reason"),
    [
        ({"completions": 3}, set(), {0, 1, 2}, None),
        ({"completions": 3}, {0}, {1}, None),
        ({"completions": 3}, {0}, {1, 2}, "FailedIndexes"),
        ({"completions": 9, "maxFailedIndexes": 1}, {0}, set(), None),
        ({"completions": 9, "maxFailedIndexes": 1}, {0, 1}, set(), "MaxFailedIndexesExceeded"),
        ({"completions": 9, "maxFailedIndexes": 0}, {0}, set(), "MaxFailedIndexesExceeded"),
    ],
)
def test_indexes_that_were_given_up(spec: Object, failed: set[int], done: set[int], reason: str | None) -> None:
    found = failed_indexes_target(a_job(**spec), NO_INDEXES.with_indexes(failed), NO_INDEXES.with_indexes(done), NOW)
    assert (found and found["reason"]) == reason
    messages = {
        "FailedIndexes": "Job has failed indexes",
        "MaxFailedIndexesExceeded": "Job has exceeded the specified maximal number of failed indexes",
    }
    assert not found or (found["type"], found["message"]) == ("FailureTarget", messages[found["reason"]])


def on_condition(action: str, kind: str = "DisruptionTarget", **more: str) -> Object:
    return {"action": action, "onPodConditions": [{"type": kind, **more}]}


def test_a_failure_policy_looks_at_conditions_and_the_first_rule_that_matches_decides() -> None:
    pod = a_pod(
        "Failed", conditions=[{"type": "Ready", "status": "False"}, {"type": "DisruptionTarget", "status": "True"}]
    )
    other = on_condition("FailJob", "Other")
    assert match_pod_failure_policy({"rules": [other, on_condition("Ignore")]}, pod) == (False, "", False)
    assert match_pod_failure_policy({"rules": [other]}, pod) == (True, "", False)
    verdict = match_pod_failure_policy({"rules": [other, on_condition("FailJob", status="True")]}, pod)
    assert verdict.job_failure == "Pod ns/p has condition DisruptionTarget matching FailJob rule at index 1"
    assert match_pod_failure_policy({"rules": [on_condition("FailJob", status="False")]}, pod) == (True, "", False)
    target = failure_target(a_job(podFailurePolicy={"rules": [on_condition("FailJob")]}), [pod], 1, NOW)
    assert target is not None
    assert (target["reason"], target["message"]) == (
        "PodFailurePolicy",
        "Pod ns/p has condition DisruptionTarget matching FailJob rule at index 0",
    )
    pending = a_pod("Running", conditions=pod["status"]["conditions"])
    assert failure_target(a_job(podFailurePolicy={"rules": [on_condition("FailJob")]}), [pending], 1, NOW) is None


class _Server:
    """Takes statuses, and remembers what it was told."""

    async def update(self, row: Any, body: Object, **options: Any) -> Object:
        body = copy.deepcopy(body)
        self.statuses.append(body["status"])
        meta = {**body["metadata"], "resourceVersion": str(int(body["metadata"]["resourceVersion"]) + 1)}
        return {**body, "metadata": meta}

    def __init__(self, refused: dict[str, StatusError] | None = None) -> None:
        self.statuses: list[Object] = []
        self.told: list[tuple[str, ...]] = []
        self.freed: list[str] = []
        self.refused = refused or {}

    async def patch(self, row: Any, name: str, namespace: str, body: Object, **options: Any) -> None:
        """A finalizer goes."""
        if name in self.refused:
            raise self.refused[name]
        assert body == {"metadata": {"$deleteFromPrimitiveList/finalizers": [TRACKING_FINALIZER]}}
        self.freed.append(name)

    def event(self, about: Object, *words: str) -> None:
        self.told.append(words)


def ended(target: Any, *pods: Object, **spec: Any) -> _Server:
    """What is written of a Job whose end is known."""
    server: Any = _Server()
    job: Object = {"metadata": {"name": "j", "namespace": "ns", "resourceVersion": "1"}, "spec": spec, "status": {}}
    tracker = StatusTracker(server, server, Clock())
    asyncio.run(tracker.track("ns/j", count_pods(job, list(pods), {"active": 0}), target))
    return server


MET = condition("SuccessCriteriaMet", reason="CompletionsReached", message="enough")


def test_a_job_that_is_done_says_when() -> None:
    server = ended(MET, completions=1)
    last = server.statuses[-1]
    assert [(c["type"], c["reason"], c["message"]) for c in last["conditions"]] == [
        ("SuccessCriteriaMet", "CompletionsReached", "enough"),
        ("Complete", "CompletionsReached", "enough"),
    ]
    assert last["completionTime"] == last["conditions"][-1]["lastTransitionTime"]
    assert server.told == [("Normal", "Completed", "Job completed")]


def test_a_job_that_failed_has_no_time_of_completion() -> None:
    server = ended(condition("FailureTarget", reason="DeadlineExceeded", message="late"), completions=1)
    last = server.statuses[-1]
    assert [(c["type"], c["reason"]) for c in last["conditions"]] == [
        ("FailureTarget", "DeadlineExceeded"),
        ("Failed", "DeadlineExceeded"),
    ]
    assert "completionTime" not in last
    assert server.told == [("Warning", "DeadlineExceeded", "late")]


def test_as_long_as_a_pod_is_there_the_job_is_not_over() -> None:
    for pod in (
        a_pod("Running"),
        {**a_pod("Running"), "metadata": {**a_pod("Running")["metadata"], "deletionTimestamp": "t"}},
    ):
        server = ended(MET, pod, completions=1)
        assert [c["type"] for c in server.statuses[-1]["conditions"]] == ["SuccessCriteriaMet"]
        assert server.told == []


def test_a_work_queue_that_is_done_waits_for_nobody() -> None:
    """A Job without `completions` has no pods on their way out when it is done, and says so; one with them counts them."""
    pod = a_pod("Succeeded")
    pod["metadata"]["finalizers"] = ["batch.kubernetes.io/job-tracking"]
    assert ended(MET, pod).statuses[-1]["terminating"] == 0
    assert "terminating" not in ended(MET, pod, completions=1).statuses[-1]
    assert "terminating" not in ended(MET).statuses[-1]


def tracked(name: str, phase: str, *, going: bool = False, finalizer: bool = True) -> Object:
    meta: Object = {"name": name, "namespace": "ns", "uid": name}
    if finalizer:
        meta["finalizers"] = [TRACKING_FINALIZER]
    if going:
        meta["deletionTimestamp"] = "t"
    return {"metadata": meta, "status": {"phase": phase}}


ALL = (
    tracked("running", "Running"),
    tracked("pending", "Pending"),
    tracked("listed", "Running"),
    tracked("going", "Running", going=True),
    tracked("won", "Succeeded"),
    tracked("lost", "Failed"),
    tracked("counted", "Running", finalizer=False),
)


@pytest.mark.parametrize(
    ("target", "failed", "ignored"),
    [
        (None, ["lost"], []),
        # who still runs failed with the Job
        ("FailureTarget", ["lost", "running", "pending", "going"], []),
        # the Job has what it wanted, and nobody failed
        ("SuccessCriteriaMet", ["lost"], ["running", "pending", "listed", "going"]),
    ],
)
def test_with_the_end_certain_those_that_still_run_are_settled_too(
    target: str | None, failed: list[str], ignored: list[str]
) -> None:
    job = a_job(podReplacementPolicy="Failed")
    count = count_pods(job, list(ALL), {"uncountedTerminatedPods": {"failed": ["listed"]}})
    settle_the_rest(count, None if target is None else condition(target))
    names = [
        [pod["metadata"]["name"] for pod in pods] for pods in (count.new_failed, count.ignored, count.new_succeeded)
    ]
    assert names == [failed, ignored, ["won"]]


def freed(server: Any, *pods: Object) -> tuple[frozenset[str], Any]:
    """Whose finalizer is still expected to go after a sync, and what went wrong."""
    tracker = StatusTracker(server, server, Clock())
    job: Object = {"metadata": {"name": "j", "namespace": "ns", "resourceVersion": "1"}, "spec": {}, "status": {}}
    error = None
    try:
        asyncio.run(tracker.track("ns/j", count_pods(job, list(pods), {"active": 0}), None))
    except StatusError as refused:
        error = refused.code
    return tracker.finalizers.expected_uids("ns/j"), error


def test_whose_finalizer_was_taken_off_is_remembered_until_the_cache_shows_it() -> None:
    pods = [tracked(name, "Failed") for name in "abc"]
    server: Any = _Server()
    assert freed(server, *pods) == (frozenset("abc"), None)
    assert server.freed == ["a", "b", "c"]
    assert server.statuses[0]["uncountedTerminatedPods"] == {"failed": ["a", "b", "c"]}
    assert (server.statuses[-1]["uncountedTerminatedPods"], server.statuses[-1]["failed"]) == ({}, 3)
    gone: Any = _Server({"b": failure(404, "NotFound", "gone", {})})
    assert freed(gone, *pods) == (frozenset("ac"), None)
    assert gone.freed == ["a", "c"]
    refused: Any = _Server({"b": failure(409, "Conflict", "no", {})})
    assert freed(refused, *pods) == (frozenset("a"), 409), "what was not done is not waited for"
    assert "failed" not in refused.statuses[-1], "and nobody is counted before its finalizer is off"
