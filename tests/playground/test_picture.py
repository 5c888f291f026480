"""What a page says of an object, a node, a pod's state and an event; without any cluster."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.playground.chapters import KINDS
from lifecycle.playground.event_stream import MOST, EventStream
from lifecycle.playground.observer import MOST_PODS, Observer
from lifecycle.playground.picture import controller_of, in_order, node_status, shown_node, shown_object
from lifecycle.playground.pod_history import PodHistory, PodState, pod_state
from lifecycle.playground.summary import SUMMARIES
from tests.fake_api import FakeAPI

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("kind", "parts", "said"),
    [
        ("Deployment", {}, "0/1 ready"),
        ("Deployment", {"spec": {"replicas": 0}, "status": {}}, "0/0 ready"),
        ("Deployment", {"spec": {"replicas": 3}, "status": {"readyReplicas": 2, "updatedReplicas": 0}},
         "2/3 ready, 0 up to date"),
        ("ReplicaSet", {"spec": {"replicas": 3}, "status": {"readyReplicas": 1}}, "1/3 ready"),
        ("StatefulSet", {"spec": {"replicas": 2}, "status": {"readyReplicas": 2, "updatedReplicas": 1}}, "2/2 ready"),
        ("DaemonSet", {}, "0/0 ready"),
        ("DaemonSet", {"status": {"desiredNumberScheduled": 4, "numberReady": 3}}, "3/4 ready"),
        ("Job", {}, "0/1 complete"),
        ("Job", {"spec": {"completions": 5}, "status": {"succeeded": 2}}, "2/5 complete"),
        ("Job", {"spec": {"completions": 5}, "status": {"succeeded": 2, "failed": 3}}, "2/5 complete, 3 failed"),
        ("CronJob", {}, ", 0 active"),
        ("CronJob", {"spec": {"schedule": "*/5 * * * *"}, "status": {"active": [{}, {}]}}, "*/5 * * * *, 2 active"),
        ("Service", {"spec": {"type": "ClusterIP", "clusterIP": "10.96.0.9", "ports": [{"port": 80}, {"port": 443}]}},
         "ClusterIP 10.96.0.9 port 80, 443"),
        ("Service", {"spec": {"type": "ExternalName"}}, "ExternalName  port"),
        ("EndpointSlice", {"endpoints": None}, "0 of 0 ready"),
        ("EndpointSlice",
         {"endpoints": [{"conditions": {"ready": True}}, {"conditions": {"ready": False}}, {"conditions": None}, {}]},
         "1 of 4 ready"),
        ("ResourceQuota", {}, ""),
        ("ResourceQuota", {"status": {"hard": {"pods": "5", "cpu": "2"}, "used": {"cpu": "500m"}}},
         "pods 0/5, cpu 500m/2"),
        ("PersistentVolumeClaim", {}, ""),
        ("PersistentVolumeClaim", {"status": {"phase": "Bound"}}, "Bound"),
    ],
)  # fmt: skip
def test_an_object_says_first_what_its_owner_would_like_to_know(kind: str, parts: Object, said: str) -> None:
    assert SUMMARIES[kind]({"kind": kind, **parts}) == said


@pytest.mark.parametrize(
    ("node", "status"),
    [
        ({}, "Unknown"),
        ({"status": {"conditions": None}}, "Unknown"),
        ({"status": {"conditions": [{"type": "MemoryPressure", "status": "True"}]}}, "Unknown"),
        ({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, "Ready"),
        ({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, "NotReady"),
        ({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}, "NotReady"),
        ({"spec": {"unschedulable": True}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}},
         "Ready,SchedulingDisabled"),
        ({"spec": {"unschedulable": True}}, "Unknown,SchedulingDisabled"),
    ],
)  # fmt: skip
def test_a_nodes_status_is_what_kubectl_prints(node: Object, status: str) -> None:
    assert node_status(node) == status


def test_a_node_is_shown_with_its_taints() -> None:
    taints = [{"key": "a/b", "effect": "NoSchedule"}, {"key": "c", "value": "d", "effect": "NoExecute"}]
    node = {"metadata": {"uid": "u", "name": "n"}, "spec": {"taints": taints}, "status": {}}
    assert shown_node(node) == {
        "uid": "u", "name": "n", "status": "Unknown", "taints": ["a/b:NoSchedule", "c:NoExecute"],
        "chapter": KINDS["Node"],
    }  # fmt: skip
    assert shown_node({"metadata": {"uid": "u", "name": "n"}})["taints"] == []


def test_only_the_owner_that_manages_an_object_is_above_it() -> None:
    follower, manager = {"uid": "f", "controller": False}, {"uid": "m", "controller": True}
    assert controller_of({"metadata": {"ownerReferences": [follower, manager]}}) == manager
    assert controller_of({"metadata": {"ownerReferences": [follower, {"uid": "g"}]}}) is None
    assert controller_of({"metadata": {}}) is None


def test_older_objects_stand_first_and_equally_old_ones_by_name() -> None:
    def obj(name: str, created: str | None) -> Object:
        return {"metadata": {"name": name} | ({"creationTimestamp": created} if created else {})}

    objects = [obj("c", "2026-01-02"), obj("b", "2026-01-02"), obj("z", "2026-01-01"), obj("y", None)]
    assert [each["metadata"]["name"] for each in in_order(objects)] == ["y", "z", "b", "c"]


def pod(uid: str = "u", *, ready: int = 0, total: int = 1, **status: Any) -> Object:
    statuses = [
        {"name": f"c{i}", "ready": i < ready, "state": {"running": {"startedAt": "2023-11-14T22:13:20Z"}}}
        for i in range(total)
    ]
    return {
        "kind": "Pod",
        "metadata": {"uid": uid, "name": f"pod-{uid}"},
        "spec": {"containers": [{"name": f"c{i}"} for i in range(total)]},
        "status": {"containerStatuses": statuses, **status},
    }


def waiting(reason: str) -> list[Object]:
    return [{"name": "c0", "ready": False, "state": {"waiting": {"reason": reason}}}]


def terminated(code: int, reason: str = "") -> list[Object]:
    return [{"name": "c0", "ready": False, "state": {"terminated": {"exitCode": code, "reason": reason}}}]


@pytest.mark.parametrize(
    ("shown", "state"),
    [
        (pod(phase="Pending", containerStatuses=[]), PodState("Pending", "waiting", "0/1")),
        (pod(phase="Pending", containerStatuses=waiting("ContainerCreating")),
         PodState("ContainerCreating", "creating", "0/1")),
        (pod(phase="Running", ready=1), PodState("Running", "ready", "1/1")),
        (pod(phase="Running", ready=1, total=2), PodState("Running", "unready", "1/2")),
        (pod(phase="Running", containerStatuses=waiting("CrashLoopBackOff")),
         PodState("CrashLoopBackOff", "trouble", "0/1")),
        (pod(phase="Pending", containerStatuses=waiting("ErrImagePull")), PodState("ErrImagePull", "trouble", "0/1")),
        (pod(phase="Pending", containerStatuses=waiting("InvalidImageName")),
         PodState("InvalidImageName", "trouble", "0/1")),
        (pod(phase="Running", containerStatuses=terminated(137, "OOMKilled")), PodState("OOMKilled", "trouble", "0/1")),
        (pod(phase="Failed", containerStatuses=terminated(1, "Error")), PodState("Error", "trouble", "0/1")),
        (pod(phase="Failed", reason="Evicted", containerStatuses=[]), PodState("Evicted", "trouble", "0/1")),
        (pod(phase="Failed", reason="OutOfcpu", containerStatuses=[]), PodState("OutOfcpu", "trouble", "0/1")),
        (pod(phase="Failed", reason="DeadlineExceeded", containerStatuses=[]),
         PodState("DeadlineExceeded", "trouble", "0/1")),
        (pod(phase="Succeeded", containerStatuses=terminated(0, "Completed")), PodState("Completed", "ended", "0/1")),
        (pod(phase="Succeeded", containerStatuses=[]), PodState("Succeeded", "ended", "0/1")),
    ],
)  # fmt: skip
def test_a_pod_looks_as_its_status_column_says_and_one_that_failed_like_trouble(shown: Object, state: PodState) -> None:
    assert pod_state(shown, NOW) == state


def test_a_pod_that_is_being_deleted_looks_so_whatever_it_was() -> None:
    going = pod(phase="Running", ready=1)
    going["metadata"]["deletionTimestamp"] = "2023-11-14T22:13:20Z"
    assert pod_state(going, NOW) == PodState("Terminating", "ending", "1/1")


def test_a_pod_waits_for_its_gates() -> None:
    gated = pod(phase="Pending", containerStatuses=[])
    condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
    gated["status"]["conditions"] = [condition]
    assert pod_state(gated, NOW) == PodState("SchedulingGated", "waiting", "0/1")


def test_a_pod_in_the_tree_names_its_node_and_how_it_looks() -> None:
    shown = shown_object(pod(phase="Running", ready=1), NOW)
    assert shown == {
        "uid": "u", "kind": "Pod", "name": "pod-u", "owner": "", "chapter": KINDS["Pod"],
        "looks": "ready", "summary": "Running 1/1", "node": "",
    }  # fmt: skip
    placed = pod(phase="Running", ready=1)
    placed["spec"]["nodeName"] = "n1"
    assert shown_object(placed, NOW)["node"] == "n1"


def test_what_is_no_pod_looks_like_nothing_and_stands_below_its_owner() -> None:
    owner = {"uid": "o", "controller": True}
    metadata = {"uid": "u", "name": "web", "ownerReferences": [owner]}
    assert shown_object({"kind": "ReplicaSet", "metadata": metadata}, NOW) == {
        "uid": "u", "kind": "ReplicaSet", "name": "web", "owner": "o",
        "chapter": KINDS["ReplicaSet"], "looks": "", "summary": "0/1 ready",
    }  # fmt: skip


def test_a_bar_gets_a_new_piece_only_when_a_pod_looks_different() -> None:
    history = PodHistory("u", "web", "")
    for at, state in enumerate(
        (
            PodState("Pending", "waiting", "0/2"),
            PodState("Pending", "waiting", "1/2"),
            PodState("Running", "unready", "1/2"),
            PodState("Running", "ready", "2/2"),
        )
    ):
        history.saw(float(at), state)
    states = [(0.0, "Pending", "waiting"), (2.0, "Running", "unready"), (3.0, "Running", "ready")]
    assert history.told() == {"uid": "u", "name": "web", "owner": "", "states": states, "end": None}


def test_an_event_says_who_reports_what_about_whom() -> None:
    stream = EventStream()
    stream.append(
        1.5,
        {
            "type": "Warning", "reason": "BackOff", "message": "m", "count": 3,
            "involvedObject": {"kind": "Pod", "name": "web"}, "source": {"component": "kubelet"},
            "reportingComponent": "other",
        },
    )  # fmt: skip
    stream.append(2.5, {"reportingComponent": "default-scheduler", "count": 1, "series": {"count": 7}})
    first, second = stream.since(0)
    assert {**first, "chapter": ""} == {
        "at": 1.5, "type": "Warning", "reason": "BackOff", "about": "Pod/web", "by": "kubelet", "message": "m",
        "count": 3, "chapter": "",
    }  # fmt: skip
    assert {**second, "chapter": ""} == {
        "at": 2.5, "type": "Normal", "reason": "", "about": "/", "by": "default-scheduler", "message": "", "count": 7,
        "chapter": "",
    }  # fmt: skip
    assert stream.since(1) == [second]
    assert stream.since(2) == []


def test_only_the_newest_events_are_kept_and_counting_goes_on() -> None:
    stream = EventStream()
    for number in range(MOST + 3):
        stream.append(float(number), {})
    assert stream.seen == MOST + 3
    assert [event["at"] for event in stream.since(0)] == [float(number) for number in range(3, MOST + 3)]
    assert [event["at"] for event in stream.since(MOST + 1)] == [MOST + 1.0, MOST + 2.0]


async def watched(act: Any) -> Observer:
    """An observer of what `act` did to an API server."""
    api = FakeAPI()
    client = Client(api, "page/v0")
    seer = Observer(client)
    await seer.start()
    try:
        await act(client, seer)
    finally:
        await seer.stop()
    return seer


def test_a_node_that_is_gone_is_news_once_and_a_heartbeat_is_none() -> None:
    async def act(client: Client, seer: Observer) -> None:
        nodes = resource("nodes")
        node = await client.create(nodes, {"metadata": {"name": "n"}})
        await asyncio.sleep(1)
        known = seer.version
        assert [node["name"] for node in seer.picture()["nodes"]] == ["n"]
        node = await client.update(nodes, node | {"metadata": node["metadata"] | {"annotations": {"beat": "1"}}})
        await asyncio.sleep(1)
        assert seer.version == known
        await client.update(nodes, node | {"spec": {"unschedulable": True}})
        await asyncio.sleep(1)
        assert seer.version == known + 1
        await client.delete(nodes, "n")
        await asyncio.sleep(1)
        assert (seer.version, seer.picture()["nodes"]) == (known + 2, [])
        await client.create(nodes, {"metadata": {"name": "n"}, "spec": {"unschedulable": True}})
        await asyncio.sleep(1)
        assert seer.version == known + 3, "a node that comes back is news"

    run_virtual(watched(act))


def test_of_many_pods_the_first_that_ended_make_room_and_none_that_is_there() -> None:
    async def act(client: Client, seer: Observer) -> None:
        pods = resource("pods")
        for number in range(MOST_PODS):
            await client.create(pods, pod(f"{number:03}", phase="Pending"), "ns")
        await asyncio.sleep(1)
        uids = {each.name: uid for uid, each in seer.histories.items()}
        in_turn = [uids[f"pod-{number:03}"] for number in (3, 5, 7)]
        for number in (7, 3, 5):
            await client.delete(pods, f"pod-{number:03}", "ns")
        await asyncio.sleep(1)
        assert [uid for uid, each in seer.histories.items() if each.end is not None] == in_turn
        assert len(seer.histories) == MOST_PODS, "what has ended stays as long as there is room"
        for number in range(MOST_PODS, MOST_PODS + 2):
            await client.create(pods, pod(f"{number:03}", phase="Pending"), "ns")
        await asyncio.sleep(1)
        assert len(seer.histories) == MOST_PODS
        assert [uid for uid, each in seer.histories.items() if each.end is not None] == in_turn[2:]

    run_virtual(watched(act))


def test_who_waits_for_a_change_is_told_when_it_comes_or_when_the_time_is_over() -> None:
    async def act(client: Client, seer: Observer) -> None:
        now = asyncio.get_running_loop().time
        began = now()
        await seer.until_change(30)
        assert now() - began == pytest.approx(30)

        async def later() -> None:
            await asyncio.sleep(4)
            await client.create(resource("pods"), pod(phase="Pending"), "ns")

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(later())
            await seer.until_change(30)
        assert 34 <= now() - began < 36

    run_virtual(watched(act))
