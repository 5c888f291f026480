"""ReplicationControllers: a ReplicaSet's work in an older form."""

from __future__ import annotations

import asyncio

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse

CONTROLLERS, PODS = resource("replicationcontrollers"), resource("pods")
LABELS = {"app": "old"}


def replication_controller(replicas: int) -> Object:
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "nginx:1.27"}]}}
    spec = {"replicas": replicas, "selector": LABELS, "template": template}
    return {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "old"}, "spec": spec}


def test_its_pods_are_made_counted_and_taken_away() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")
        await client.create(CONTROLLERS, replication_controller(3), "default")
        await asyncio.sleep(30)
        [owner] = await cluster.items("replicationcontrollers")
        assert owner["status"] == {
            "replicas": 3,
            "fullyLabeledReplicas": 3,
            "readyReplicas": 3,
            "availableReplicas": 3,
            "observedGeneration": 1,
        }
        for pod in await cluster.items("pods"):
            [reference] = pod["metadata"]["ownerReferences"]
            assert (reference["kind"], reference["uid"]) == ("ReplicationController", owner["metadata"]["uid"])
        await client.patch(CONTROLLERS, "old", "default", {"spec": {"replicas": 1}})
        await asyncio.sleep(90)
        assert len(await cluster.items("pods")) == 1
        told = [e for e in await cluster.items("events") if e["involvedObject"]["kind"] == "ReplicationController"]
        assert {e["source"]["component"] for e in told} == {"replication-controller"}
        assert sorted(e["reason"] for e in told) == ["SuccessfulCreate"] * 3 + ["SuccessfulDelete"] * 2
        written = len(cluster.requests("replication-controller", "PUT"))
        await asyncio.sleep(600)
        assert len(cluster.requests("replication-controller", "PUT")) == written, "it writes only what has changed"

    rehearse(scene)


def test_an_orphan_that_it_selects_is_adopted_and_one_that_changes_its_label_let_go() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")
        spec = replication_controller(1)["spec"]["template"]["spec"]
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "orphan", "labels": LABELS}, "spec": spec}
        await client.create(PODS, pod, "default")
        await client.create(CONTROLLERS, replication_controller(1), "default")
        await asyncio.sleep(30)
        [adopted] = await cluster.items("pods")
        assert adopted["metadata"]["ownerReferences"][0]["name"] == "old"
        await client.patch(PODS, "orphan", "default", {"metadata": {"labels": {"app": "other"}}})
        await asyncio.sleep(30)
        pods = {p["metadata"]["name"]: p["metadata"].get("ownerReferences") for p in await cluster.items("pods")}
        assert len(pods) == 2
        assert not pods["orphan"]

    rehearse(scene)
