"""Jobs, their pods and their time to live, with nobody else there; ReplicaSets and theirs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.controllers.alone import Alone, alone, refusing
from tests.controllers.test_refused_requests import LABELS, work

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time, run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import failure
from lifecycle.controllers.job.job_controller import JobController
from lifecycle.controllers.replicaset.replica_set_controller import ReplicaSetController
from lifecycle.controllers.ttlafterfinished.ttl_after_finished_controller import TTLAfterFinishedController

JOBS, PODS, REPLICA_SETS = resource("jobs.batch"), resource("pods"), resource("replicasets.apps")
FINALIZER = "batch.kubernetes.io/job-tracking"
GONE = failure(404, "NotFound", "gone")


def names(stage: Alone) -> list[str]:
    return sorted(each["metadata"]["name"] for each in stage.items("pods"))


def owned(
    name: str, kind: str = "Job", *, version: str = "batch/v1", uid: str = "u", **more: Any
) -> tuple[str, Object]:
    reference = {"apiVersion": version, "kind": kind, "name": "web", "uid": uid, "controller": True}
    meta = {
        "name": name,
        "namespace": "ns",
        "labels": LABELS,
        "ownerReferences": [reference],
        **more.pop("metadata", {}),
    }
    return "pods", {"metadata": meta, "spec": {}, "status": {"phase": "Running", **more}}


def status(stage: Alone, kind: str = "jobs.batch") -> Object:
    (found,) = stage.items(kind)
    counts: Object = found["status"]
    return counts


def test_a_job_has_as_many_pods_as_are_still_needed() -> None:
    async def main() -> None:
        for spec, pods in (
            ({"parallelism": 3, "completions": 5}, 3),
            ({"parallelism": 9, "completions": 5}, 5),
            ({"parallelism": 2, "completions": None}, 2),
            ({"parallelism": 0, "completions": 5}, 0),
        ):
            async with alone(JobController, work("jobs.batch", **spec)) as stage:
                await asyncio.sleep(3)
                made = stage.items("pods")
                assert len(made) == pods
                assert all(each["metadata"]["finalizers"] == [FINALIZER] for each in made)
                assert status(stage).get("active", 0) == pods
                assert status(stage)["startTime"]

    run_virtual(main())


def test_too_many_go_and_one_that_is_refused_holds_up_nobody() -> None:
    """What was not asked for is not waited for."""

    async def main() -> None:
        async with alone(JobController, work("jobs.batch", parallelism=3, completions=5)) as stage:
            (known,) = stage.items("jobs.batch")
            stage.api.refuse = refusing("DELETE", names(stage)[0])
            await stage.client.update(JOBS, {**known, "spec": {**known["spec"], "parallelism": 0}})
            await asyncio.sleep(2)
            assert ("Warning", "FailedDelete", "Error deleting: no more") in stage.told()
            assert len({path for _, path in stage.writes("DELETE")}) == 3
            stage.api.refuse = lambda request: None
            await asyncio.sleep(60)
            assert not [each for each in stage.items("pods") if "deletionTimestamp" not in each["metadata"]]

    run_virtual(main())


def test_a_job_that_somebody_else_manages_is_left_alone() -> None:
    async def main() -> None:
        async with alone(JobController, work("jobs.batch", managedBy="example.com/other")) as stage:
            assert stage.api.log == []
        async with alone(JobController, work("jobs.batch", managedBy="kubernetes.io/job-controller")) as stage:
            assert len(names(stage)) == 1

    run_virtual(main())


def finished(kind: str = "Complete", *, ago: float = 0, ttl: int | None = 60, **meta: Any) -> tuple[str, Object]:
    ended = {"type": kind, "status": "True", "lastTransitionTime": format_time(VIRTUAL_EPOCH - ago)}
    spec = {} if ttl is None else {"ttlSecondsAfterFinished": ttl}
    return "jobs.batch", {
        "metadata": {"name": "j", "namespace": "ns", **meta},
        "spec": spec,
        "status": {"conditions": [ended]},
    }


@pytest.mark.parametrize(
    ("job", "gone_after"),
    [
        (finished(), 60),
        (finished("Failed"), 60),
        (finished(ago=50), 10),
        (finished(ago=90), 0),
        (finished(ttl=0), 0),
        (finished(ttl=None), None),
        (finished("Suspended"), None),
    ],
)
def test_a_job_that_is_over_lives_as_long_as_it_may(job: tuple[str, Object], gone_after: int | None) -> None:
    async def main() -> None:
        async with alone(TTLAfterFinishedController, job) as stage:
            if gone_after:
                await asyncio.sleep(gone_after - 1)
                assert stage.api.log == []
            await asyncio.sleep(2)
            deleted = [obj for _, method, _, obj in stage.api.log if method == "DELETE"]
            assert len(deleted) == (gone_after is not None)
            for each in deleted:
                assert each["propagationPolicy"] == "Foreground"
                assert each["preconditions"] == {"uid": "j"}

    run_virtual(main())


def test_a_job_that_was_given_more_time_meanwhile_lives_longer() -> None:
    async def main() -> None:
        async with alone(TTLAfterFinishedController, finished()) as stage:
            (known,) = stage.items("jobs.batch")
            handlers = stage.controller._jobs
            await stage.client.update(JOBS, {**known, "spec": {"ttlSecondsAfterFinished": 100}})
            await asyncio.sleep(0.1)
            handlers.indexer.set("ns/j", known)  # the cache has not heard of it
            await asyncio.sleep(61)
            assert len(stage.items("jobs.batch")) == 1
            await asyncio.sleep(45)
            assert [method for method, _ in stage.writes("DELETE")] == ["DELETE"]
        for error, tries in ((GONE, 1), (failure(500, "InternalError", "no"), 2)):
            async with alone(
                TTLAfterFinishedController, finished(ttl=0), refuse=refusing("DELETE", "/j", error)
            ) as stage:
                await asyncio.sleep(1)
                assert min(2, len(stage.writes("DELETE"))) == tries
        going = finished(deletionTimestamp="now", finalizers=["wait"], ago=90)
        async with alone(TTLAfterFinishedController, going) as stage:
            assert stage.api.log == []

    run_virtual(main())


def replica_pod(name: str, **more: Any) -> tuple[str, Object]:
    return owned(name, "ReplicaSet", version="apps/v1", **more)


def test_a_replica_set_counts_ready_and_available_by_the_clock_alone() -> None:
    async def main() -> None:
        async with alone(ReplicaSetController, work("replicasets.apps", replicas=1, minReadySeconds=30)) as stage:
            (made,) = stage.items("pods")
            ready = {"type": "Ready", "status": "True", "lastTransitionTime": stage.api.clock.timestamp()}
            running = {"phase": "Running", "conditions": [ready]}
            await stage.client.update(PODS, {**made, "status": running}, subresource="status")
            await asyncio.sleep(28)
            counts = status(stage, "replicasets.apps")
            assert (counts["readyReplicas"], counts.get("availableReplicas", 0)) == (1, 0)
            await asyncio.sleep(4)
            assert status(stage, "replicasets.apps")["availableReplicas"] == 1

    run_virtual(main())


def test_orphans_that_fit_are_adopted_and_pods_that_do_not_fit_are_let_go() -> None:
    async def main() -> None:
        objects = (
            work("replicasets.apps", replicas=2),
            ("pods", {"metadata": {"name": "orphan", "namespace": "ns", "labels": LABELS}, "spec": {}, "status": {}}),
            (
                "pods",
                {"metadata": {"name": "stranger", "namespace": "ns", "labels": {"a": "b"}}, "spec": {}, "status": {}},
            ),
            replica_pod("lost", metadata={"labels": {"app": "other"}}),
            replica_pod("over", phase="Failed"),
        )
        async with alone(ReplicaSetController, *objects) as stage:
            patches = {path.rpartition("/")[2]: obj for _, method, path, obj in stage.api.log if method == "PATCH"}
            assert set(patches) == {"orphan", "lost"}
            (adopted,) = patches["orphan"]["metadata"]["ownerReferences"]
            assert (adopted["kind"], adopted["name"], adopted["uid"], adopted["controller"]) == (
                "ReplicaSet",
                "web",
                "u",
                True,
            )
            assert "ownerReferences" in patches["lost"]["metadata"]
            assert len(names(stage)) == 5, "one more was made: two are wanted, and one was adopted"

    run_virtual(main())


def test_a_replica_set_that_is_being_deleted_makes_nothing_and_adopts_nobody() -> None:
    async def main() -> None:
        kind, body = work("replicasets.apps")
        body["metadata"] |= {"deletionTimestamp": "now", "finalizers": ["foregroundDeletion"]}
        async with alone(ReplicaSetController, (kind, body)) as stage:
            assert stage.writes("POST") == []

    run_virtual(main())


def test_a_replica_set_that_was_made_again_has_nothing_to_wait_for() -> None:
    async def main() -> None:
        async with alone(ReplicaSetController, work("replicasets.apps", replicas=1)) as stage:
            stage.controller._expectations.expect_creations("ns/web", 5)
            await stage.client.delete(REPLICA_SETS, "web", "ns")
            await asyncio.sleep(0.1)
            assert stage.controller._expectations.satisfied("ns/web")
            await stage.client.delete(PODS, names(stage)[0], "ns")
            _, body = work("replicasets.apps", replicas=2)
            body["metadata"].pop("uid")
            await stage.client.create(REPLICA_SETS, body, "ns")
            await asyncio.sleep(1)
            assert len(names(stage)) == 2

    run_virtual(main())
