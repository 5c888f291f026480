"""The whole scheduler against the real API server, on virtual time: what it asks of the server, and what comes of it."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from lifecycle.api.http.wire import Object, Request
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import failure
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH
from lifecycle.scheduler.scheduler import PODS_BEFORE_YIELD, TURN, USER_AGENT, Scheduler
from tests.conftest import RECORDINGS
from tests.kubelet.small_cluster import small_cluster


def pod(name: str, cpu: str = "", **spec: Any) -> Object:
    container: Object = {"name": "c", "image": "nginx:1.27"}
    if cpu:
        container["resources"] = {"requests": {"cpu": cpu}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"terminationGracePeriodSeconds": 0, "containers": [container], **spec},
    }


class Sent:
    """What the scheduler wants changed, in `requests`: method, path and object of each."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, Any]] = []

    async def note(self, request: Request) -> None:
        if request.method != "GET" and request.headers["user-agent"] == USER_AGENT:
            self.requests.append((request.method, request.path, request.obj))


class Refusals:
    """Requests whose path ends so are refused, `count` times, `after` so many seconds."""

    def __init__(self, path: str, count: int, after: float = 0.0) -> None:
        self.path, self.left, self.after = path, count, after

    async def refuse(self, request: Request) -> None:
        if request.path.endswith(self.path) and self.left:
            self.left -= 1
            await asyncio.sleep(self.after)
            raise failure(500, "InternalError", "not today")


def recorded_requests() -> dict[str, Object]:
    """The first binding and the first event of the real scheduler in the journey."""
    found: dict[str, Object] = {}
    with (RECORDINGS / "kind-1.36.2" / "audit" / "journey.jsonl").open() as lines:
        for line in lines:
            entry = json.loads(line)
            if entry["stage"] == "ResponseComplete" and entry.get("userAgent", "").startswith("kube-scheduler/"):
                found.setdefault(entry["requestURI"].rsplit("/", 1)[1], entry["requestObject"])
    return found


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return type(value).__name__


def test_a_pod_is_bound_and_reported_with_the_recorded_requests() -> None:
    async def main() -> list[tuple[str, str, Any]]:
        sent = Sent()
        async with small_cluster(first=sent.note) as cluster:
            sent.requests.clear()
            await cluster.create_pod(pod("p"))
            await asyncio.sleep(1)
            bound = await cluster.pod("p")
            assert bound["spec"]["nodeName"] in ("lifecycle-worker", "lifecycle-worker2")
            return sent.requests

    binding, event = run_virtual(main())
    recorded = recorded_requests()
    assert binding[:2] == ("POST", "/api/v1/namespaces/default/pods/p/binding")
    assert shape(binding[2]) == shape(recorded["binding"])
    assert event[:2] == ("POST", "/api/v1/namespaces/default/events")
    assert shape(event[2]) == shape(recorded["events"])
    assert event[2]["message"] == f"Successfully assigned default/p to {binding[2]['target']['name']}"


def test_a_pod_that_fits_nowhere_says_why_and_is_tried_again_when_that_changes() -> None:
    async def main() -> None:
        sent = Sent()
        async with small_cluster(first=sent.note) as cluster:
            sent.requests.clear()
            await cluster.create_pod(pod("p", nodeSelector={"disk": "tape"}))
            await asyncio.sleep(1)
            message = (
                "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't match Pod's node affinity/selector. "
                "no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
            )
            patch = next(obj for method, _, obj in sent.requests if method == "PATCH")
            condition = patch["status"]["conditions"][0]
            assert patch == {"status": {"conditions": [condition]}}
            assert condition.pop("lastTransitionTime")
            assert condition == {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": message,
                "lastProbeTime": None,
                "observedGeneration": 1,
            }
            events = [e for e in await cluster.events("default") if e["reason"] == "FailedScheduling"]
            assert [e["message"] for e in events] == [message]
            node = {"metadata": {"labels": {"disk": "tape"}}}
            await cluster.admin.patch(resource("nodes"), "lifecycle-worker2", "", node)
            await asyncio.sleep(3)
            bound = await cluster.pod("p")
            assert bound["spec"]["nodeName"] == "lifecycle-worker2"
            assert bound["status"]["phase"] == "Running"

    run_virtual(main())


def test_a_more_important_pod_pushes_a_less_important_one_out() -> None:
    async def main() -> None:
        sent = Sent()
        async with small_cluster(nodes=("lifecycle-worker",), first=sent.note) as cluster:
            await cluster.create_pod(pod("small", "200m"))
            await cluster.create_pod(pod("big", "900m"))
            await asyncio.sleep(1)
            important = {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": "high"},
                "value": 1000,
            }
            await cluster.admin.create(resource("priorityclasses.scheduling.k8s.io"), important)
            sent.requests.clear()
            preemptor = await cluster.create_pod(pod("preemptor", "1500m", priorityClassName="high"))
            await asyncio.sleep(5)
            pods = await cluster.pods("default")
            assert set(pods) == {"small", "preemptor"}
            assert pods["preemptor"]["status"]["phase"] == "Running"
            patches = {
                path: obj for method, path, obj in sent.requests if method == "PATCH" and path.endswith("/status")
            }
            told = patches["/api/v1/namespaces/default/pods/big/status"]["status"]["conditions"][0]
            assert (told["type"], told["reason"]) == ("DisruptionTarget", "PreemptionByScheduler")
            nominated = patches["/api/v1/namespaces/default/pods/preemptor/status"]["status"]["nominatedNodeName"]
            assert nominated == "lifecycle-worker"
            event = next(e for e in await cluster.events("default") if e["reason"] == "Preempted")
            assert event["message"] == f"Preempted by pod {preemptor['metadata']['uid']} on node lifecycle-worker"

    run_virtual(main())


def test_gates_and_other_schedulers_pods_are_left_alone() -> None:
    async def main() -> None:
        async with small_cluster() as cluster:
            await cluster.create_pod(pod("gated", schedulingGates=[{"name": "example.com/hold"}]))
            await cluster.create_pod(pod("other", schedulerName="nobody"))
            await asyncio.sleep(5)
            pods = await cluster.pods("default")
            assert not any(p["spec"].get("nodeName") for p in pods.values())
            patch = {"spec": {"schedulingGates": None}}
            await cluster.admin.patch(resource("pods"), "gated", "default", patch)
            await asyncio.sleep(1)
            pods = await cluster.pods("default")
            assert pods["gated"]["status"]["phase"] == "Running"
            assert "nodeName" not in pods["other"]["spec"]

    run_virtual(main())


def test_a_binding_that_fails_is_forgotten_and_tried_again() -> None:
    async def main() -> None:
        async with small_cluster(first=Refusals("/binding", 2).refuse) as cluster:
            assert cluster.scheduler is not None
            await cluster.create_pod(pod("p"))
            await asyncio.sleep(10)
            assert (await cluster.pod("p"))["status"]["phase"] == "Running"
            nodes = cluster.scheduler.cache.nodes.values()
            assert sum(len(node.pods) for node in nodes) == 1
            told = [e["message"] for e in await cluster.events("default") if e["reason"] == "FailedScheduling"]
            assert set(told) == {'running Bind plugin "DefaultBinder": not today'}

    run_virtual(main())


def test_a_pod_deleted_before_its_turn_is_no_trouble() -> None:
    async def main() -> None:
        async with small_cluster() as cluster:
            assert cluster.scheduler is not None
            await cluster.create_pod(pod("p", nodeSelector={"disk": "tape"}))
            await asyncio.sleep(1)
            await cluster.admin.delete(resource("pods"), "p", "default")
            await asyncio.sleep(1)
            assert not any(cluster.scheduler.queue.pending_pods().values())
            assert "p" not in await cluster.pods("default")

    run_virtual(main())


def test_without_any_node_a_pod_is_tried_again_and_again_ever_less_often() -> None:
    async def main() -> None:
        async with small_cluster(nodes=()) as cluster:
            assert cluster.scheduler is not None
            await cluster.create_pod(pod("p"))
            await asyncio.sleep(7.5)  # tried at 0, 1, 3 and 7 seconds
            [queued] = [*cluster.scheduler.queue._error_backoff]
            assert queued.attempts == 4
            condition = (await cluster.pod("p"))["status"]["conditions"][0]
            assert (condition["reason"], condition["message"]) == (
                "Unschedulable",
                "no nodes available to schedule pods",
            )

    run_virtual(main())


def test_a_binding_that_fails_gives_its_room_to_who_waits_for_it() -> None:
    async def main() -> None:
        refusals = Refusals("/pods/first/binding", 1, after=5)
        async with small_cluster(nodes=("lifecycle-worker",), first=refusals.refuse) as cluster:
            await cluster.create_pod(pod("first", "1500m"))
            await asyncio.sleep(1)
            await cluster.create_pod(pod("second", "1500m"))
            await asyncio.sleep(3)
            assert "nodeName" not in (await cluster.pod("second"))["spec"]
            await asyncio.sleep(4)
            assert (await cluster.pod("second"))["spec"]["nodeName"] == "lifecycle-worker"

    run_virtual(main())


def test_a_pod_on_its_way_out_is_not_scheduled_any_more_and_says_so() -> None:
    async def main() -> None:
        async with small_cluster() as cluster:
            assert cluster.scheduler is not None
            going = {**pod("p", nodeSelector={"disk": "tape"})}
            going["metadata"] = {**going["metadata"], "finalizers": ["example.com/hold"]}
            await cluster.create_pod(going)
            await asyncio.sleep(1)
            await cluster.admin.delete(resource("pods"), "p", "default")
            await asyncio.sleep(400)  # tried again after five minutes
            told = [e["message"] for e in await cluster.events("default") if e["reason"] == "FailedScheduling"]
            assert told[-1] == "skip schedule deleting pod: default/p"

    run_virtual(main())


def test_a_nomination_ends_with_the_binding() -> None:
    async def main() -> None:
        async with small_cluster(nodes=()) as cluster:
            await cluster.create_pod(pod("p", schedulerName="nobody"))
            status = {"status": {"nominatedNodeName": "n"}}
            await cluster.admin.patch(
                resource("pods"), "p", "default", status,
                subresource="status", patch_type=STRATEGIC_MERGE_PATCH,
            )  # fmt: skip
            assert (await cluster.pod("p"))["status"]["nominatedNodeName"] == "n"
            target = {"kind": "Node", "name": "n"}
            binding = {"kind": "Binding", "apiVersion": "v1", "metadata": {"name": "p"}, "target": target}
            await cluster.admin.create(resource("pods"), binding, "default", name="p", subresource="binding")
            bound = await cluster.pod("p")
            assert bound["spec"]["nodeName"] == "n"
            assert "nominatedNodeName" not in bound["status"]

    run_virtual(main())


def test_its_requests_carry_the_recorded_user_agent() -> None:
    with (RECORDINGS / "kind-1.36.2" / "audit" / "journey.jsonl").open() as lines:
        recorded = {json.loads(line).get("userAgent", "") for line in lines}
    theirs = {agent for agent in recorded if agent.startswith("kube-scheduler/")}
    assert {agent.rsplit("/", 1)[1] for agent in theirs} == {USER_AGENT.rsplit("/", 1)[1]} == {"scheduler"}
    assert {agent.split(" ")[0] for agent in theirs} == {USER_AGENT.split(" ")[0]}


def test_many_pods_at_once_take_no_time_between_them() -> None:
    async def main() -> None:
        async with small_cluster() as cluster:
            await asyncio.sleep(1)
            await cluster.untaint()
            await asyncio.sleep(1)
            for number in range(3 * PODS_BEFORE_YIELD):
                await cluster.create_pod(pod(f"p{number}"))
            await asyncio.sleep(0.5)
            pods = await cluster.pods("default")
            assert len([p for p in pods.values() if p["spec"].get("nodeName")]) == 3 * PODS_BEFORE_YIELD

    run_virtual(main())


@pytest.mark.parametrize(("takes", "most"), [(0.0, PODS_BEFORE_YIELD), (TURN / 2.5, 3), (2 * TURN, 1)])
def test_decisions_that_take_long_let_others_go_on(takes: float, most: int) -> None:
    """How many are made without anybody else having a turn, if each takes so many seconds of the loop's time."""
    in_a_row = longest = made = 0

    async def schedule_one(profile: str, queued: object) -> None:
        nonlocal in_a_row, longest, made
        in_a_row, made = in_a_row + 1, made + 1
        longest = max(longest, in_a_row)

    async def nothing(*_: object) -> None: ...

    async def main() -> None:
        nonlocal in_a_row
        loop = asyncio.get_running_loop()
        waiting = [SimpleNamespace(info=SimpleNamespace(pod=pod("p"))) for _ in range(40)]
        queue = SimpleNamespace(
            try_pop=lambda: waiting.pop() if waiting else None, pop=loop.create_future, close=lambda: None
        )
        scheduler = object.__new__(Scheduler)
        for name in ("cache", "nominator", "_informers"):
            setattr(scheduler, name, None)
        scheduler.profiles, scheduler.extenders = {}, []
        scheduler.queue = queue  # type: ignore[assignment]
        scheduler._waiting_pods = SimpleNamespace(reject=None)  # type: ignore[assignment]
        scheduler._schedule_one = SimpleNamespace(schedule_one=schedule_one)  # type: ignore[assignment]
        scheduler._tasks = SimpleNamespace(stop=nothing)  # type: ignore[assignment]
        with (
            patch("lifecycle.scheduler.scheduler.add_all_event_handlers", nothing),
            patch.object(loop, "time", lambda: made * takes),
        ):
            running = asyncio.ensure_future(scheduler.run())
            while made < 40:
                await asyncio.sleep(0)
                in_a_row = 0
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    run_virtual(main())
    assert longest == most


def test_the_last_events_are_not_written_by_a_scheduler_that_has_stopped() -> None:
    async def main() -> None:
        sent = Sent()
        async with small_cluster(nodes=(), first=sent.note) as cluster:
            assert cluster.scheduler is not None
            await asyncio.sleep(1)
            await cluster.create_pod(pod("p"))
            await asyncio.sleep(1)
            sent.requests.clear()
            for framework in cluster.scheduler.profiles.values():
                assert framework.event_recorder is not None
                framework.event_recorder.event(await cluster.pod("p"), "Normal", "Late", "too late")
            running = cluster.tasks.pop(0)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await asyncio.sleep(60)
            assert sent.requests == []
            assert "Late" not in [event["reason"] for event in await cluster.events("default")]

    run_virtual(main())


@pytest.mark.parametrize(
    ("labels", "host"),
    [({"team": "blue"}, "lifecycle-worker2"), ({"team": "red"}, None), (None, None)],
    ids=["matches", "does not match", "has no labels"],
)
def test_a_pod_stands_beside_those_of_namespaces_that_it_selects_by_label(
    labels: dict[str, str] | None, host: str | None
) -> None:
    async def main() -> None:
        async with small_cluster(nodes=("lifecycle-worker", "lifecycle-worker2")) as cluster:
            await asyncio.sleep(1)
            await cluster.untaint()
            await cluster.namespace("theirs")
            await cluster.admin.patch(resource("namespaces"), "theirs", "", {"metadata": {"labels": labels}})
            other = pod("other", nodeName="lifecycle-worker2")
            other["metadata"]["labels"] = {"app": "x"}
            await cluster.create_pod(other, "theirs")
            await asyncio.sleep(1)
            term = {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchLabels": {"app": "x"}},
                "namespaceSelector": {"matchLabels": {"team": "blue"}},
            }
            affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
            await cluster.create_pod(pod("p", affinity=affinity))
            await asyncio.sleep(1)
            assert (await cluster.pod("p"))["spec"].get("nodeName") == host

    run_virtual(main())
