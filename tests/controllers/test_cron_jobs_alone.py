"""CronJobs with nobody else there: what is told, what is left alone, and what is tried again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.controllers.alone import Alone, alone, refusing
from tests.controllers.test_refused_requests import TEMPLATE

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time, run_virtual
from lifecycle.api.resources import resource
from lifecycle.controllers.cronjob import cronjob_controller
from lifecycle.controllers.cronjob.cronjob_controller import CronJobController

CRON_JOBS, JOBS = resource("cronjobs.batch"), resource("jobs.batch")
MIDNIGHT = int(VIRTUAL_EPOCH)
"""Greenwich's, and when each scene begins."""
OWNER = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "web", "uid": "u", "controller": True}


def cron_job(
    schedule: str = "0 * * * *", *, age: float = 1800, status: Object | None = None, **spec: Any
) -> tuple[str, Object]:
    meta = {"name": "web", "namespace": "ns", "uid": "u", "creationTimestamp": format_time(MIDNIGHT - age)}
    full = {"schedule": schedule, "jobTemplate": {"spec": {"template": TEMPLATE}}, **spec}
    return "cronjobs.batch", {"metadata": meta, "spec": full, "status": status or {}}


def job(name: str, ended: str = "", *, age: float = 60, owner: Object | None = OWNER) -> tuple[str, Object]:
    """One of the CronJob's; `ended`: Complete or Failed."""
    meta = {"name": name, "namespace": "ns", "uid": name, **({"ownerReferences": [owner]} if owner else {})}
    status: Object = {"startTime": format_time(MIDNIGHT - age)}
    if ended:
        status["conditions"] = [{"type": ended, "status": "True"}]
        status["completionTime"] = format_time(MIDNIGHT - age + 1)
    return "jobs.batch", {"metadata": meta, "spec": {}, "status": status}


def reference(name: str) -> Object:
    return {"kind": "Job", "apiVersion": "batch/v1", "namespace": "ns", "name": name, "uid": name}


DUE = f"web-{MIDNIGHT // 60}"
"""The Job of midnight's run."""


FORBIDDEN = "Not starting job because prior execution is running and concurrency policy is Forbid"


def names(stage: Alone) -> list[str]:
    return sorted(each["metadata"]["name"] for each in stage.items("jobs.batch"))


def status(stage: Alone) -> Object:
    (found,) = stage.items("cronjobs.batch")
    noted: Object = found["status"]
    return noted


def told(stage: Alone) -> set[tuple[str, str]]:
    return {(reason, message) for _, reason, message in stage.told()}


def test_the_next_run_comes_by_the_clock_alone() -> None:
    async def main() -> None:
        ran = {"lastScheduleTime": format_time(MIDNIGHT - 1800)}
        async with alone(CronJobController, cron_job("30 * * * *", age=9000, status=ran)) as stage:
            await asyncio.sleep(1799)
            assert (names(stage), stage.api.log) == ([], [])
            await asyncio.sleep(2)
            assert names(stage) == [f"web-{MIDNIGHT // 60 + 30}"]
            assert status(stage)["lastScheduleTime"] == format_time(MIDNIGHT + 1800)
            await asyncio.sleep(3600)
            assert names(stage)[1:] == [f"web-{MIDNIGHT // 60 + 90}"]
            assert [each["name"] for each in status(stage)["active"]] == names(stage)

    run_virtual(main())


def test_who_is_too_late_to_start_now_has_the_next_run_by_the_clock_alone() -> None:
    async def main() -> None:
        ran = {"lastScheduleTime": format_time(MIDNIGHT - 5400)}
        async with alone(
            CronJobController, cron_job("30 * * * *", age=9000, status=ran, startingDeadlineSeconds=60)
        ) as stage:
            await asyncio.sleep(1799)
            assert (names(stage), stage.api.log) == ([], [])
            await asyncio.sleep(2)
            assert names(stage) == [f"web-{MIDNIGHT // 60 + 30}"]

    run_virtual(main())


def test_who_was_forbidden_to_start_is_asked_again_when_the_next_run_is_due() -> None:
    """Nothing happens to the CronJob or to a Job meanwhile: without a timer, nobody would look."""

    async def main() -> None:
        noted = {"lastScheduleTime": format_time(MIDNIGHT - 3600), "active": [reference("old")]}
        forbidden = cron_job(age=9000, status=noted, concurrencyPolicy="Forbid")
        async with alone(CronJobController, forbidden, job("old", age=3600)) as stage:
            assert stage.told() == [("Normal", "JobAlreadyActive", FORBIDDEN)]
            assert [event["count"] for event in stage.items("events")] == [1]
            await asyncio.sleep(3602)
            assert [event["count"] for event in stage.items("events")] == [2]
            assert names(stage) == ["old"]

    run_virtual(main())


def test_a_run_that_is_noted_as_active_is_not_started_again_and_the_next_one_comes() -> None:
    async def main() -> None:
        noted = {"active": [reference(DUE)], "lastScheduleTime": format_time(MIDNIGHT - 3600)}
        async with alone(CronJobController, cron_job(age=9000, status=noted), job(DUE, age=0)) as stage:
            assert names(stage) == [DUE]
            await asyncio.sleep(3602)
            assert names(stage) == [DUE, f"web-{MIDNIGHT // 60 + 60}"]

    run_virtual(main())


UNSUPPORTED = (
    'CRON_TZ or TZ used in schedule "TZ=Asia/Tokyo 0 9 * * *" is not officially supported, see'
    " https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)


def test_a_schedule_of_old_that_names_its_zone_itself_is_kept_and_called_unsupported() -> None:
    async def main() -> None:
        async with alone(CronJobController, cron_job("TZ=Asia/Tokyo 0 9 * * *")) as stage:
            assert names(stage) == [DUE]
            assert ("Warning", "UnsupportedSchedule", UNSUPPORTED) in stage.told()

    run_virtual(main())


def test_a_schedule_that_is_none_is_told_and_starts_nothing() -> None:
    async def main() -> None:
        async with alone(CronJobController, cron_job("61 * * * *")) as stage:
            why = 'unparseable schedule: "61 * * * *" : end of range (61) above maximum (59): 61'
            assert (names(stage), stage.told()) == ([], [("Warning", "UnparseableSchedule", why)])

    run_virtual(main())


def test_a_change_to_a_schedule_that_is_none_is_told_in_other_words() -> None:
    async def main() -> None:
        (resource_name, body), now = cron_job("30 * * * *"), {"lastScheduleTime": format_time(MIDNIGHT - 1800)}
        async with alone(CronJobController, (resource_name, body | {"status": now})) as stage:
            (kept,) = stage.items("cronjobs.batch")
            await stage.client.update(CRON_JOBS, {**kept, "spec": {**kept["spec"], "schedule": "61 * * * *"}})
            await asyncio.sleep(1)
            why = "unparseable schedule for cronjob: 61 * * * *"
            assert stage.told() == [("Warning", "UnParseableCronJobSchedule", why)]

    run_virtual(main())


def test_a_run_that_is_due_is_started_noted_and_told() -> None:
    async def main() -> None:
        template = {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": {"template": TEMPLATE}}
        async with alone(CronJobController, cron_job(jobTemplate=template)) as stage:
            (made,) = stage.items("jobs.batch")
            assert made["metadata"]["name"] == DUE
            assert made["metadata"]["labels"] == {"a": "b"}
            assert made["metadata"]["annotations"] == {
                "c": "d",
                "batch.kubernetes.io/cronjob-scheduled-timestamp": "2027-01-01T00:00:00Z",
            }
            assert made["metadata"]["ownerReferences"] == [{**OWNER, "blockOwnerDeletion": True}]
            assert made["spec"] == template["spec"]
            assert stage.told() == [("Normal", "SuccessfulCreate", f"Created job {DUE}")]
            (active,) = status(stage)["active"]
            assert (active["name"], active["uid"]) == (DUE, made["metadata"]["uid"])
        async with alone(CronJobController, cron_job()) as stage:
            assert "labels" not in stage.items("jobs.batch")[0]["metadata"]

    run_virtual(main())


def test_a_zone_that_nobody_knows_is_told_and_starts_nothing() -> None:
    async def main() -> None:
        async with alone(CronJobController, cron_job(timeZone="Mars/Olympus")) as stage:
            said = 'invalid timeZone: "Mars/Olympus": unknown time zone Mars/Olympus'
            assert stage.told() == [("Warning", "UnknownTimeZone", said)]
            assert names(stage) == []
            (known,) = stage.items("cronjobs.batch")
            other = {**known["spec"], "timeZone": "Mars/Hellas", "schedule": "5 * * * *"}
            await stage.client.update(CRON_JOBS, {**known, "spec": other})
            await asyncio.sleep(400)
            assert len(stage.told()) == 2
            assert names(stage) == []

    run_virtual(main())


def test_more_than_a_hundred_missed_runs_are_told_and_the_last_is_started() -> None:
    async def main() -> None:
        for age, warned in ((101 * 60 + 1, True), (100 * 60, False)):
            async with alone(CronJobController, cron_job("* * * * *", age=age)) as stage:
                text = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
                assert (("Warning", "TooManyMissedTimes", text) in stage.told()) is warned
                assert names(stage) == [DUE]

    run_virtual(main())


def test_a_name_that_somebody_else_took_is_left_to_them() -> None:
    async def main() -> None:
        async with alone(CronJobController, cron_job(), job(DUE, owner=None)) as stage:
            assert status(stage) == {}
            assert stage.told() == []
        async with alone(CronJobController, cron_job(), job(DUE, owner={**OWNER, "uid": "other"})) as stage:
            assert "lastScheduleTime" not in status(stage)

    run_virtual(main())


def test_a_job_that_was_made_and_not_noted_is_noted_now() -> None:
    async def main() -> None:
        async with alone(CronJobController, cron_job(), job(DUE)) as stage:
            assert [each["name"] for each in status(stage)["active"]] == [DUE]
            assert status(stage)["lastScheduleTime"] == format_time(MIDNIGHT)
            assert "SuccessfulCreate" not in {reason for reason, _ in told(stage)}

    run_virtual(main())


def test_of_those_that_ended_the_youngest_are_kept_each_kind_for_itself() -> None:
    async def main() -> None:
        ended = [job(f"c{age}", "Complete", age=age) for age in (10, 20, 30)]
        ended += [job(f"f{age}", "Failed", age=age) for age in (10, 20, 30)]
        limits = {"successfulJobsHistoryLimit": 2, "failedJobsHistoryLimit": 1, "suspend": True}
        async with alone(CronJobController, cron_job(**limits), *ended, job("running")) as stage:
            assert names(stage) == ["c10", "c20", "f10", "running"]
            assert ("SuccessfulDelete", "Deleted job c30") in told(stage)
            assert status(stage)["lastSuccessfulTime"] == format_time(MIDNIGHT - 9)
            deleted = [obj for _, method, _, obj in stage.api.log if method == "DELETE"]
            assert {each["propagationPolicy"] for each in deleted} == {"Background"}
        async with alone(CronJobController, cron_job(suspend=True), *ended) as stage:
            assert len(names(stage)) == 6, "no limit, nothing goes"

    run_virtual(main())


def test_an_old_job_that_cannot_be_deleted_is_told_and_stops_nothing() -> None:
    async def main() -> None:
        objects = cron_job(successfulJobsHistoryLimit=0), job("old", "Complete")
        async with alone(CronJobController, *objects, refuse=refusing("DELETE", "/jobs/old")) as stage:
            assert ("Warning", "FailedDelete", "Deleted job: no more") in stage.told()
            assert names(stage) == ["old", DUE]

    run_virtual(main())


def test_what_ended_is_told_once_with_how_it_ended() -> None:
    async def main() -> None:
        for ended in ("Complete", "Failed"):
            before = {"active": [reference("j"), reference("k")], "lastScheduleTime": format_time(MIDNIGHT)}
            async with alone(CronJobController, cron_job(status=before), job("j", ended), job("k")) as stage:
                await asyncio.sleep(1)
                said = ("Normal", "SawCompletedJob", f"Saw completed job: j, condition: {ended}")
                assert stage.told() == [said]
                assert [each["name"] for each in status(stage)["active"]] == ["k"]
                assert ("lastSuccessfulTime" in status(stage)) is (ended == "Complete")

    run_virtual(main())


def test_a_replacement_needs_the_old_one_gone() -> None:
    async def main() -> None:
        before = {"active": [reference("j")]}
        objects = cron_job(status=before, concurrencyPolicy="Replace"), job("j")
        async with alone(CronJobController, *objects, refuse=refusing("DELETE", "/jobs/j")) as stage:
            await asyncio.sleep(1)
            assert names(stage) == ["j"]
            assert ("FailedDelete", "Deleted job: no more") in told(stage)
            stage.api.refuse = refusing("GET", "/jobs/j")
            await asyncio.sleep(60)
            assert ("FailedGet", "Get job: no more") in told(stage)
            assert names(stage) == ["j"]
            stage.api.refuse = lambda request: None
            await asyncio.sleep(600)
            assert names(stage) == [DUE]
            assert [each["name"] for each in status(stage)["active"]] == [DUE]

    run_virtual(main())


def test_a_cache_that_is_behind_is_asked_of_the_server_and_written_on() -> None:
    """The cache has the Job and not yet the CronJob's note of it: no stranger, and no conflict."""

    async def main() -> None:
        noted = {"active": [reference("j")], "lastScheduleTime": format_time(MIDNIGHT)}
        async with alone(CronJobController, cron_job(status=noted), job("j")) as stage:
            (known,) = stage.items("cronjobs.batch")
            behind = {**known, "status": {}, "metadata": {**known["metadata"], "resourceVersion": "0"}}
            stage.controller._cron_jobs.indexer.set("ns/web", behind)
            stage.controller._queue.add("ns/web")
            await asyncio.sleep(0.1)
            assert stage.told() == []
            ((_, method, path, sent),) = stage.api.log
            assert (method, path.rpartition("/")[2]) == ("PUT", "status")
            assert sent["metadata"]["resourceVersion"] == known["metadata"]["resourceVersion"]
            assert sent["status"] == noted

    run_virtual(main())


def test_a_job_that_is_not_ours_by_uid_wakes_nobody() -> None:
    async def main() -> None:
        async with alone(CronJobController, cron_job(suspend=True)) as stage:
            asked: list[str] = []
            stage.controller._queue.add = asked.append
            for owner in (
                None,
                {**OWNER, "uid": "other"},
                {**OWNER, "kind": "Other"},
                {**OWNER, "name": "other"},
            ):
                stage.controller._job_changed(job("j", owner=owner)[1])
            assert asked == []
            stage.controller._job_changed(job("j", owner=OWNER)[1])
            assert asked == ["ns/web"]

    run_virtual(main())


def test_a_timetable_is_read_beside_the_loop_if_it_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    async def noted(size: int, work: Any, *arguments: Any) -> Any:
        sizes.append(size)
        return work(*arguments)

    monkeypatch.setattr(cronjob_controller, "beside", noted)
    text = ",".join(["0-59"] * 9_000) + " * * * *"

    async def main() -> None:
        async with alone(CronJobController, cron_job(text, age=59)) as stage:
            assert stage.writes("POST") != []

    run_virtual(main())
    assert set(sizes) == {len(text)}
