"""Nodes that fall silent, with nobody else there: what is said of them, how fast they are given up, and when it is all taken back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.controllers.alone import Alone, alone, refusing

from lifecycle.api.conditions import get_condition
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time, run_virtual
from lifecycle.api.resources import resource
from lifecycle.controllers.node_lifecycle.health import (
    HEARTBEAT_CONDITIONS,
    NodeHealth,
    first_health,
    unknown_conditions,
)
from lifecycle.controllers.node_lifecycle.node_lifecycle_controller import NodeLifecycleController
from lifecycle.controllers.node_lifecycle.zones import ZoneState, compute_zone_state, zone_key

NODES, PODS, LEASES = (resource(name) for name in ("nodes", "pods", "leases.coordination.k8s.io"))
NOW = VIRTUAL_EPOCH
STAMP = format_time(NOW)


def node(
    name: str = "a", *, ready: str = "True", zone: str = "", labels: Object | None = None, **spec: Any
) -> tuple[str, Object]:
    """`ready` empty: it never said a word."""
    labels = {**(labels or {}), **({"topology.kubernetes.io/zone": zone} if zone else {})}
    condition = {"type": "Ready", "status": ready, "lastHeartbeatTime": STAMP, "lastTransitionTime": STAMP}
    status = {"conditions": [condition] if ready else []}
    return "nodes", {"metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}


def pod(name: str, on: str = "a", ready: str = "True") -> tuple[str, Object]:
    conditions = [
        {"type": "Ready", "status": ready, "lastTransitionTime": STAMP},
        {"type": "Initialized", "status": "True"},
    ]
    status = {"phase": "Running", "conditions": conditions}
    return "pods", {"metadata": {"name": name, "namespace": "ns"}, "spec": {"nodeName": on}, "status": status}


def lease(name: str, renewed: str) -> tuple[str, Object]:
    return "leases.coordination.k8s.io", {
        "metadata": {"name": name, "namespace": "kube-node-lease"},
        "spec": {"renewTime": renewed},
    }


def taints(stage: Alone, effect: str = "NoExecute") -> dict[str, list[str]]:
    found = {each["metadata"]["name"]: each["spec"].get("taints") or () for each in stage.items("nodes")}
    return {name: [t["key"].partition("/")[2] for t in of if t["effect"] == effect] for name, of in found.items()}


async def beat(stage: Alone, *names: str, ready: str = "True") -> None:
    """These say that they are there."""
    for name in names:
        body = await stage.client.get(NODES, name, "")
        condition = {"type": "Ready", "status": ready, "lastHeartbeatTime": stage.api.clock.timestamp()}
        await stage.client.update(NODES, {**body, "status": {"conditions": [condition]}}, subresource="status")
    await asyncio.sleep(0.1)


# Is it silent?


@pytest.mark.parametrize(
    ("heartbeats", "leases", "seen_at"),
    [
        ([], [], 0),
        (["t1", "t1"], [], 0),  # the first look says nothing of when it was
        (["t1", "t2"], [], 2),
        (["t2", "t1"], [], 2),  # another one is a sign of life, whatever its clock says
        (["t1", "t1"], ["r1", "r1"], 1),
        (["t1", "t1", "t1"], ["r1", "r1", "r2"], 3),
        (["t1", "t1"], ["r2", "r1"], 1),  # back in time is none
        (["t1", "t2", "t2"], ["r1", "r1", "r1"], 2),
    ],
)
def test_when_a_node_was_last_heard_of(heartbeats: list[str], leases: list[str], seen_at: int) -> None:
    health = NodeHealth(0.0, heartbeat="t1" if heartbeats else None, seen=bool(heartbeats))
    _, body = node()
    for at, heartbeat in enumerate(heartbeats, 1):
        body["status"]["conditions"][0]["lastHeartbeatTime"] = heartbeat
        renewed = lease("a", leases[at - 1])[1] if leases else None
        health.observe(body, renewed, float(at))
    assert health.probe_timestamp == seen_at


def test_how_long_a_node_may_be_silent() -> None:
    _, spoken = node()
    _, mute = node(ready="")
    mute["metadata"]["creationTimestamp"] = format_time(NOW - 10)
    spoken["metadata"]["creationTimestamp"] = format_time(NOW - 10)
    for body, begin, patience in ((spoken, NOW, 50), (mute, NOW - 10, 60)):
        health = first_health(body, NOW)
        assert health.probe_timestamp == begin
        assert not health.overdue(body, begin + patience)
        assert health.overdue(body, begin + patience + 0.1)
    del mute["metadata"]["creationTimestamp"]
    assert first_health(mute, NOW).probe_timestamp == NOW


def test_what_is_said_of_a_silent_node() -> None:
    _, body = node()
    body["metadata"]["creationTimestamp"] = "created"
    other = {"type": "NetworkUnavailable", "status": "False"}
    pressed = {"type": "MemoryPressure", "status": "Unknown", "reason": "Before"}
    body["status"]["conditions"] += [other, pressed]
    found = {c["type"]: c for c in unknown_conditions(body, NOW + 60) or ()}
    assert list(found) == ["Ready", "NetworkUnavailable", "MemoryPressure", "DiskPressure", "PIDPressure"]
    assert found["Ready"] == {
        "type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "lastHeartbeatTime": STAMP,
        "message": "Kubelet stopped posting node status.", "lastTransitionTime": format_time(NOW + 60),
    }  # fmt: skip
    assert (found["NetworkUnavailable"], found["MemoryPressure"]) == (other, pressed)
    for kind in ("DiskPressure", "PIDPressure"):
        assert found[kind] == {
            "type": kind, "status": "Unknown", "reason": "NodeStatusNeverUpdated", "lastHeartbeatTime": "created",
            "message": "Kubelet never posted node status.", "lastTransitionTime": format_time(NOW + 60),
        }  # fmt: skip
    assert unknown_conditions({**body, "status": {"conditions": list(found.values())}}, NOW + 90) is None
    assert set(HEARTBEAT_CONDITIONS) == set(found) - {"NetworkUnavailable"}


# Whole zones.


@pytest.mark.parametrize(
    ("labels", "key"),
    [
        ({}, ""),
        ({"topology.kubernetes.io/region": "r", "topology.kubernetes.io/zone": "z"}, "r:\0:z"),
        ({"topology.kubernetes.io/region": "r"}, "r:\0:"),
        ({"topology.kubernetes.io/zone": "z"}, ":\0:z"),
        ({"failure-domain.beta.kubernetes.io/region": "r", "failure-domain.beta.kubernetes.io/zone": "z"}, "r:\0:z"),
        ({"topology.kubernetes.io/zone": "new", "failure-domain.beta.kubernetes.io/zone": "old"}, ":\0:new"),
        ({"kubernetes.io/hostname": "z"}, ""),
    ],
)
def test_a_zone_is_known_by_its_labels(labels: dict[str, str], key: str) -> None:
    assert zone_key({"metadata": {"labels": labels}}) == key
    assert zone_key({"metadata": {}}) == ""


@pytest.mark.parametrize(
    ("well", "silent", "state"),
    [
        (0, 0, ZoneState.NORMAL),
        (1, 0, ZoneState.NORMAL),
        (0, 1, ZoneState.FULL_DISRUPTION),
        (1, 2, ZoneState.NORMAL),
        (2, 3, ZoneState.PARTIAL_DISRUPTION),
        (9, 11, ZoneState.PARTIAL_DISRUPTION),  # just 55 %
        (46, 54, ZoneState.NORMAL),
        (3, 3, ZoneState.NORMAL),
    ],
)
def test_how_much_of_a_zone_is_silent(well: int, silent: int, state: ZoneState) -> None:
    assert compute_zone_state([True] * well + [False] * silent) is state


# The controller.


def test_one_of_two_that_falls_silent_is_marked_and_given_up_and_its_pods_are_no_endpoints() -> None:
    async def main() -> None:
        objects = node("a"), node("b"), pod("p"), pod("q", ready="False"), pod("r", "b")
        async with alone(NodeLifecycleController, *objects) as stage:
            for _ in range(5):
                await asyncio.sleep(10)
                await beat(stage, "b")
            assert [body for _, method, _, body in stage.api.log if method == "PATCH"] == []
            await asyncio.sleep(12)
            await beat(stage, "b")
            status = {each["metadata"]["name"]: get_condition(each, "Ready") for each in stage.items("nodes")}
            assert (status["a"] or {})["status"] == "Unknown"
            assert (status["b"] or {})["status"] == "True"
            assert taints(stage) == {"a": ["unreachable"], "b": []}
            assert taints(stage, "NoSchedule") == {"a": ["unreachable"], "b": []}
            ((_, _, path, body),) = [each for each in stage.api.log if "/pods/" in each[2]]
            assert path == "/api/v1/namespaces/ns/pods/p/status"
            assert body["metadata"] == {"uid": "p"}
            (condition,) = body["status"]["conditions"]
            assert (condition["type"], condition["status"]) == ("Ready", "False")
            told = [(e["reason"], e["message"]) for e in stage.items("events") if "NotReady" in e["reason"]]
            assert sorted(told) == [
                ("NodeNotReady", "Node a status is now: NodeNotReady"),
                ("NodeNotReady", "Node is not ready"),
            ]

    run_virtual(main())


def test_a_pod_that_could_not_be_marked_is_tried_again_and_one_that_is_gone_is_not() -> None:
    async def main() -> None:
        objects = node("a"), node("b"), pod("p")
        async with alone(NodeLifecycleController, *objects, refuse=refusing("PATCH", "/pods/p/status")) as stage:
            for _ in range(7):
                await asyncio.sleep(10)
                await beat(stage, "b")
            tries = sum("/pods/p" in path for _, _, path, _ in stage.api.log)
            assert tries >= 2
            stage.api.refuse = lambda request: None
            await asyncio.sleep(6)
            ready = get_condition(stage.items("pods")[0], "Ready")
            assert (ready or {})["status"] == "False"
            tries = sum("/pods/p" in path for _, _, path, _ in stage.api.log)
            await beat(stage, "b")
            await asyncio.sleep(20)
            assert sum("/pods/p" in path for _, _, path, _ in stage.api.log) == tries

    run_virtual(main())


def test_a_zone_gives_up_one_node_in_ten_seconds_each_zone_for_itself() -> None:
    async def main() -> None:
        objects = [node(f"{zone}{n}", ready="False" if n else "True", zone=zone) for zone in "xy" for n in range(3)]
        async with alone(NodeLifecycleController, *objects) as stage:
            seen = []
            for _ in range(5):
                await beat(stage, "x0", "y0")
                seen.append(sum(map(len, taints(stage).values())))
                await asyncio.sleep(4.9)
            assert seen[0] == 2
            assert seen[-1] == 4
            assert all(count % 2 == 0 for count in seen)
            assert seen.index(4) >= 2

    run_virtual(main())


def test_who_is_well_again_is_not_given_up_and_who_was_is_taken_back() -> None:
    async def main() -> None:
        objects = node("a", ready="False"), node("b", ready="False"), node("c")
        async with alone(NodeLifecycleController, *objects) as stage:
            await asyncio.sleep(1)
            (first,) = [name for name, keys in taints(stage).items() if keys]
            (second,) = {"a", "b"} - {first}
            await beat(stage, second)
            await asyncio.sleep(20)
            assert taints(stage)[second] == []
            assert taints(stage)[first] == ["not-ready"]
            await beat(stage, first)
            assert taints(stage) == {"a": [], "b": [], "c": []}

    run_virtual(main())


def test_when_all_are_silent_nobody_is_given_up_and_when_one_speaks_the_others_get_their_time_again() -> None:
    async def main() -> None:
        objects = node("a"), node("b"), node("c", labels={"node.kubernetes.io/exclude-disruption": "true"})
        async with alone(NodeLifecycleController, *objects) as stage:
            for _ in range(7):
                await asyncio.sleep(10)
                await beat(stage, "c")  # who does not count for this is no witness that the rest can be heard
            assert taints(stage) == {"a": [], "b": [], "c": []}
            assert taints(stage, "NoSchedule")["a"] == ["unreachable"]
            assert list(stage.controller.zone_states.values()) == [ZoneState.FULL_DISRUPTION]
            await beat(stage, "b", "c")
            for _ in range(4):
                await asyncio.sleep(10)
                await beat(stage, "b", "c")
            assert list(stage.controller.zone_states.values()) == [ZoneState.NORMAL]

    run_virtual(main())


def test_of_a_node_that_goes_nothing_is_kept() -> None:
    async def main() -> None:
        async with alone(NodeLifecycleController, node("a", ready="False"), node("b")) as stage:
            await asyncio.sleep(6)
            await stage.client.delete(NODES, "a", "")
            await asyncio.sleep(6)
            controller = stage.controller
            assert set(controller._health) == {"b"}
            assert controller._may_taint == set()
            assert all(len(queue) == 0 for queue in controller._zones.values())

    run_virtual(main())
