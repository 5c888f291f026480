"""Disruption budgets: what they allow, and when they allow nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.controllers.alone import alone
from tests.controllers.small_cluster import DEPLOYMENTS, PODS, SmallCluster, deployment, small_cluster

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time, run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH
from lifecycle.controllers.disruption.budget import (
    DELETION_TIMEOUT,
    budget_status,
    disrupted_pods,
    expected_pod_count,
)
from lifecycle.controllers.disruption.disruption_controller import DisruptionController

BUDGETS = resource("poddisruptionbudgets.policy")
UNMANAGED = (
    "Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: nginx,},"
    "MatchExpressions:[]LabelSelectorRequirement{},}) were found to be unmanaged. As a result, the status of the PDB"
    " cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set"
    ' ".spec.minAvailable" field of the PDB to an integer value.'
)


def budget(**spec: Any) -> Object:
    spec = {"selector": {"matchLabels": {"app": "nginx"}}, **spec}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": spec}


def guarding(body: Object, scene: Callable[[SmallCluster], Awaitable[None]], replicas: int = 4) -> None:
    async def main() -> None:
        async with small_cluster() as cluster:
            await cluster.client.create(BUDGETS, body, "ns")
            await asyncio.sleep(2)
            if replicas:
                await cluster.client.create(DEPLOYMENTS, deployment(replicas), "ns")
            await asyncio.sleep(10)
            await scene(cluster)

    run_virtual(main())


async def status(cluster: SmallCluster) -> Object:
    return (await cluster.client.get(BUDGETS, "b", "ns"))["status"]


@pytest.mark.parametrize(
    ("spec", "desired", "allowed"),
    [
        ({"minAvailable": 3}, 3, 1),
        ({"minAvailable": "50%"}, 2, 2),
        ({"minAvailable": "60%"}, 3, 1),  # 2.4, rounded up
        ({"maxUnavailable": 1}, 3, 1),
        ({"maxUnavailable": "30%"}, 2, 2),  # 1.2, rounded up
        ({"maxUnavailable": 9}, 0, 4),
        ({"minAvailable": 9}, 9, 0),
    ],
)
def test_so_many_may_go(spec: Object, desired: int, allowed: int) -> None:
    async def scene(cluster: SmallCluster) -> None:
        found = await status(cluster)
        [condition] = found.pop("conditions")
        assert found == {
            "observedGeneration": 1,
            "disruptionsAllowed": allowed,
            "currentHealthy": 4,
            "desiredHealthy": desired,
            "expectedPods": 4,
        }
        reason = "SufficientPods" if allowed else "InsufficientPods"
        assert (condition["type"], condition["status"], condition["reason"]) == (
            "DisruptionAllowed",
            str(bool(allowed)),
            reason,
        )

    guarding(budget(**spec), scene)


def test_what_is_not_ready_is_not_there_to_be_taken() -> None:
    async def scene(cluster: SmallCluster) -> None:
        pod = (await cluster.items(PODS))[0]["metadata"]["name"]
        unready = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
        await cluster.client.patch(PODS, pod, "ns", unready, subresource="status", patch_type=STRATEGIC_MERGE_PATCH)
        await asyncio.sleep(1)
        found = await status(cluster)
        assert (found["currentHealthy"], found["disruptionsAllowed"]) == (3, 0)

    guarding(budget(maxUnavailable=1), scene)


def test_a_rollout_does_not_make_the_deployment_larger() -> None:
    async def scene(cluster: SmallCluster) -> None:
        cluster.kubelets.broken_images.add("nginx:bad")
        await cluster.set_image("nginx:bad")
        await asyncio.sleep(10)
        assert len(await cluster.items(PODS)) > 4
        assert (await status(cluster))["expectedPods"] == 4

    guarding(budget(maxUnavailable=1), scene)


def test_a_budget_without_pods_allows_nothing() -> None:
    async def scene(cluster: SmallCluster) -> None:
        assert (await status(cluster))["disruptionsAllowed"] == 0
        assert "No matching pods found" in await cluster.messages("b")

    guarding(budget(minAvailable=0), scene, replicas=0)


def test_pods_of_nobody_are_said_to_make_shares_impossible() -> None:
    async def scene(cluster: SmallCluster) -> None:
        meta = {"name": "alone", "labels": {"app": "nginx"}}
        spec = {"containers": [{"name": "c", "image": "nginx:1.27"}]}
        await cluster.client.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}, "ns")
        await asyncio.sleep(5)
        assert (await status(cluster))["expectedPods"] == 0
        assert UNMANAGED in await cluster.messages("b")

    guarding(budget(maxUnavailable="50%"), scene, replicas=0)


def test_an_unknown_controller_makes_it_fail_safe() -> None:
    async def scene(cluster: SmallCluster) -> None:
        owner = {"apiVersion": "example.com/v1", "kind": "Thing", "name": "t", "uid": "u", "controller": True}
        meta = {"name": "theirs", "labels": {"app": "nginx"}, "ownerReferences": [owner]}
        spec = {"containers": [{"name": "c", "image": "nginx:1.27"}]}
        await cluster.client.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}, "ns")
        await asyncio.sleep(0.5)
        found = await status(cluster)
        assert found["disruptionsAllowed"] == 0
        [condition] = found["conditions"]
        assert (condition["reason"], condition["message"]) == ("SyncFailed", 'found no controllers for pod "theirs"')

    guarding(budget(maxUnavailable=1), scene, replicas=0)


def test_an_approved_eviction_counts_until_it_took_too_long() -> None:
    pdb = {**budget(minAvailable=1), "status": {"disruptedPods": {"p": "2026-01-01T00:00:00Z", "gone": "x"}}}
    pod: Object = {"metadata": {"name": "p"}}
    start = 1767225600.0
    assert disrupted_pods(pdb, [pod], start + 60) == ({"p": "2026-01-01T00:00:00Z"}, [])
    assert disrupted_pods(pdb, [pod], start + DELETION_TIMEOUT + 1) == ({}, [pod])
    leaving = {"metadata": {"name": "p", "deletionTimestamp": "t"}}
    assert disrupted_pods(pdb, [leaving], start + 60) == ({}, [])


def test_the_condition_keeps_its_time_while_it_keeps_its_value() -> None:
    pdb = budget(minAvailable=1)
    first = budget_status(pdb, 2, 1, 2, {}, 1767225600.0)
    later = budget_status({**pdb, "status": first}, 3, 1, 3, {}, 1767225700.0)
    gone = budget_status({**pdb, "status": later}, 1, 1, 3, {}, 1767225800.0)
    times = [s["conditions"][0]["lastTransitionTime"][14:19] for s in (first, later, gone)]
    assert times == ["00:00", "00:00", "03:20"]
    assert expected_pod_count(pdb, [], lambda pod, reference: None) == (0, 1, [])


def test_a_pod_that_leaves_the_selection_is_counted_until_something_else_happens() -> None:
    """The controller asks whose the pod is now, and not whose it was; a promise that nobody kept it forgets in two minutes, all by
    itself."""

    async def main() -> None:
        meta = {"name": "p", "namespace": "ns", "labels": {"app": "nginx"}}
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        pod = ("pods", {"metadata": meta, "spec": {}, "status": {"phase": "Running", "conditions": [ready]}})
        body = budget(minAvailable=0)
        promised = {"disruptedPods": {"p": format_time(VIRTUAL_EPOCH)}}
        listed = {**body, "metadata": {"name": "b", "namespace": "ns"}, "status": promised}
        async with alone(DisruptionController, pod, ("poddisruptionbudgets.policy", listed)) as stage:

            def counts() -> tuple[int, list[str]]:
                (found,) = stage.items("poddisruptionbudgets.policy")
                return found["status"]["currentHealthy"], list(found["status"].get("disruptedPods") or ())

            await asyncio.sleep(1)
            assert counts() == (0, ["p"])
            await asyncio.sleep(DELETION_TIMEOUT + 2)
            assert counts() == (1, [])
            await stage.client.patch(PODS, "p", "ns", {"metadata": {"labels": {"app": "other"}}})
            await asyncio.sleep(1)
            assert counts() == (1, [])
            changed = {"metadata": {"annotations": {"a": "b"}}}
            await stage.client.patch(BUDGETS, "b", "ns", changed)
            await asyncio.sleep(1)
            assert counts() == (0, [])

    run_virtual(main())
