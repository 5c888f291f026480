"""No quota left, no node with room: who says so, in which words, and what happens when there is some again."""

from __future__ import annotations

import re

import pytest

from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.cluster.nodes import kind_nodes
from tests.faults.scene import DEPLOYMENTS, NODES, PODS, Accident, condition, deployment, happen, pod, ready

QUOTAS = resource("resourcequotas")


def quota(pods: int) -> dict:  # type: ignore[type-arg]
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q"},
        "spec": {"hard": {"pods": str(pods)}},
    }


def test_a_pod_beyond_the_quota_is_forbidden_with_figures() -> None:
    async def scene(cluster: Accident) -> None:
        await cluster.user.create(QUOTAS, quota(1), "default")
        await cluster.until("resourcequotas", lambda found: (found[0].get("status") or {}).get("hard"))
        await cluster.user.create(PODS, pod("one"), "default")
        with pytest.raises(StatusError) as refused:
            await cluster.user.create(PODS, pod("two"), "default")
        status = refused.value
        assert (status.code, status.reason) == (403, "Forbidden")
        assert (
            status.message
            == 'pods "two" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1'
        )
        await cluster.user.delete(PODS, "one", "default", grace_period=0)
        await cluster.until("resourcequotas", lambda found: found[0]["status"]["used"] == {"pods": "0"}, seconds=5)
        await cluster.user.create(PODS, pod("two"), "default")

    happen(scene)


def test_a_deployment_beyond_the_quota_says_so_and_goes_on_when_it_is_raised() -> None:
    async def scene(cluster: Accident) -> None:
        await cluster.user.create(QUOTAS, quota(2), "default")
        await cluster.until("resourcequotas", lambda found: (found[0].get("status") or {}).get("hard"))
        await cluster.user.create(DEPLOYMENTS, deployment(3), "default")
        (short,) = await cluster.until(
            "deployments.apps", lambda found: condition(found[0], "ReplicaFailure")["status"] == "True"
        )
        why = (
            r'pods "(web-[a-z0-9]+-[a-z0-9]{5})" is forbidden: exceeded quota: q, '
            r"requested: pods=1, used: pods=2, limited: pods=2"
        )
        failure = condition(short, "ReplicaFailure")
        assert failure["reason"] == "FailedCreate"
        assert re.fullmatch(why, failure["message"])
        events = await cluster.events("web", "FailedCreate")
        assert events
        for kind, _, message, _ in events:
            assert kind == "Warning"
            assert re.fullmatch(f"Error creating: {why}", message)
        await cluster.until("pods", lambda pods: ready(pods) == 2)
        await cluster.until("replicasets.apps", lambda found: found[0]["status"].get("readyReplicas") == 2)
        await cluster.user.patch(QUOTAS, "q", "default", {"spec": {"hard": {"pods": "9"}}})
        await cluster.until("pods", lambda pods: ready(pods) == 3, seconds=1100)  # the queue waits 1,000 s at most
        await cluster.until(
            "deployments.apps", lambda found: found[0]["status"].get("availableReplicas") == 3, seconds=5
        )
        for each in ("replicasets.apps", "deployments.apps"):
            (well,) = await cluster.until(
                each, lambda found: condition(found[0], "ReplicaFailure")["status"] == "Unknown", seconds=5
            )
            assert well["status"]["availableReplicas"] == 3

    happen(scene, nodes=3)


def test_a_pod_that_fits_nowhere_waits_and_runs_on_the_node_that_is_added() -> None:
    async def scene(cluster: Accident) -> None:
        (worker,) = [
            each for each in await cluster.items("nodes", "") if each["metadata"]["name"] == "lifecycle-worker"
        ]
        cores = int(worker["status"]["allocatable"]["cpu"])
        half = {"requests": {"cpu": f"{cores * 600}m"}}
        await cluster.user.create(PODS, pod("first", resources=half), "default")
        await cluster.until("pods", lambda pods: ready(pods) == 1)
        await cluster.user.create(PODS, pod("second", resources=half), "default")
        pods = await cluster.until(
            "pods", lambda pods: any(condition(each, "PodScheduled")["status"] == "False" for each in pods)
        )
        waiting = next(each for each in pods if each["metadata"]["name"] == "second")
        refused = condition(waiting, "PodScheduled")
        assert refused["reason"] == "Unschedulable"
        assert refused["message"] == (
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). no new claims to deallocate, "
            "preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, "
            "1 Preemption is not helpful for scheduling."
        )
        ((kind, _, message, _),) = await cluster.events("second", "FailedScheduling")
        assert (kind, message) == ("Warning", refused["message"])
        assert waiting["status"]["phase"] == "Pending"
        cluster.join(kind_nodes(3)[2])
        pods = await cluster.until("pods", lambda pods: ready(pods) == 2, seconds=60)
        where = {each["metadata"]["name"]: each["spec"]["nodeName"] for each in pods}
        assert where == {"first": "lifecycle-worker", "second": "lifecycle-worker2"}
        assert {each["metadata"]["uid"] for each in pods} >= {waiting["metadata"]["uid"]}

    happen(scene)


def test_a_pod_that_waits_takes_the_room_of_one_that_goes() -> None:
    async def scene(cluster: Accident) -> None:
        port = {"ports": [{"containerPort": 80, "hostPort": 8080}]}
        await cluster.user.create(PODS, pod("first", **port), "default")
        await cluster.until("pods", lambda pods: ready(pods) == 1)
        await cluster.user.create(PODS, pod("second", **port), "default")
        await cluster.until("events", lambda events: any(event["reason"] == "FailedScheduling" for event in events))
        ((_, _, message, _),) = await cluster.events("second", "FailedScheduling")
        assert message.startswith(
            "0/2 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, "
            "1 node(s) had untolerated taint(s)."
        )
        await cluster.user.delete(PODS, "first", "default")
        (second,) = await cluster.until("pods", lambda pods: len(pods) == ready(pods) == 1, seconds=60)
        assert second["metadata"]["name"] == "second"

    happen(scene)


def test_a_selector_that_no_node_has_is_met_by_a_label() -> None:
    async def scene(cluster: Accident) -> None:
        await cluster.user.create(PODS, pod("picky", spec={"nodeSelector": {"disk": "ssd"}}), "default")
        await cluster.until("events", lambda events: any(event["reason"] == "FailedScheduling" for event in events))
        ((_, _, message, _),) = await cluster.events("picky", "FailedScheduling")
        assert message == (
            "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s). "
            "no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
        )
        await cluster.user.patch(NODES, "lifecycle-worker", "", {"metadata": {"labels": {"disk": "ssd"}}})
        await cluster.until("pods", ready, seconds=60)

    happen(scene)
