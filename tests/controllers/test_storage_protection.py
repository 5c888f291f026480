"""Claims and volumes stay while they are in use, and go when they are not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.controllers.small_cluster import NAMESPACES, PODS, SmallCluster, small_cluster

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.rest import MERGE_PATCH, STRATEGIC_MERGE_PATCH
from lifecycle.controllers.storageprotection.protection_controllers import classes_named_by, pod_uses_claim

CLAIMS, VOLUMES = resource("persistentvolumeclaims"), resource("persistentvolumes")
CLASSES = resource("volumeattributesclasses.storage.k8s.io")


def claim(name: str) -> Object:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def user(name: str, claim_name: str, **spec: Any) -> Object:
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": claim_name}}
    spec = {"containers": [{"name": "c", "image": "nginx:1.27"}], "volumes": [volume], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


async def names(cluster: SmallCluster) -> set[str]:
    return {c["metadata"]["name"] for c in await cluster.items(CLAIMS)}


def test_a_claim_goes_when_its_last_pod_does() -> None:
    async def main() -> None:
        async with small_cluster() as cluster:
            for name in ("used", "wanted", "unused"):
                await cluster.client.create(CLAIMS, claim(name), "ns")
            await cluster.client.create(PODS, user("p", "used"), "ns")
            gate = {"schedulingGates": [{"name": "example.com/hold"}]}
            await cluster.client.create(PODS, user("waits", "wanted", **gate), "ns")
            await asyncio.sleep(5)
            for name in ("used", "wanted", "unused"):
                await cluster.client.delete(CLAIMS, name, "ns")
            await asyncio.sleep(5)
            left = await names(cluster)
            assert "unused" not in left
            assert "used" in left
            await cluster.client.delete(PODS, "p", "ns", grace_period=0)
            await asyncio.sleep(5)
            assert "used" not in await names(cluster)

    run_virtual(main())


@pytest.mark.parametrize(
    ("node", "volume", "meta", "uses"),
    [
        ("n1", {"persistentVolumeClaim": {"claimName": "p-v"}}, {}, True),
        ("", {"persistentVolumeClaim": {"claimName": "p-v"}}, {}, False),  # no kubelet will start it any more
        ("n1", {"persistentVolumeClaim": {"claimName": "other"}}, {}, False),
        ("n1", {"ephemeral": {}}, {}, True),
        ("n1", {"ephemeral": {}}, {"uid": "another pod of that name"}, False),
        ("n1", {"ephemeral": {}}, {"deletionTimestamp": "t", "deletionGracePeriodSeconds": 0}, False),
        ("n1", {"ephemeral": {}}, {"deletionTimestamp": "t", "deletionGracePeriodSeconds": 30}, True),
        ("n1", {"emptyDir": {}}, {}, False),
    ],
)
def test_who_uses_a_claim(node: str, volume: Object, meta: Object, uses: bool) -> None:
    pod = {
        "metadata": {"name": "p", "uid": "u", **meta},
        "spec": {"nodeName": node, "volumes": [{"name": "v", **volume}]},
    }
    owner = {"kind": "Pod", "name": "p", "uid": "u", "controller": True}
    assert pod_uses_claim(pod, {"metadata": {"name": "p-v", "ownerReferences": [owner]}}) is uses


def test_a_volume_stays_while_it_is_bound() -> None:
    async def main() -> None:
        async with small_cluster(controllers="persistentvolume-protection-controller") as cluster:
            body = {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": "pv"},
                "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}},
            }
            await cluster.client.create(VOLUMES, body)

            async def phase(value: str) -> None:
                status = {"status": {"phase": value}}
                await cluster.client.patch(
                    VOLUMES, "pv", "", status, subresource="status", patch_type=STRATEGIC_MERGE_PATCH
                )
                await asyncio.sleep(2)

            await phase("Bound")
            await cluster.client.delete(VOLUMES, "pv")
            await asyncio.sleep(2)
            assert (await cluster.client.list(VOLUMES)).get("items")
            await phase("Released")
            assert not (await cluster.client.list(VOLUMES)).get("items")

    run_virtual(main())


def test_a_volume_attributes_class_stays_while_a_claim_names_it() -> None:
    async def main() -> None:
        async with small_cluster(controllers="volumeattributesclass-protection-controller") as cluster:
            kind = {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttributesClass", "driverName": "example.com"}
            for name in ("gold", "unused"):
                body = {**kind, "metadata": {"name": name}, "parameters": {"speed": "1"}}
                await cluster.client.create(CLASSES, body)
            body = claim("data")
            body["spec"]["volumeAttributesClassName"] = "gold"
            await cluster.client.create(CLAIMS, body, "ns")
            await asyncio.sleep(2)
            for name in ("gold", "unused"):
                await cluster.client.delete(CLASSES, name)
            await asyncio.sleep(2)
            assert [c["metadata"]["name"] for c in (await cluster.client.list(CLASSES))["items"]] == ["gold"]
            unprotected = {"metadata": {"finalizers": None}}  # that controller does not run here
            await cluster.client.patch(CLAIMS, "data", "ns", unprotected, patch_type=MERGE_PATCH)
            await cluster.client.delete(CLAIMS, "data", "ns")
            await asyncio.sleep(2)
            assert not (await cluster.client.list(CLASSES)).get("items")

    run_virtual(main())


def test_a_claim_names_the_class_it_asks_for_has_and_is_moved_to() -> None:
    moved = {
        "spec": {"volumeAttributesClassName": "a"},
        "status": {
            "currentVolumeAttributesClassName": "b",
            "modifyVolumeStatus": {"targetVolumeAttributesClassName": "c", "status": "InProgress"},
        },
    }
    assert classes_named_by(moved) == {"a", "b", "c"}
    assert classes_named_by({"spec": {"volumeAttributesClassName": ""}}) == set()


def test_a_namespace_with_a_claim_can_be_deleted() -> None:
    async def main() -> None:
        async with small_cluster() as cluster:
            await cluster.client.create(CLAIMS, claim("data"), "ns")
            await cluster.client.create(PODS, user("p", "data"), "ns")
            await asyncio.sleep(5)
            await cluster.client.delete(NAMESPACES, "ns")
            await asyncio.sleep(60)
            assert "ns" not in {n["metadata"]["name"] for n in (await cluster.client.list(NAMESPACES))["items"]}

    run_virtual(main())
