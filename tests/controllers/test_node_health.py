"""A node falls silent, is given up, and comes back: the whole chain on virtual time."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.resources import resource
from lifecycle.api.wire import Object
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.controllers.manager import ControllerManager
from lifecycle.controllers.node_lifecycle.health import first_health, unknown_conditions
from lifecycle.controllers.node_lifecycle.zones import ZoneQueue, ZoneState, compute_zone_state, eviction_rate
from lifecycle.controllers.pod_readiness import get_condition
from lifecycle.controllers.taint_eviction.taint_eviction_controller import patience

NODES = resource("nodes")


async def kill(cluster: RehearsedCluster, name: str) -> None:
    task = next(task for task in cluster._tasks if task.get_name() == name)
    cluster._tasks.remove(task)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def node(cluster: RehearsedCluster, name: str) -> Object:
    return next(n for n in await cluster.items("nodes", "") if n["metadata"]["name"] == name)


def taints(node: Object) -> list[str]:
    return [f"{t['key'].partition('/')[2]}:{t['effect']}" for t in node["spec"].get("taints") or ()]


async def deploy(cluster: RehearsedCluster, **spec: Any) -> None:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "nginx:1.27"}], **spec}}
    body = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    deployment = {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web"}, "spec": body}
    await cluster.client("test").create(resource("deployments.apps"), deployment, "default")
    await asyncio.sleep(10)


def test_a_dead_kubelet_is_noticed_its_pods_are_replaced_and_it_may_come_back() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        await deploy(cluster)
        shape = next(pod for pod in await cluster.items("pods"))["spec"]["nodeName"]
        await kill(cluster, f"kubelet {shape}")
        await asyncio.sleep(39)
        assert (await node(cluster, shape))["spec"].get("taints") is None  # the last lease may be 10 s old
        await asyncio.sleep(27)
        silent = await node(cluster, shape)
        ready = get_condition(silent, "Ready")
        assert ready is not None
        assert (ready["status"], ready["reason"]) == ("Unknown", "NodeStatusUnknown")
        assert ready["message"] == "Kubelet stopped posting node status."
        assert taints(silent) == ["unreachable:NoSchedule", "unreachable:NoExecute"]
        pods = [p for p in await cluster.items("pods") if p["spec"]["nodeName"] == shape]
        assert all((get_condition(p, "Ready") or {})["status"] == "False" for p in pods)
        assert not any("deletionTimestamp" in p["metadata"] for p in pods)  # five minutes of patience
        await asyncio.sleep(305)
        pods = await cluster.items("pods")
        here = [p for p in pods if p["spec"]["nodeName"] == shape]
        assert here
        assert all("deletionTimestamp" in p["metadata"] for p in here)
        told = get_condition(here[0], "DisruptionTarget")
        assert told is not None
        assert told["reason"] == "DeletionByTaintManager"
        others = [p for p in pods if p["spec"]["nodeName"] != shape and p["status"]["phase"] == "Running"]
        assert len(others) == 2
        events = {e["reason"] for e in await cluster.items("events")}
        assert {"NodeNotReady", "TaintManagerEviction"} <= events
        cluster._run(f"kubelet {shape}", cluster.kubelets[shape].run)
        await asyncio.sleep(60)
        back = await node(cluster, shape)
        assert taints(back) == []
        assert (get_condition(back, "Ready") or {})["status"] == "True"
        assert not [p for p in await cluster.items("pods") if p["spec"]["nodeName"] == shape]

    rehearse(scene)


def test_a_kubelet_back_in_time_costs_no_pod() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        await deploy(cluster)
        before = {p["metadata"]["uid"] for p in await cluster.items("pods")}
        name = "lifecycle-worker"
        await kill(cluster, f"kubelet {name}")
        await asyncio.sleep(120)
        assert "unreachable:NoExecute" in taints(await node(cluster, name))
        cluster._run(f"kubelet {name}", cluster.kubelets[name].run)
        await asyncio.sleep(400)
        assert taints(await node(cluster, name)) == []
        assert {p["metadata"]["uid"] for p in await cluster.items("pods")} == before

    rehearse(scene)


def test_controllers_killed_and_restarted_give_every_node_a_fresh_grace_period() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        await kill(cluster, "kubelet lifecycle-worker")
        await asyncio.sleep(30)
        await kill(cluster, "controllers")
        await asyncio.sleep(600)
        assert taints(await node(cluster, "lifecycle-worker")) == []  # nobody looked
        manager = ControllerManager(
            cluster.client("kube-controller-manager"), clock=cluster.clock, names=cluster.names,
            client_for=cluster._controller_client,
        )  # fmt: skip
        cluster._run("controllers again", manager.run)
        await asyncio.sleep(45)
        assert taints(await node(cluster, "lifecycle-worker")) == []
        await asyncio.sleep(25)
        assert "unreachable:NoSchedule" in taints(await node(cluster, "lifecycle-worker"))

    rehearse(scene)


def test_when_everybody_is_silent_it_is_the_control_plane_that_is_cut_off() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        for name in list(cluster.kubelets):
            await kill(cluster, f"kubelet {name}")
        await asyncio.sleep(900)
        for found in await cluster.items("nodes", ""):
            assert not any(t.endswith("NoExecute") for t in taints(found))

    rehearse(scene)


def test_pods_of_a_node_that_is_deleted_are_cleared_away() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        await deploy(cluster)
        name = "lifecycle-worker"
        await kill(cluster, f"kubelet {name}")
        await cluster.client("test").delete(NODES, name)
        await asyncio.sleep(90)
        pods = await cluster.items("pods")
        assert {p["spec"]["nodeName"] for p in pods} == {"lifecycle-worker2"}
        assert len(pods) == 2

    rehearse(scene)


@pytest.mark.parametrize(
    ("ready", "state"),
    [
        ([True, True, False], ZoneState.NORMAL),
        ([True, False, False, False], ZoneState.PARTIAL_DISRUPTION),
        ([True, False, False], ZoneState.NORMAL),  # two are too few to tell
        ([False, False], ZoneState.FULL_DISRUPTION),
    ],
)
def test_the_state_of_a_zone(ready: list[bool], state: ZoneState) -> None:
    assert compute_zone_state(ready) is state


def test_a_partly_silent_zone_slows_down_and_a_small_one_stops() -> None:
    assert eviction_rate(ZoneState.NORMAL, 10) == 0.1
    assert eviction_rate(ZoneState.PARTIAL_DISRUPTION, 51) == 0.01
    assert eviction_rate(ZoneState.PARTIAL_DISRUPTION, 50) == 0.0


@given(st.lists(st.sampled_from("abcdef"), max_size=20), st.sampled_from([0.0, 0.01, 0.1]))
def test_a_queue_never_lets_two_go_within_one_period(names: list[str], qps: float) -> None:
    queue = ZoneQueue(qps)
    for name in names:
        queue.add(name)
    gone, now = [], 0.0
    for _ in range(100):
        name = queue.take(now)
        if name is not None:
            gone.append((now, name))
        now += 5.0
    times = [at for at, _ in gone]
    assert all(b - a >= 1 / qps for a, b in itertools.pairwise(times))
    assert len({name for _, name in gone}) == len(gone)
    assert qps or not gone


def test_a_node_that_never_said_a_word_gets_a_minute_and_then_other_words() -> None:
    silent = {"metadata": {"name": "n", "creationTimestamp": "2027-01-01T00:00:00Z"}, "status": {}}
    start = 1798761600.0
    health = first_health(silent, start + 30)
    health.observe(silent, None, start + 30)
    assert not health.overdue(silent, start + 60)
    assert health.overdue(silent, start + 61)
    conditions = unknown_conditions(silent, start + 61)
    assert conditions is not None
    assert {c["reason"] for c in conditions} == {"NodeStatusNeverUpdated"}
    assert unknown_conditions({**silent, "status": {"conditions": conditions}}, start + 99) is None


def test_patience_is_that_of_the_least_patient_toleration() -> None:
    taint = {"key": "a", "effect": "NoExecute"}
    other = {"key": "b", "effect": "NoExecute"}
    for_ever = {"key": "a", "operator": "Exists"}
    a_while = {"key": "b", "operator": "Exists", "tolerationSeconds": 30}
    assert patience([], [taint]) == 0
    assert patience([for_ever], [taint]) is None
    assert patience([for_ever], [taint, other]) == 0
    assert patience([for_ever, a_while], [taint, other]) == 30
