"""A pod's ephemeral volume gets a claim that lives and dies with the pod."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.controllers.small_cluster import EVENTS, PODS
from tests.controllers.test_persistent_volumes import CLAIMS, Scene, claim, storage_class, volume, with_storage

from lifecycle.api.http.wire import Object


def a_pod(storage_class_name: str = "", **more: Any) -> Object:
    template: Object = {
        "metadata": {"labels": {"kind": "scratch"}, "annotations": {"why": "because"}},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": storage_class_name,
        },
    }
    volumes = [{"name": "data", "ephemeral": {"volumeClaimTemplate": template}}, {"name": "e", "emptyDir": {}}]
    spec = {"containers": [{"name": "c", "image": "nginx:1.27"}], "volumes": volumes, **more}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


def test_the_claim_is_made_bound_and_taken_away_with_the_pod() -> None:
    async def scene(scene: Scene) -> None:
        await scene.add(volume("v"))
        pod = await scene.client.create(PODS, a_pod(), "ns")
        await asyncio.sleep(3)
        made = await scene.claim("p-data")
        meta = made["metadata"]
        assert meta["labels"] == {"kind": "scratch"}
        assert meta["annotations"]["why"] == "because"
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": pod["metadata"]["uid"]}
        assert meta["ownerReferences"] == [{**owner, "controller": True, "blockOwnerDeletion": True}]
        assert made["spec"]["resources"] == {"requests": {"storage": "1Gi"}}
        assert made["status"]["phase"] == "Bound"
        assert [c["metadata"]["name"] for c in await scene.cluster.items(CLAIMS)] == ["p-data"]
        await scene.client.delete(PODS, "p", "ns", grace_period=0)
        await asyncio.sleep(10)
        assert await scene.cluster.items(CLAIMS) == []

    with_storage(scene)


def test_a_claim_that_somebody_deleted_is_made_again() -> None:
    async def scene(scene: Scene) -> None:
        await scene.add(storage_class("slow", "WaitForFirstConsumer"))
        await scene.client.create(PODS, a_pod("slow", schedulingGates=[{"name": "x.io/later"}]), "ns")
        await asyncio.sleep(3)
        first = await scene.claim("p-data")  # not protected yet: the pod has no node
        waits = [e["message"] for e in await scene.cluster.items(EVENTS) if e["reason"] == "WaitForPodScheduled"]
        assert waits == ["waiting for pod p to be scheduled"]
        await scene.client.delete(CLAIMS, "p-data", "ns")
        await asyncio.sleep(5)
        assert (await scene.claim("p-data"))["metadata"]["uid"] != first["metadata"]["uid"]

    with_storage(scene)


def test_a_claim_of_that_name_that_belongs_to_nobody_is_left_alone_and_told() -> None:
    async def scene(scene: Scene) -> None:
        await scene.add(claim("p-data"))
        before = await scene.claim("p-data")
        await scene.client.create(PODS, a_pod(), "ns")
        await asyncio.sleep(3)
        told = [e for e in await scene.cluster.items(EVENTS) if e["involvedObject"]["name"] == "p"]
        message = "ephemeral volume data: PVC ns/p-data was not created for pod ns/p (pod is not owner)"
        assert {(e["type"], e["reason"], e["message"]) for e in told} == {("Warning", "FailedBinding", message)}
        assert told[0]["source"]["component"] == "ephemeral_volume"
        assert (await scene.claim("p-data"))["metadata"]["uid"] == before["metadata"]["uid"]

    with_storage(scene)
