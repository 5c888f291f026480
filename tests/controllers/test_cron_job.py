"""CronJobs: which run is due, in whose time, and what becomes of the Jobs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.controllers.test_job import job

from lifecycle.api.cron.parser import parse_standard
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import format_time, parse_time
from lifecycle.api.resources import resource
from lifecycle.client.rest import MERGE_PATCH
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.controllers.cronjob.schedule_time import (
    InvalidScheduleError,
    most_recent_schedule_time,
    next_schedule_delay,
)

CRON_JOBS, JOBS = resource("cronjobs.batch"), resource("jobs.batch")


async def create(cluster: RehearsedCluster, schedule: str, *command: str, **spec: Any) -> None:
    body = {"schedule": schedule, "jobTemplate": {"spec": job(*command)["spec"]}, **spec}
    cron_job = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "cj"}, "spec": body}
    await cluster.client("test").create(CRON_JOBS, cron_job, "default")


async def change(cluster: RehearsedCluster, **spec: Any) -> None:
    await cluster.client("test").patch(CRON_JOBS, "cj", "default", {"spec": spec}, patch_type=MERGE_PATCH)


async def status(cluster: RehearsedCluster) -> Object:
    found: Object = (await cluster.client("test").get(CRON_JOBS, "cj", "default")).get("status") or {}
    return found


async def told(cluster: RehearsedCluster) -> list[tuple[str, str]]:
    await asyncio.sleep(1)
    events = [e for e in await cluster.items("events") if e["involvedObject"]["kind"] == "CronJob"]
    return [(e["reason"], e["message"]) for e in sorted(events, key=lambda e: str(e["metadata"]["name"]))]


def test_jobs_start_by_the_clock_and_three_are_kept() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        await create(cluster, "*/2 * * * *", "true")
        await asyncio.sleep(11 * 60)
        jobs = await cluster.items("jobs.batch")
        assert len(jobs) == 3
        due = [
            parse_time(j["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]) for j in jobs
        ]
        assert all(at % 120 == 0 for at in due)
        assert [j["metadata"]["name"] for j in jobs] == [f"cj-{int(at) // 60}" for at in due]
        now = await status(cluster)
        assert now["lastScheduleTime"] == format_time(due[-1])
        assert now["lastSuccessfulTime"] == jobs[-1]["status"]["completionTime"]
        assert "active" not in now
        reasons = {reason for reason, _ in await told(cluster)}
        assert reasons == {
            "SuccessfulCreate",
            "SawCompletedJob",
            "SuccessfulDelete",
        }  # and none was missed or unexpected

    rehearse(scene)


@pytest.mark.parametrize("late", ["jobs.batch", "cronjobs.batch"])
def test_a_cache_that_is_late_makes_no_job_missing_or_unexpected(late: str) -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        await create(cluster, "* * * * *", "sleep", "20")
        await asyncio.sleep(130)
        reasons = [reason for reason, _ in await told(cluster)]
        assert "SuccessfulCreate" in reasons
        assert not {"MissingJob", "UnexpectedJob", "FailedCreate"} & set(reasons)
        assert len((await status(cluster)).get("active", ())) <= 1

    rehearse(scene, late_watches={late: 2.0})


def test_the_annotation_tells_the_time_as_the_zone_does() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        await create(cluster, "35 5 * * *", "true", timeZone="Asia/Kolkata")
        await asyncio.sleep(400)
        jobs = await cluster.items("jobs.batch")
        stamps = [j["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"] for j in jobs]
        assert stamps == ["2027-01-01T05:35:00+05:30"]  # the scene began at midnight in Greenwich

    rehearse(scene)


def test_forbid_waits_and_replace_deletes() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        await create(cluster, "* * * * *", "sleep", "150", concurrencyPolicy="Forbid")
        await asyncio.sleep(125)
        first = await cluster.items("jobs.batch")
        assert len(first) == 1
        refused = "Not starting job because prior execution is running and concurrency policy is Forbid"
        assert ("JobAlreadyActive", refused) in await told(cluster)
        await change(cluster, concurrencyPolicy="Replace")
        await asyncio.sleep(1)  # the run that was refused is still due
        second = await cluster.items("jobs.batch")
        assert [j["metadata"]["uid"] for j in first] != [j["metadata"]["uid"] for j in second]
        assert ("SuccessfulDelete", f"Deleted job {first[0]['metadata']['name']}") in await told(cluster)
        active = (await status(cluster))["active"]
        assert [reference["name"] for reference in active] == [j["metadata"]["name"] for j in second]
        assert set(active[0]) == {"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion"}

    rehearse(scene)


def test_a_suspended_one_starts_nothing_but_knows_what_ended() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        await create(cluster, "* * * * *", "sleep", "10")
        await asyncio.sleep(63)
        await change(cluster, suspend=True)
        await asyncio.sleep(300)
        now = await status(cluster)
        assert "active" not in now
        assert "lastSuccessfulTime" in now
        assert len(await cluster.items("jobs.batch")) == 1
        await change(cluster, suspend=False)
        await asyncio.sleep(1)
        assert len(await cluster.items("jobs.batch")) == 2  # the last of the missed ones

    rehearse(scene)


def test_a_deadline_that_has_passed_is_told_and_a_new_timetable_makes_up_for_nothing() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        await create(cluster, "0 * * * *", "true", suspend=True)
        await asyncio.sleep(3600 + 1800)
        await change(cluster, suspend=False, schedule="45 * * * *")
        await asyncio.sleep(60)
        assert await cluster.items("jobs.batch") == []
        await asyncio.sleep(900)
        assert len(await cluster.items("jobs.batch")) == 1

    rehearse(scene)


def test_jobs_of_somebody_elses_making_and_jobs_gone_missing_are_told() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        await create(cluster, "0 * * * *", "sleep", "600")
        client = cluster.client("test")
        owner = await client.get(CRON_JOBS, "cj", "default")
        reference = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "cj", "uid": owner["metadata"]["uid"]}
        stranger = job("sleep", "600")
        stranger["metadata"]["ownerReferences"] = [{**reference, "controller": True}]
        await client.create(JOBS, stranger, "default")
        unexpected = ("UnexpectedJob", "Saw a job that the controller did not create or forgot: j")
        assert unexpected in await told(cluster)
        await asyncio.sleep(3605)
        (ours,) = (await status(cluster))["active"]
        await client.delete(JOBS, ours["name"], "default", propagation="Background")
        assert ("MissingJob", f"Active job went missing: {ours['name']}") in await told(cluster)
        assert "active" not in await status(cluster)

    rehearse(scene)


def test_a_schedule_that_never_comes_is_told() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        await create(cluster, "59 23 31 2 *", "true")
        message = "invalid schedule: 59 23 31 2 * : time difference between two schedules is less than 1 second"
        assert await told(cluster) == [("InvalidSchedule", message)]

    rehearse(scene)


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def a_cron_job(last: str | None, deadline: int | None) -> Object:
    spec: Object = {} if deadline is None else {"startingDeadlineSeconds": deadline}
    seen: Object = {} if last is None else {"lastScheduleTime": last}
    return {"metadata": {"creationTimestamp": "2027-01-01T09:30:00Z"}, "spec": spec, "status": seen}


@pytest.mark.parametrize(
    ("last", "deadline", "now", "due", "missed"),
    [
        (None, None, "09:50", None, 0),  # the first is still to come
        (None, None, "10:05", "10:00", 0),
        (None, None, "12:05", "12:00", 3),
        ("2027-01-01T10:00:00Z", None, "10:05", None, 0),
        ("2027-01-01T10:00:00Z", None, "12:05", "12:00", 2),
        (None, 60, "12:05", None, 0),  # too late for twelve
        (None, 600, "12:05", "12:00", 0),
    ],
)
def test_the_last_run_that_was_missed(
    last: str | None, deadline: int | None, now: str, due: str | None, missed: int
) -> None:
    found = most_recent_schedule_time(
        a_cron_job(last, deadline), seconds(f"2027-01-01T{now}:00+00:00"), parse_standard("0 * * * *")
    )
    assert (found.at and format_time(found.at)[11:16]) == due
    assert found.missed == missed


@given(
    st.sampled_from(["* * * * *", "30 */4 * * *", "@every 90m", "@hourly", "@daily"]),
    st.integers(1, 40 * 86400),
)
def test_the_short_way_to_the_last_missed_run_is_the_long_one(expression: str, away: int) -> None:
    schedule, body = parse_standard(expression), a_cron_job(None, None)
    start = parse_time(body["metadata"]["creationTimestamp"])
    now = start + min(away, 2 * 86400) if expression == "* * * * *" else start + away
    last, at = None, schedule.next(start)
    while at is not None and at <= now:
        last, at = at, schedule.next(at)
    assert most_recent_schedule_time(body, now, schedule).at == last
    if last is not None and at is not None:
        assert next_schedule_delay(body, now, schedule) == pytest.approx(at - now + 0.1)


def test_the_short_way_goes_astray_where_runs_are_not_evenly_spaced() -> None:
    """As upstream's: after 10:30 and 14:30 it expects 18:30, finds none before Monday, and forgets 14:30."""
    now = seconds("2027-01-01T18:30:00+00:00")
    found = most_recent_schedule_time(a_cron_job(None, None), now, parse_standard("30 6-16/4 * * 1-5"))
    assert (found.at, found.missed) == (None, 3)


_parsed = cache(parse_standard)


@dataclass
class CountingSchedule:
    """Counts how often it is asked. Without an expression it never comes."""

    expression: str = ""
    asked: int = 0

    def next(self, after: float) -> float | None:
        self.asked += 1
        return _parsed(self.expression).next(after) if self.expression else None


def test_a_year_of_missed_minutes_is_counted_in_no_time_and_a_never_is_an_error() -> None:
    counting, now = CountingSchedule("* * * * *"), seconds("2028-01-01T00:00:30+00:00")
    found = most_recent_schedule_time(a_cron_job(None, None), now, counting)
    assert found.at == seconds("2028-01-01T00:00:00+00:00")
    assert found.missed > 500_000
    assert counting.asked < 10
    with pytest.raises(InvalidScheduleError):
        most_recent_schedule_time(a_cron_job(None, None), now, CountingSchedule())


@pytest.mark.parametrize(
    ("expression", "last", "now", "shortly_before"),
    [
        # half a year of every minute after one of none
        ("* * * 1-6 *", "2023-06-30T23:58:00Z", "2026-06-30T12:00:30Z", "2026-06-30T10:00:00Z"),
        ("* * * 1-6 *", "2023-06-30T23:58:00Z", "2026-09-01T00:00:00Z", "2026-06-30T22:00:00Z"),
        ("*/7 * 1-15 * *", "2026-01-15T23:50:00Z", "2026-03-15T23:55:59Z", "2026-03-15T20:00:00Z"),
        ("* * * * *", "1970-01-01T00:00:00Z", "2026-06-30T12:00:30Z", "2026-06-30T10:00:00Z"),
        ("@every 1s", "1970-01-01T00:00:00Z", "2026-06-30T12:00:30Z", "2026-06-30T12:00:00Z"),
    ],
)
def test_the_last_missed_run_is_found_without_walking_through_all(
    expression: str, last: str, now: str, shortly_before: str
) -> None:
    counting, until = CountingSchedule(expression), float(parse_time(now))
    cron_job = {"metadata": {}, "spec": {}, "status": {"lastScheduleTime": last}}
    found = most_recent_schedule_time(cron_job, until, counting).at
    assert counting.asked < 200
    walked, at = None, counting.next(parse_time(shortly_before))
    while at is not None and at <= until:
        walked, at = at, counting.next(at)
    assert found == walked
