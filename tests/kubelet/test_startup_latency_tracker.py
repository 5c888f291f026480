"""How long pods take to start: what counts for the promise, what is subtracted, and that each pod counts once."""

from __future__ import annotations

import asyncio

import pytest

from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.kubelet.pod.startup_latency_tracker import POD_START, POD_START_SLI, StartupMetrics, covered, is_stateful

CREATED = "2026-01-01T00:00:00Z"
MIDNIGHT = 1767225600.0


def pod(**spec: object) -> dict[str, object]:
    return {"metadata": {"uid": "u", "creationTimestamp": CREATED}, "spec": spec}


def status(*, init: tuple[str, str] | None = None, running: bool = True) -> dict[str, object]:
    state = {"running": {"startedAt": CREATED}} if running else {"waiting": {}}
    found: dict[str, object] = {"containerStatuses": [{"state": state}]}
    if init:
        ended = {"terminated": {"startedAt": init[0], "finishedAt": init[1]}}
        found["initContainerStatuses"] = [{"state": ended}]
    return found


def tracker(seen: float = 1.0) -> StartupMetrics:
    metrics = StartupMetrics()
    metrics.first_seen("u", MIDNIGHT + seen)
    return metrics


def test_from_creation_less_pulls_and_init_containers() -> None:
    metrics = tracker()
    metrics.pulling("u", MIDNIGHT + 1, MIDNIGHT + 3)
    metrics.pulling("u", MIDNIGHT + 2, MIDNIGHT + 4)
    metrics.running(pod(), status(init=("2026-01-01T00:00:04Z", "2026-01-01T00:00:09Z")), MIDNIGHT + 10)
    assert metrics.histogram(POD_START_SLI).sum == pytest.approx(10 - 3 - 5)
    assert metrics.histogram(POD_START).sum == pytest.approx(9)


def test_a_pod_counts_when_all_its_containers_run_and_only_once() -> None:
    metrics = tracker()
    metrics.running(pod(), status(running=False), MIDNIGHT + 2)
    assert metrics.histogram(POD_START_SLI).count == 0
    metrics.running(pod(), status(), MIDNIGHT + 3)
    metrics.running(pod(), status(), MIDNIGHT + 60)
    assert (metrics.histogram(POD_START_SLI).count, metrics.histogram(POD_START_SLI).sum) == (1, 3.0)


def test_metrics_are_told_under_their_names_in_upstreams_words_and_by_its_buckets() -> None:
    metrics = tracker()
    metrics.running(pod(), status(), MIDNIGHT + 3)
    lines = metrics.text().splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "# HELP kubelet_pod_start_duration_seconds [ALPHA] Duration in seconds from kubelet seeing a pod for the first"
        " time to the pod starting to run",
        "# TYPE kubelet_pod_start_duration_seconds histogram",
        "# HELP kubelet_pod_start_sli_duration_seconds [ALPHA] Duration in seconds to start a pod, excluding time to"
        " pull images and run init containers, measured from pod creation timestamp to when all its containers are"
        " reported as started and observed via watch",
        "# TYPE kubelet_pod_start_sli_duration_seconds histogram",
    ]
    name = "kubelet_pod_start_sli_duration_seconds_bucket"
    buckets = {line.partition('"')[2].partition('"')[0]: line[-1] for line in lines if line.startswith(name)}
    first, later = (
        ("0.5", "1", "2"),
        "3 4 5 6 8 10 20 30 45 60 120 180 240 300 360 480 600 900 1200 1800 2700 3600 +Inf",
    )
    assert buckets == {**dict.fromkeys(first, "0"), **dict.fromkeys(later.split(), "1")}


def test_a_stateful_pod_is_not_in_the_promise() -> None:
    metrics = tracker()
    metrics.running(pod(volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "c"}}]), status(), MIDNIGHT + 3)
    assert (metrics.histogram(POD_START).count, metrics.histogram(POD_START_SLI).count) == (1, 0)


@pytest.mark.parametrize("kind", ["secret", "configMap", "downwardAPI", "emptyDir", "projected"])
def test_volumes_that_hold_no_state(kind: str) -> None:
    assert not is_stateful(pod(volumes=[{"name": "v", kind: {}}]))
    assert is_stateful(pod(volumes=[{"name": "v", kind: {}}, {"name": "h", "hostPath": {"path": "/"}}]))


def test_times_that_overlap_count_once_and_gaps_do_not_count() -> None:
    assert covered([(5, 6), (1, 3), (2, 4), (2.5, 3.5)]) == 4
    assert covered([]) == 0


def test_a_pod_of_a_whole_cluster_is_measured_without_its_init_container() -> None:
    async def scene(cluster: RehearsedCluster) -> float:
        init = {"name": "first", "image": "busybox", "command": ["sh", "-c", "sleep 7"]}
        spec = {
            "initContainers": [init],
            "containers": [{"name": "c", "image": "nginx"}],
            "nodeName": "lifecycle-worker",
        }
        await cluster.client("me").create(resource("pods"), {"metadata": {"name": "p"}, "spec": spec}, "default")
        await asyncio.sleep(20)
        metrics = cluster.kubelets["lifecycle-worker"].metrics
        assert metrics.histogram(POD_START).sum >= 7
        return metrics.histogram(POD_START_SLI).sum

    assert rehearse(scene) <= 2


def test_what_the_image_manager_pulls_is_not_counted() -> None:
    async def scene(cluster: RehearsedCluster) -> tuple[float, float]:
        spec = {"containers": [{"name": "c", "image": "nginx"}], "nodeName": "lifecycle-worker"}
        await cluster.client("me").create(resource("pods"), {"metadata": {"name": "p"}, "spec": spec}, "default")
        await asyncio.sleep(60)
        metrics = cluster.kubelets["lifecycle-worker"].metrics
        return metrics.histogram(POD_START).sum, metrics.histogram(POD_START_SLI).sum

    whole, counted = rehearse(scene, container_latency=4)
    assert whole > 6
    assert whole - counted > 3
