"""A node falls silent, is given up, and comes back: the whole chain on virtual time."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.conditions import get_condition
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.controllers.manager import ControllerManager
from lifecycle.controllers.node_lifecycle.health import first_health, unknown_conditions
from lifecycle.controllers.node_lifecycle.zones import ZoneQueue, ZoneState, compute_zone_state, eviction_rate
from lifecycle.controllers.pod_conditions import disruption_target
from lifecycle.controllers.taint_eviction.taint_eviction_controller import patience

NODES = resource("nodes")


async def kill(cluster: RehearsedCluster, name: str) -> None:
    await cluster.stop_component(name)


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
        assert told["message"] == "Taint manager: deleting due to NoExecute taint"
        assert (told["observedGeneration"], told["lastProbeTime"]) == (1, None)
        others = [p for p in pods if p["spec"]["nodeName"] != shape and p["status"]["phase"] == "Running"]
        assert len(others) == 2
        events = {e["reason"] for e in await cluster.items("events")}
        assert {"NodeNotReady", "TaintManagerEviction"} <= events
        cluster.supervisor.run(f"kubelet {shape}", cluster.kubelets[shape].run)
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
        cluster.supervisor.run(f"kubelet {name}", cluster.kubelets[name].run)
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
        cluster.supervisor.run("controllers again", manager.run)
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


def test_a_condition_moves_only_if_it_says_something_else() -> None:
    pod: Object = {"metadata": {"generation": 2}, "status": {}}
    first = disruption_target(pod, "DeletionByPodGC", "why", "2027-01-01T00:00:00Z")
    assert first is not None
    assert (first["lastTransitionTime"], first["observedGeneration"]) == ("2027-01-01T00:00:00Z", 2)
    pod["status"]["conditions"] = [first]
    assert disruption_target(pod, "DeletionByPodGC", "why", "2027-01-02T00:00:00Z") is None
    second = disruption_target(pod, "DeletionByTaintManager", "why", "2027-01-02T00:00:00Z")
    assert second is not None
    assert second["lastTransitionTime"] == "2027-01-01T00:00:00Z"  # it was true before, for another reason


def test_an_eviction_is_called_off_and_what_was_decided_first_stands() -> None:
    """Each line of what happens to a pod is told, of the pod by its name only."""

    async def scene(cluster: RehearsedCluster) -> None:
        client, pods = cluster.client("test"), resource("pods")

        async def taint(*keys: str) -> None:
            taints = [{"key": key, "effect": "NoExecute"} for key in keys]
            await client.patch(NODES, "lifecycle-worker", "", {"spec": {"taints": taints or None}})
            await asyncio.sleep(2)

        def tolerates(*limits: tuple[str, int | None]) -> list[Object]:
            plain = [{"key": key, "operator": "Exists", "effect": "NoExecute"} for key, _ in limits]
            times = [{} if seconds is None else {"tolerationSeconds": seconds} for _, seconds in limits]
            return [{**each, **more} for each, more in zip(plain, times)]

        for name, tolerations in (
            ("never", tolerates(("a", None), ("b", None))),
            ("now", []),
            ("later", tolerates(("a", 60))),
            ("shorter", tolerates(("a", 60), ("b", 10))),
            ("gone", tolerates(("a", 60), ("b", 60))),
        ):
            containers = [{"name": "c", "image": "nginx:1.27"}]
            spec = {"nodeName": "lifecycle-worker", "containers": containers, "tolerations": tolerations}
            await client.create(pods, {"kind": "Pod", "metadata": {"name": name}, "spec": spec}, "default")
        await asyncio.sleep(10)
        await taint("a")
        assert {p["metadata"]["name"] for p in await cluster.items("pods")} == {"never", "later", "shorter", "gone"}
        await client.delete(pods, "gone", "default", grace_period=0)
        await taint("a", "b")
        assert {p["metadata"]["name"] for p in await cluster.items("pods")} == {"never", "shorter"}
        await asyncio.sleep(20)  # ten seconds would be over, but sixty were given before
        assert {p["metadata"]["name"] for p in await cluster.items("pods")} == {"never", "shorter"}
        await taint()
        events = [e for e in await cluster.items("events") if e["reason"] == "TaintManagerEviction"]
        assert sorted(e["message"] for e in events) == [
            "Cancelling deletion of Pod default/gone",
            "Cancelling deletion of Pod default/later",
            "Cancelling deletion of Pod default/shorter",
            "Marking for deletion Pod default/later",
            "Marking for deletion Pod default/now",
        ]
        assert all(set(e["involvedObject"]) == {"kind", "apiVersion", "namespace", "name"} for e in events)
        assert {e["source"]["component"] for e in events} == {"taint-eviction-controller"}

    rehearse(scene)


def test_pods_that_end_on_a_node_out_of_service_are_removed_once_the_node_is_not_ready() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        await deploy(cluster, tolerations=[{"operator": "Exists"}])
        name = "lifecycle-worker"
        await kill(cluster, f"kubelet {name}")
        client = cluster.client("test")
        out = [{"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}]
        await client.patch(NODES, name, "", {"spec": {"taints": out}})
        here = [p["metadata"]["name"] for p in await cluster.items("pods") if p["spec"]["nodeName"] == name]
        assert here
        for pod in here:
            await client.delete(resource("pods"), pod, "default")
        await asyncio.sleep(30)
        assert {p["metadata"]["name"] for p in await cluster.items("pods")} >= set(here)  # its kubelet may still do it
        await asyncio.sleep(60)
        assert not {p["metadata"]["name"] for p in await cluster.items("pods")} & set(here)

    rehearse(scene)
