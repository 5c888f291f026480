"""Jobs: counted once, retried with patience, ended in two steps."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, parse_time
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.controllers.job.job_count import TRACKING_FINALIZER, count_pods
from lifecycle.controllers.job.pod_failure_policy import match_pod_failure_policy
from lifecycle.controllers.job.status_tracking import StatusTracker

JOBS = resource("jobs.batch")


def job(*command: str, restart: str = "Never", **spec: Any) -> Object:
    container = {"name": "c", "image": "busybox:1.36", "command": list(command)}
    template = {"spec": {"restartPolicy": restart, "containers": [container]}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": template, **spec}}


async def made(cluster: RehearsedCluster, body: Object, seconds: float) -> Object:
    await cluster.client("test").create(JOBS, body, "default")
    await asyncio.sleep(seconds)
    return await cluster.client("test").get(JOBS, "j", "default")


def conditions(body: Object) -> list[tuple[str, str]]:
    return [(c["type"], c["reason"]) for c in body["status"].get("conditions") or () if c["status"] == "True"]


async def messages(cluster: RehearsedCluster) -> list[str]:
    return [e["message"] for e in await cluster.items("events") if e["involvedObject"]["kind"] == "Job"]


def test_completions_at_most_so_many_at_once() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        done = await made(cluster, job("sleep", "5", completions=4, parallelism=2), 4)
        assert done["status"]["active"] == 2
        await asyncio.sleep(30)
        done = await cluster.client("test").get(JOBS, "j", "default")
        assert done["status"]["succeeded"] == 4
        assert conditions(done) == [("SuccessCriteriaMet", "CompletionsReached"), ("Complete", "CompletionsReached")]
        assert done["status"]["uncountedTerminatedPods"] == {}
        assert not any(p["metadata"].get("finalizers") for p in await cluster.items("pods"))
        assert "Job completed" in await messages(cluster)

    rehearse(scene)


def test_each_index_is_done_once() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        body = job("true", completions=5, parallelism=2, completionMode="Indexed")
        done = await made(cluster, body, 30)
        assert done["status"]["completedIndexes"] == "0-4"
        pods = await cluster.items("pods")
        label = "batch.kubernetes.io/job-completion-index"
        assert sorted(p["metadata"]["labels"][label] for p in pods) == ["0", "1", "2", "3", "4"]
        assert {p["spec"]["hostname"] for p in pods} == {f"j-{i}" for i in range(5)}
        env = pods[0]["spec"]["containers"][0]["env"]
        assert env[0]["name"] == "JOB_COMPLETION_INDEX"

    rehearse(scene)


def test_failures_back_off_and_end_at_the_limit() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        done = await made(cluster, job("false", backoffLimit=3), 300)
        assert done["status"]["failed"] == 4
        assert conditions(done) == [("FailureTarget", "BackoffLimitExceeded"), ("Failed", "BackoffLimitExceeded")]
        born = sorted(parse_time(p["metadata"]["creationTimestamp"]) for p in await cluster.items("pods"))
        gaps = [b - a for a, b in itertools.pairwise(born)]
        assert [round(gap, -1) for gap in gaps] == [10, 20, 40]
        assert "Job has reached the specified backoff limit" in await messages(cluster)

    rehearse(scene)


def test_a_failure_policy_ends_it_at_once_or_does_not_count() -> None:
    def rule(action: str) -> Object:
        return {"rules": [{"action": action, "onExitCodes": {"operator": "In", "values": [42]}}]}

    async def scene(cluster: RehearsedCluster) -> None:
        body = job("sh", "-c", "exit 42", podFailurePolicy=rule("FailJob"))
        done = await made(cluster, body, 30)
        condition = done["status"]["conditions"][-1]
        assert condition["reason"] == "PodFailurePolicy"
        assert condition["message"].endswith("failed with exit code 42 matching FailJob rule at index 0")
        assert len(await cluster.items("pods")) == 1

    rehearse(scene)
    status = {"containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 42}}}]}
    pod = {"metadata": {"name": "p", "namespace": "d"}, "status": status}
    assert match_pod_failure_policy(rule("Ignore"), pod) == (False, "", False)
    assert match_pod_failure_policy(None, pod) == (True, "", False)


def test_a_deadline_ends_what_still_runs_before_the_job_is_failed() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        done = await made(cluster, job("sleep", "3600", activeDeadlineSeconds=20), 25)
        assert conditions(done)[0] == ("FailureTarget", "DeadlineExceeded")
        await asyncio.sleep(60)
        done = await cluster.client("test").get(JOBS, "j", "default")
        assert conditions(done)[-1] == ("Failed", "DeadlineExceeded")
        assert await cluster.items("pods") == []

    rehearse(scene)


def test_a_suspended_job_loses_its_pods_and_starts_its_clock_again() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")
        await made(cluster, job("sleep", "3600", parallelism=2), 5)
        await client.patch(JOBS, "j", "default", {"spec": {"suspend": True}})
        await asyncio.sleep(60)
        done = await client.get(JOBS, "j", "default")
        assert conditions(done) == [("Suspended", "JobSuspended")]
        assert "startTime" not in done["status"]
        assert await cluster.items("pods") == []
        await client.patch(JOBS, "j", "default", {"spec": {"suspend": False}})
        await asyncio.sleep(5)
        done = await client.get(JOBS, "j", "default")
        assert conditions(done) == []
        assert done["status"]["active"] == 2
        assert "startTime" in done["status"]
        assert {"Job suspended", "Job resumed"} <= set(await messages(cluster))

    rehearse(scene)


def test_a_finished_job_goes_when_its_time_is_over() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        await made(cluster, job("true", ttlSecondsAfterFinished=60), 50)
        assert len(await cluster.items("jobs.batch")) == 1
        await asyncio.sleep(60)
        assert await cluster.items("jobs.batch") == []
        assert await cluster.items("pods") == []

    rehearse(scene)


class _Server:
    """Answers the two writes of a Job's count; `refused` is the code of its answer to a patch."""

    def __init__(self, refused: int = 0) -> None:
        self.refused, self.revision = refused, 10

    async def update(self, row: Any, body: Object, **options: Any) -> Object:
        self.revision += 1
        return {**body, "metadata": {**body["metadata"], "resourceVersion": str(self.revision)}}

    async def patch(self, *args: Any, **options: Any) -> None:
        if self.refused:
            raise StatusError({"code": self.refused, "message": "no"})


def counted_twice(refused: int = 0) -> tuple[int, int]:
    """How many pods are new to count: at first, and again while the pods' watch has told nothing of the first count."""

    async def scene() -> tuple[int, int]:
        meta = {"name": "j", "namespace": "default", "resourceVersion": "1"}
        body: Object = {"metadata": meta, "spec": {"completions": 3}, "status": {}}
        pod: Object = {
            "metadata": {"name": "p", "namespace": "default", "uid": "u", "finalizers": [TRACKING_FINALIZER]},
            "status": {"phase": "Succeeded"},
        }
        client: Any = _Server(refused)
        tracker = StatusTracker(client, client, Clock())
        first = count_pods(body, [pod], {"active": 1})
        with contextlib.suppress(StatusError):
            await tracker.track("default/j", first, None)
        freed = tracker.finalizers.expected_uids("default/j")
        again = count_pods(body, [pod], {"active": 1, "succeeded": 1}, freed)
        tracker.finalizers.finalizer_removal_observed("default/j", "u")
        assert tracker.finalizers.expected_uids("default/j") == frozenset()
        return len(first.new_succeeded), len(again.new_succeeded)

    return asyncio.run(scene())


def test_a_pod_that_was_counted_is_not_counted_again_before_the_cache_has_seen_it_freed() -> None:
    assert counted_twice() == (1, 0)


@pytest.mark.parametrize("refused", [404, 409, 500])
def test_a_pod_that_kept_its_finalizer_is_counted_again(refused: int) -> None:
    assert counted_twice(refused) == (1, 1)
