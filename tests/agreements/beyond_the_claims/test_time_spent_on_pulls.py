"""What is not held against a node when a pod took long to start: what overlaps counts once."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.kubelet.pod.startup_latency_tracker import POD_START, POD_START_SLI, StartupMetrics

MIDNIGHT = 1767225600.0
CREATED = "2026-01-01T00:00:00Z"
PULLS: dict[str, tuple[list[tuple[float, float]], float]] = {
    "none": ([], 0),
    "one": ([(1, 4)], 3),
    "one after the other": ([(1, 4), (5, 7)], 5),
    "one when the other has come": ([(1, 4), (4, 7)], 6),
    "two in parallel": ([(1, 4), (1, 4)], 3),
    "the second begins in the middle": ([(1, 4), (3, 7)], 6),
    "the second within the first": ([(1, 9), (3, 4)], 8),
    "and a third after a gap within all that": ([(1, 4), (2, 3), (6, 7)], 4),
    "two after each other within a third": ([(1, 9), (3, 4), (5, 8)], 8),
    "told in another order": ([(6, 7), (2, 5), (1, 4)], 5),
}


def waits(begin: int, end: int) -> dict[str, object]:
    stamp = "2026-01-01T00:00:{:02}Z"
    return {"state": {"terminated": {"startedAt": stamp.format(begin), "finishedAt": stamp.format(end)}}}


@pytest.mark.parametrize("case", PULLS)
@pytest.mark.parametrize(("init", "waited"), [([], 0), ([waits(10, 12), waits(12, 15)], 5)])
def test_pulls_count_once_however_many_there_are_at_a_time(case: str, init: list[object], waited: int) -> None:
    pulls, spent = PULLS[case]
    metrics = StartupMetrics()
    metrics.first_seen("u", MIDNIGHT + 1)
    for begin, end in pulls:
        metrics.pulling("u", MIDNIGHT + begin, MIDNIGHT + end)
    metrics.pulling("another", MIDNIGHT, MIDNIGHT + 20)
    status = {"containerStatuses": [{"state": {"running": {"startedAt": CREATED}}}], "initContainerStatuses": init}
    metrics.running({"metadata": {"uid": "u", "creationTimestamp": CREATED}, "spec": {}}, status, MIDNIGHT + 20)
    assert metrics.histogram(POD_START_SLI).sum == pytest.approx(20 - spent - waited)
    assert metrics.histogram(POD_START).sum == pytest.approx(19), "from when it was seen, all of it"


STARTED, ENDED = {"running": {"startedAt": CREATED}}, {"terminated": {"exitCode": 0}}
VOLUMES: list[tuple[list[dict[str, Any]], bool]] = [
    ([], False),
    ([{"name": "a", "emptyDir": {}}, {"name": "b", "secret": {}}, {"name": "c", "configMap": {}}], False),
    ([{"name": "d", "downwardAPI": {}}, {"name": "e", "projected": {}}], False),
    ([{"name": "a", "emptyDir": {}}, {"name": "f", "persistentVolumeClaim": {"claimName": "x"}}], True),
    ([{"name": "g", "hostPath": {"path": "/"}}], True),
    ([{"name": "h", "nfs": {}}, {"name": "a", "emptyDir": {}}], True),
]


@pytest.mark.parametrize(("volumes", "stateful"), VOLUMES)
def test_a_pod_with_state_counts_among_all_and_not_for_the_promise(
    volumes: list[dict[str, Any]], stateful: bool
) -> None:
    """Upstream: `isStatefulPod`; `kubelet_pod_start_duration_seconds` knows no difference."""
    metrics = StartupMetrics()
    metrics.first_seen("u", MIDNIGHT + 1)
    pod = {"metadata": {"uid": "u", "creationTimestamp": CREATED}, "spec": {"volumes": volumes}}
    metrics.running(pod, {"containerStatuses": [{"state": STARTED}]}, MIDNIGHT + 5)
    assert (metrics.histogram(POD_START).count, metrics.histogram(POD_START).sum) == (1, pytest.approx(4))
    assert metrics.histogram(POD_START_SLI).count == (not stateful)


def test_a_start_counts_once_when_all_run_and_only_of_a_pod_that_was_seen_coming() -> None:
    metrics = StartupMetrics()
    metrics.first_seen("u", MIDNIGHT)

    def running(uid: str, at: float, *states: dict[str, Any], created: str | None = CREATED) -> int:
        meta = {"uid": uid, **({"creationTimestamp": created} if created else {})}
        metrics.running(
            {"metadata": meta, "spec": {}}, {"containerStatuses": [{"state": s} for s in states]}, MIDNIGHT + at
        )
        return metrics.histogram(POD_START).count

    assert running("u", 1, STARTED, {"waiting": {}}) == 0
    assert running("u", 2, STARTED, {"running": {}}) == 0, "it does not say since when"
    assert running("u", 3, STARTED, ENDED) == 0
    assert running("stranger", 4, STARTED) == 0
    assert running("u", 5, STARTED, STARTED) == 1
    assert running("u", 9, STARTED, STARTED) == 1
    assert metrics.histogram(POD_START).sum == pytest.approx(5)
    metrics.first_seen("static", MIDNIGHT + 6)
    assert running("static", 9, STARTED, created=None) == 2
    assert metrics.histogram(POD_START_SLI).sum == pytest.approx(5 + 3), "counted from when it was seen"
    metrics.first_seen("pulled", MIDNIGHT + 5)
    metrics.pulling("pulled", MIDNIGHT - 60, MIDNIGHT + 6)
    running("pulled", 7, STARTED)
    assert metrics.histogram(POD_START_SLI).sum == pytest.approx(5 + 3), "no less than nothing"
