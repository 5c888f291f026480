"""When a pod of a Job ended, and how long the next one waits for that."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time
from lifecycle.controllers.job.backoff import finished_at, remaining_after, remaining_backoff
from lifecycle.controllers.job.ordered_intervals import NO_INDEXES
from lifecycle.controllers.job.per_index import FAILURE_COUNT, delayed_pods

MADE = VIRTUAL_EPOCH


def at(seconds: float) -> str:
    return format_time(MADE + seconds)


def ended(name: str, after: float | None) -> Object:
    """A container's status."""
    return {"name": name, "state": {"terminated": {"finishedAt": at(after)}} if after is not None else {"running": {}}}


def pod(*containers: Object, inits: tuple[Object, ...] = (), ready: float | None = None, **meta: Any) -> Object:
    """With a sidecar `side`, should there be a status of it; `ready`: since when it is not."""
    spec: Object = {"initContainers": [{"name": "side", "restartPolicy": "Always"}, {"name": "first"}]}
    status: Object = {"containerStatuses": list(containers), "initContainerStatuses": list(inits)}
    if ready is not None:
        status["conditions"] = [{"type": "Ready", "status": "False", "lastTransitionTime": at(ready)}]
    return {"metadata": {"name": "p", "creationTimestamp": at(0)} | meta, "spec": spec, "status": status}


GOING: dict[str, Any] = {"deletionTimestamp": at(90), "deletionGracePeriodSeconds": 30}


@pytest.mark.parametrize(
    ("found", "after"),
    [
        (pod(ended("a", 10), ended("b", 20), ready=50), 20),
        (pod(ended("a", 10), inits=(ended("first", 5), ended("side", 15))), 15),
        (pod(ended("a", 10), inits=(ended("first", 99),)), 10),
        (pod(ended("a", 10), ended("b", None), ready=50), 50),  # one of them never said
        (pod(ended("a", 10), inits=(ended("side", None),), ready=50), 50),
        # the sidecars are asked after the containers, and without them, should one of those not have ended
        (pod(ended("a", None), inits=(ended("side", 15),), ready=50), 15),
        (pod(ended("a", 99), ended("b", None), inits=(ended("first", 5), ended("side", 15)), ready=50), 15),
        (pod(ended("a", None), inits=(ended("first", 5),), ready=50), 50),
        (pod(inits=(ended("side", 15),)), 15),
        (pod(ready=50, **GOING), 50),  # evicted before anything ran
        (pod(**GOING), 60),
        (pod(deletionTimestamp=at(90)), 90),
        (pod(), 0),
    ],
)
def test_a_pod_ended_with_its_last_container_or_when_it_was_last_ready(found: Object, after: float) -> None:
    assert finished_at(found) == MADE + after


def test_only_failures_after_the_last_success_count_and_each_doubles_the_wait() -> None:
    now = MADE + 100
    succeeded, failed = [pod(ended("a", 50))], [pod(ended("a", each)) for each in (40, 50, 95, 98)]
    assert remaining_backoff(succeeded, failed[:2], now) == 0
    assert remaining_backoff(succeeded, failed, now) == 98 + 20 - 100
    assert remaining_backoff((), failed, now) == 98 + 80 - 100
    assert remaining_backoff((), (), now) == 0
    assert [remaining_after(count, now, now) for count in (1, 2, 6, 7, 50)] == [10, 20, 320, 600, 600]


def test_the_pod_that_failed_most_often_waits_for_its_replacement() -> None:
    """Its number goes on; of equals the one that ended last."""

    def failed(name: str, count: int, after: float) -> Object:
        notes = {"batch.kubernetes.io/job-completion-index": "0", FAILURE_COUNT: str(count)}
        return pod(ended("a", after), name=name, annotations=notes)

    for one, other in ((failed("x", 1, 99), failed("y", 2, 5)), (failed("x", 1, 5), failed("y", 1, 99))):
        for pods in ([one, other], [other, one]):
            assert delayed_pods(pods, NO_INDEXES, 1) == {0: other}
            assert delayed_pods(pods, NO_INDEXES.with_indexes([0]), 1) == {}
