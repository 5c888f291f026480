"""Indexed Jobs: limits per index, enough successes, indexes that come and go."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.controllers.small_cluster import PODS, SmallCluster, small_cluster

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH
from lifecycle.controllers.job.ordered_intervals import NO_INDEXES
from lifecycle.controllers.job.success_policy import match_success_policy

JOBS = resource("jobs.batch")
INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"


def indexed_job(completions: int, **spec: Any) -> Object:
    container = {"name": "c", "image": "busybox:1.36"}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {"completionMode": "Indexed", "completions": completions, "parallelism": completions, **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": template, **spec}}


class Workers:
    """A Job whose pods end when the test says so."""

    def __init__(self, cluster: SmallCluster) -> None:
        self.cluster = cluster

    async def status(self) -> Object:
        return (await self.cluster.client.get(JOBS, "j", "ns"))["status"]

    async def reasons(self) -> list[tuple[str, str]]:
        conditions = (await self.status()).get("conditions") or ()
        return [(c["type"], c["reason"]) for c in conditions if c["status"] == "True"]

    async def running(self) -> dict[int, Object]:
        """The pods that have not ended, by index."""
        return {
            int(pod["metadata"]["annotations"][INDEX]): pod
            for pod in await self.cluster.items(PODS)
            if pod["status"]["phase"] in ("Pending", "Running") and "deletionTimestamp" not in pod["metadata"]
        }

    async def end(self, index: int, code: int = 0) -> None:
        """One index's pod ends; two seconds later."""
        name = (await self.running())[index]["metadata"]["name"]
        ended = {"exitCode": code, "finishedAt": self.cluster.clock.timestamp()}
        container = {"name": "c", "image": "i", "imageID": "", "ready": False, "restartCount": 0}
        status = {
            "phase": "Failed" if code else "Succeeded",
            "containerStatuses": [{**container, "state": {"terminated": ended}}],
        }
        await self.cluster.client.patch(
            PODS, name, "ns", {"status": status}, subresource="status", patch_type=STRATEGIC_MERGE_PATCH
        )
        await asyncio.sleep(2)


def at_work(job: Object, scene: Callable[[Workers], Awaitable[None]]) -> None:
    async def main() -> None:
        async with small_cluster() as cluster:
            await cluster.client.create(JOBS, job, "ns")
            await asyncio.sleep(3)
            await scene(Workers(cluster))

    run_virtual(main())


def test_one_index_fails_for_good_and_the_others_are_done_before_the_job_fails() -> None:
    async def scene(at: Workers) -> None:
        await at.end(1, 1)
        assert 1 not in await at.running()  # backs off
        assert (await at.status()).get("failed", 0) == 0  # not counted before another carries its number on
        await asyncio.sleep(10)
        assert (await at.running())[1]["metadata"]["annotations"][FAILURES] == "1"
        assert (await at.status())["failed"] == 1
        await at.end(1, 1)
        assert (await at.status())["failedIndexes"] == "1"
        assert (await at.status())["failed"] == 2
        await asyncio.sleep(60)
        assert set(await at.running()) == {0, 2}
        await at.end(0)
        assert await at.reasons() == []
        await at.end(2)
        await asyncio.sleep(3)
        status = await at.status()
        assert (status["completedIndexes"], status["failedIndexes"]) == ("0,2", "1")
        assert await at.reasons() == [("FailureTarget", "FailedIndexes"), ("Failed", "FailedIndexes")]
        assert not any(p["metadata"].get("finalizers") for p in await at.cluster.items(PODS))

    at_work(indexed_job(3, backoffLimitPerIndex=1), scene)


def test_more_failed_indexes_than_allowed_end_it_at_once() -> None:
    async def scene(at: Workers) -> None:
        await at.end(0, 1)
        assert await at.reasons() == []
        await at.end(1, 1)
        await asyncio.sleep(3)
        assert await at.reasons() == [
            ("FailureTarget", "MaxFailedIndexesExceeded"),
            ("Failed", "MaxFailedIndexesExceeded"),
        ]
        assert await at.running() == {}
        status = await at.status()
        assert (status["failedIndexes"], status["failed"]) == ("0,1", 4)  # the two that still ran failed with it

    at_work(indexed_job(4, backoffLimitPerIndex=0, maxFailedIndexes=1), scene)


def test_the_failure_policy_may_give_an_index_up_or_not_count_its_failure() -> None:
    def rule(action: str, code: int) -> Object:
        return {"action": action, "onExitCodes": {"operator": "In", "values": [code]}}

    async def scene(at: Workers) -> None:
        await at.end(0, 42)
        assert (await at.status())["failedIndexes"] == "0"
        for round_ in (1, 2, 3):
            await at.end(1, 7)
            await asyncio.sleep(60)
            annotations = (await at.running())[1]["metadata"]["annotations"]
            assert annotations[FAILURES] == "0"
            assert annotations["batch.kubernetes.io/job-index-ignored-failure-count"] == str(round_)
        assert (await at.status())["failed"] == 1

    policy = {"rules": [rule("FailIndex", 42), rule("Ignore", 7)]}
    at_work(indexed_job(2, backoffLimitPerIndex=1, podFailurePolicy=policy), scene)


def test_enough_successes_end_it_and_the_rest_is_not_held_against_it() -> None:
    async def scene(at: Workers) -> None:
        await at.end(1)
        assert await at.reasons() == []
        await at.end(0)
        await asyncio.sleep(3)
        assert await at.reasons() == [("SuccessCriteriaMet", "SuccessPolicy"), ("Complete", "SuccessPolicy")]
        status = await at.status()
        assert (status["succeeded"], status["completedIndexes"], status.get("failed", 0)) == (2, "0,1", 0)
        assert status["conditions"][0]["message"] == "Matched rules at index 1"
        assert await at.running() == {}

    rules = [{"succeededIndexes": "2-3"}, {"succeededIndexes": "0-2", "succeededCount": 2}]
    at_work(indexed_job(4, successPolicy={"rules": rules}), scene)


@pytest.mark.parametrize(
    ("rule", "done", "met"),
    [
        ({"succeededIndexes": "0,2-3"}, {0, 2, 3}, True),
        ({"succeededIndexes": "0,2-3"}, {0, 1, 2}, False),
        ({"succeededIndexes": "0,2-3", "succeededCount": 1}, {1}, False),
        ({"succeededIndexes": "0,2-3", "succeededCount": 1}, {2}, True),
        ({"succeededCount": 2}, {4}, False),
        ({"succeededCount": 2}, {4, 0}, True),
        ({"succeededIndexes": "x"}, {0, 1, 2, 3, 4}, False),
        ({"succeededCount": 0}, set(), False),
    ],
)
def test_what_is_enough(rule: Object, done: set[int], met: bool) -> None:
    found = match_success_policy({"rules": [rule]}, 5, NO_INDEXES.with_indexes(done))
    assert (found is not None) is met


def test_an_elastic_job_takes_indexes_away_from_the_end_and_gives_them_back() -> None:
    async def scene(at: Workers) -> None:
        await at.end(3)
        await at.cluster.client.patch(JOBS, "j", "ns", {"spec": {"completions": 2, "parallelism": 2}})
        await asyncio.sleep(3)
        assert set(await at.running()) == {0, 1}
        assert (await at.status()).get("succeeded", 0) == 0
        await at.cluster.client.patch(JOBS, "j", "ns", {"spec": {"completions": 3, "parallelism": 3}})
        await asyncio.sleep(15)
        assert set(await at.running()) == {0, 1, 2}

    at_work(indexed_job(4), scene)


def test_somebody_elses_job_is_left_alone() -> None:
    async def scene(at: Workers) -> None:
        assert await at.running() == {}
        assert await at.status() == {}

    at_work(indexed_job(2, managedBy="example.com/other"), scene)
