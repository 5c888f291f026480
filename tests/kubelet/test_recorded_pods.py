"""The pods of the recorded *kubelet* scenario, run on the hollow runtime at the recorded pace, held against what the real nodes said.

Granted freedoms, each in one place below: times, addresses, ids and generated names; where in its back-off a
container is that is restarted again and again; the memory "limit" that a cgroup v1 host reports for pods without one
(the two recordings of the same system do not agree on it either).
"""

from __future__ import annotations

import asyncio
import json
import re
from functools import cache
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from tests.conftest import RECORDINGS
from tests.kubelet.small_cluster import small_cluster

RESTARTED_AGAIN_AND_AGAIN = {
    "bad-command",
    "crashloop",
    "init-fails",
    "liveness-fails",
    "no-image",
    "post-start-fails",
}
"""Pods whose state at any moment is a matter of timing: between two tries, or trying."""

DISAGREEMENTS = {
    "post-start-http": "the hook races with nginx's start; a hollow nginx listens at once, so the hook passes the first time",
}

VOLATILE = {"hostIP", "podIP", "ip", "startTime", "startedAt", "finishedAt", "lastTransitionTime", "containerID"}


@cache
def recorded(cluster: str) -> list[dict[str, Any]]:
    with (RECORDINGS / cluster / "http" / "kubelet.jsonl").open() as lines:
        return [json.loads(line) for line in lines]


def answer(cluster: str, note: str, plural: str) -> list[Object]:
    for exchange in recorded(cluster):
        if exchange["note"] == note and exchange["path"].endswith("/" + plural):
            return list(exchange["response"]["items"])
    raise AssertionError(note)


@cache
def outcome() -> tuple[dict[str, Object], list[Object]]:
    """Our pods and events, 85 seconds after the first request."""

    async def main() -> tuple[dict[str, Object], list[Object]]:
        async with small_cluster(latency=0.15) as cluster:
            await cluster.namespace("kubelet")
            start = cluster.clock.now()
            for exchange in recorded("kind-1.36.2"):
                if exchange["method"] != "POST":
                    break
                await asyncio.sleep(max(0.0, exchange["t"] - (cluster.clock.now() - start)))
                plural = exchange["path"].rsplit("/", 1)[1]
                await cluster.admin.create(resource(plural), json.loads(json.dumps(exchange["body"])), "kubelet")
            await asyncio.sleep(85.2 - (cluster.clock.now() - start))
            return await cluster.pods("kubelet"), await cluster.events("kubelet")

    return run_virtual(main())


def masked(value: Any, uid: str) -> Any:
    if isinstance(value, dict):
        return {
            key: "*" if key in VOLATILE and item not in ("", "1970-01-01T00:00:00Z") else masked(item, uid)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [masked(item, uid) for item in value]
    if isinstance(value, str):
        value = re.sub(r"kube-api-access-\w+", "kube-api-access-*", value.replace(uid, "UID"))
        value = re.sub(r"sha256:[0-9a-f]{64}", "sha256:*", value)
        value = re.sub(r"^docker.io/library/\w+@sha256", "sha256", value)  # the same image, known by id or by digest
        return re.sub(r"\d+\.\d+\.\d+\.\d+", "IP", value)
    return value


def comparable(pod: Object) -> Object:
    status = masked(pod["status"], pod["metadata"]["uid"])
    if status["resources"].get("limits", {}).get("memory") == "9007199254740988Ki":
        del status["resources"]["limits"]
    if pod["metadata"]["name"] == "oom":
        status["resources"].pop("limits", None)  # gone with the cgroup in one recording, still there in the other
    if pod["metadata"]["name"] in RESTARTED_AGAIN_AND_AGAIN:
        for key in ("containerStatuses", "initContainerStatuses"):
            for container in status.get(key, []):
                for field in ("state", "lastState", "restartCount", "ready", "started"):
                    container.pop(field)
        for condition in status["conditions"]:
            if condition["type"] in ("Ready", "ContainersReady"):
                for field in ("status", "reason", "message"):
                    condition.pop(field, None)
    return status


@pytest.mark.parametrize("cluster", ["kind-1.36.2", "kind-1.36.2-again"])
def test_every_pod_ends_up_as_recorded(cluster: str) -> None:
    ours, _ = outcome()
    different = {
        pod["metadata"]["name"]
        for pod in answer(cluster, "settled", "pods")
        if comparable(pod) != comparable(ours[pod["metadata"]["name"]])
    }
    assert different == set(DISAGREEMENTS)


def facts(event: Object, uid: str) -> tuple[str, str | None, str, str, str]:
    involved = event["involvedObject"]
    return (
        involved["name"],
        involved.get("fieldPath"),
        event["type"],
        event["reason"],
        masked(event["message"], uid),
    )


MISSING_EVENTS = {
    "post-start-http": {"Killing", "BackOff", "FailedPostStartHook"},
    # nginx was not listening yet when first asked; a hollow one always is
    "readiness-fails": {"Unhealthy"},
}


def test_events_are_the_recorded_ones_word_for_word() -> None:
    ours, our_events = outcome()
    uids = {name: pod["metadata"]["uid"] for name, pod in ours.items()}
    theirs = {
        facts(event, event["involvedObject"]["uid"])
        for event in answer("kind-1.36.2", "settled", "events")
        if event["source"]["component"] == "kubelet"
    }
    mine = {
        facts(event, uids[event["involvedObject"]["name"]])
        for event in our_events
        if event["source"]["component"] == "kubelet"
    }
    assert len(theirs & mine) > 110
    assert mine <= theirs
    missing: dict[str, set[str]] = {}
    for name, _, _, reason, _ in theirs - mine:
        missing.setdefault(name, set()).add(reason)
    assert missing == MISSING_EVENTS


def test_containers_that_fail_again_and_again_are_restarted_about_as_often_as_recorded() -> None:
    ours, _ = outcome()
    for pod in answer("kind-1.36.2", "settled", "pods"):
        name = pod["metadata"]["name"]
        if name not in RESTARTED_AGAIN_AND_AGAIN:
            continue
        for key in ("containerStatuses", "initContainerStatuses"):
            for theirs, mine in zip(pod["status"].get(key, []), ours[name]["status"].get(key, []), strict=True):
                assert abs(theirs["restartCount"] - mine["restartCount"]) <= 1, name
