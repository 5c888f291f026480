"""A kubelet, the scheduler or the controllers killed: what the others say, and that nothing is done twice when they are back."""

from __future__ import annotations

import asyncio

from lifecycle.api.resources import resource
from tests.faults.scene import DEPLOYMENTS, PODS, Accident, condition, deployment, happen, pod, ready

WORKER, OTHER = "lifecycle-worker", "lifecycle-worker2"


def taints(node: dict) -> set[tuple[str, str]]:  # type: ignore[type-arg]
    return {(taint["key"], taint["effect"]) for taint in node["spec"].get("taints") or ()}


def named(objects: list, name: str) -> dict:  # type: ignore[type-arg]
    return next(each for each in objects if each["metadata"]["name"] == name)


def test_a_kubelet_that_is_back_in_time_finds_its_pods_running() -> None:
    """40 s of silence: Unknown, and the pods not Ready. Less than 300 s: nobody is evicted, nothing is started again."""

    async def scene(cluster: Accident) -> None:
        await cluster.user.create(DEPLOYMENTS, deployment(4), "default")
        before = {each["metadata"]["uid"]: each for each in await cluster.until("pods", lambda pods: ready(pods) == 4)}
        here = {uid for uid, each in before.items() if each["spec"]["nodeName"] == WORKER}
        assert 0 < len(here) < 4
        at = cluster.clock.now()
        await cluster.kill(f"kubelet {WORKER}")
        nodes = await cluster.until(
            "nodes", lambda found: condition(named(found, WORKER), "Ready")["status"] == "Unknown"
        )
        assert 40 <= cluster.clock.now() - at <= 60
        unknown = condition(named(nodes, WORKER), "Ready")
        assert (unknown["reason"], unknown["message"]) == ("NodeStatusUnknown", "Kubelet stopped posting node status.")
        nodes = await cluster.until("nodes", lambda found: len(taints(named(found, WORKER))) == 2)
        unreachable = "node.kubernetes.io/unreachable"
        assert taints(named(nodes, WORKER)) == {(unreachable, "NoSchedule"), (unreachable, "NoExecute")}
        pods = await cluster.until("pods", lambda found: ready(found) == 4 - len(here))
        assert {each["metadata"]["uid"] for each in pods if condition(each, "Ready")["status"] == "False"} == here
        assert ("Normal", "NodeNotReady", f"Node {WORKER} status is now: NodeNotReady") in {
            event[:3] for event in await _node_events(cluster, WORKER)
        }
        assert any(
            event[:3] == ("Warning", "NodeNotReady", "Node is not ready") for event in await cluster.events("web")
        )
        (slow,) = await cluster.items("deployments.apps")
        assert slow["status"]["availableReplicas"] == 4 - len(here)
        await asyncio.sleep(100)
        cluster.restart_kubelet(WORKER)
        after = await cluster.until("pods", lambda found: ready(found) == 4, seconds=60)
        assert {each["metadata"]["uid"] for each in after} == set(before)
        for each in after:
            old = before[each["metadata"]["uid"]]["status"]["containerStatuses"][0]
            new = each["status"]["containerStatuses"][0]
            assert (new["containerID"], new["restartCount"]) == (old["containerID"], 0)
        nodes = await cluster.until("nodes", lambda found: not taints(named(found, WORKER)), seconds=60)
        assert condition(named(nodes, WORKER), "Ready")["reason"] == "KubeletReady"
        await asyncio.sleep(600)  # the eviction that was under way is off
        assert set(await cluster.pods()) == set(before)

    happen(scene, nodes=3)


def test_a_kubelet_that_stays_away_loses_its_pods_and_cleans_up_when_it_returns() -> None:
    async def scene(cluster: Accident) -> None:
        await cluster.user.create(DEPLOYMENTS, deployment(4), "default")
        before = {each["metadata"]["uid"]: each for each in await cluster.until("pods", lambda pods: ready(pods) == 4)}
        here = {uid for uid, each in before.items() if each["spec"]["nodeName"] == WORKER}
        at = cluster.clock.now()
        await cluster.kill(f"kubelet {WORKER}")
        pods = await cluster.until("pods", lambda found: ready(found) == 4 and len(found) == 4 + len(here))
        assert 340 <= cluster.clock.now() - at <= 380  # 40 s until it is missed, 300 s that every pod tolerates
        leaving = {each["metadata"]["uid"] for each in pods if "deletionTimestamp" in each["metadata"]}
        assert leaving == here  # deleted, but only the kubelet can say that they are gone
        assert {each["spec"]["nodeName"] for each in pods if each["metadata"]["uid"] not in here} == {OTHER}
        for each in pods:
            if each["metadata"]["uid"] in here:
                disrupted = condition(each, "DisruptionTarget")
                assert (disrupted["status"], disrupted["reason"]) == ("True", "DeletionByTaintManager")
                assert disrupted["message"] == "Taint manager: deleting due to NoExecute taint"
        evictions = await cluster.events("web", "TaintManagerEviction")
        assert len(evictions) == len(here)
        assert all(message.startswith("Marking for deletion Pod default/web-") for _, _, message, _ in evictions)
        await asyncio.sleep(3600)
        assert len(await cluster.pods()) == 4 + len(here)
        running = cluster.runtimes[WORKER]
        assert len(await running.list_pod_sandbox()) >= len(here)
        cluster.restart_kubelet(WORKER)
        after = await cluster.until("pods", lambda found: len(found) == 4, seconds=120)
        assert ready(after) == 4
        assert not here & {each["metadata"]["uid"] for each in after}
        await asyncio.sleep(120)
        assert not {box.metadata.uid for box in await running.list_pod_sandbox() if box.state == 0} & here

    happen(scene, nodes=3)


def test_controllers_that_die_in_the_middle_of_a_rollout_are_continued_not_repeated() -> None:
    async def scene(cluster: Accident) -> None:
        await cluster.user.create(DEPLOYMENTS, deployment(6), "default")
        await cluster.until("pods", lambda pods: ready(pods) == 6)
        patch = {"spec": {"template": {"metadata": {"annotations": {"again": "1"}}}}}
        await cluster.user.patch(DEPLOYMENTS, "web", "default", patch)
        await cluster.until(
            "replicasets.apps",
            lambda found: len(found) == 2 and any(0 < each["spec"]["replicas"] < 6 for each in found),
        )
        await cluster.kill("controllers")
        await asyncio.sleep(60)
        between = await cluster.items("replicasets.apps")
        assert len(between) == 2
        await cluster.user.delete(PODS, (await cluster.items("pods"))[0]["metadata"]["name"], "default")
        cluster.start_controllers()
        await cluster.until(
            "deployments.apps",
            lambda found: {found[0]["status"].get(f"{each}eplicas") for each in ("r", "updatedR", "availableR")} == {6},
            seconds=300,
        )
        after = await cluster.items("replicasets.apps")
        assert {each["metadata"]["uid"] for each in after} == {each["metadata"]["uid"] for each in between}
        assert sorted(each["spec"]["replicas"] for each in after) == [0, 6]
        await cluster.until("pods", lambda pods: len(pods) == ready(pods) == 6)

    happen(scene, nodes=3)


def test_the_second_controller_manager_takes_over_when_the_leader_dies() -> None:
    """At most one works at any time, and what the dead one has begun is not begun again."""

    async def scene(cluster: Accident) -> None:
        await cluster.kill("controllers")
        cluster.start_controllers("one")
        await asyncio.sleep(1)
        cluster.start_controllers("two")
        await cluster.user.create(DEPLOYMENTS, deployment(3), "default")
        first = {each["metadata"]["uid"] for each in await cluster.until("pods", lambda pods: ready(pods) == 3)}
        assert await _holder(cluster) == ("one", 0)
        await cluster.kill("one")
        await cluster.user.patch(DEPLOYMENTS, "web", "default", {"spec": {"replicas": 5}})
        at = cluster.clock.now()
        after = await cluster.until("pods", lambda pods: ready(pods) == 5, seconds=60)
        assert 10 <= cluster.clock.now() - at <= 25
        assert first < {each["metadata"]["uid"] for each in after}
        assert await _holder(cluster) == ("two", 1)
        assert len(await cluster.items("replicasets.apps")) == 1
        await asyncio.sleep(60)
        assert len(await cluster.pods()) == 5

    happen(scene, nodes=3)


def test_without_a_scheduler_pods_wait_and_are_bound_once_when_it_is_back() -> None:
    async def scene(cluster: Accident) -> None:
        await cluster.kill("scheduler")
        await cluster.user.create(PODS, pod("waits"), "default")
        await asyncio.sleep(120)
        waiting = await cluster.pod("waits")
        assert "nodeName" not in waiting["spec"]
        assert waiting["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
        assert await cluster.events("waits") == []
        cluster.start_scheduler()
        await cluster.until("pods", ready, seconds=60)
        assert len(cluster.requests("kube-scheduler", "POST", "/binding")) == 1
        assert [event[1] for event in await cluster.events("waits")] == ["Scheduled", "Pulled", "Created", "Started"]

    happen(scene)


async def _node_events(cluster: Accident, name: str) -> list[tuple[str, str, str, int]]:
    listed = await cluster.user.list(resource("events"), "default")
    return [
        (event["type"], event["reason"], event["message"], event.get("count") or 1)
        for event in listed["items"]
        if event["involvedObject"]["name"] == name
    ]


async def _holder(cluster: Accident) -> tuple[str, int]:
    lease = await cluster.user.get(resource("leases.coordination.k8s.io"), "kube-controller-manager", "kube-system")
    return lease["spec"]["holderIdentity"], lease["spec"]["leaseTransitions"]
