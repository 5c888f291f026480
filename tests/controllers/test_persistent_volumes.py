"""Claims find volumes, bonds are completed, and losses are told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.controllers.small_cluster import EVENTS, SmallCluster, small_cluster

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.persistent_volumes import find_matching_volume
from lifecycle.api.resources import resource
from lifecycle.client.rest import MERGE_PATCH

CLAIMS, VOLUMES = resource("persistentvolumeclaims"), resource("persistentvolumes")
CLASSES = resource("storageclasses.storage.k8s.io")


def claim(name: str = "c", size: str = "1Gi", **spec: Any) -> Object:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def volume(name: str, size: str = "1Gi", labels: dict[str, str] | None = None, **spec: Any) -> Object:
    meta = {"name": name, "labels": labels or {}}
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}, **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": spec}


def storage_class(name: str, mode: str, provisioner: str = "kubernetes.io/no-provisioner") -> Object:
    kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"}
    return {**kind, "metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode}


class Scene:
    def __init__(self, cluster: SmallCluster) -> None:
        self.cluster, self.client = cluster, cluster.client

    async def add(self, *objects: Object) -> None:
        kinds = {"PersistentVolumeClaim": CLAIMS, "PersistentVolume": VOLUMES, "StorageClass": CLASSES}
        for obj in objects:
            kind = kinds[obj["kind"]]
            await self.client.create(kind, obj, "ns" if kind is CLAIMS else "")
        await asyncio.sleep(3)

    async def claim(self, name: str = "c") -> Object:
        return await self.client.get(CLAIMS, name, "ns")

    async def volume(self, name: str) -> Object:
        return await self.client.get(VOLUMES, name)


def with_storage(scene: Callable[[Scene], Awaitable[None]]) -> None:
    async def main() -> None:
        async with small_cluster() as cluster:
            await asyncio.sleep(1)
            await scene(Scene(cluster))

    run_virtual(main())


@pytest.mark.parametrize("claim_first", [True, False])
def test_a_claim_takes_the_smallest_volume_that_is_large_enough(claim_first: bool) -> None:
    async def scene(at: Scene) -> None:
        volumes = [volume("large", "10Gi"), volume("small", "500Mi"), volume("right", "2Gi")]
        mine = claim(storageClassName="")
        await at.add(*([mine, volumes[2], volumes[1]] if claim_first else [*volumes, mine]))
        found = await at.claim()
        assert found["spec"]["volumeName"] == "right"
        assert found["metadata"]["annotations"] == {
            "pv.kubernetes.io/bind-completed": "yes",
            "pv.kubernetes.io/bound-by-controller": "yes",
        }
        assert found["status"] == {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "2Gi"}}
        theirs = await at.volume("right")
        assert theirs["status"]["phase"] == "Bound"
        reference = theirs["spec"]["claimRef"]
        assert (reference["namespace"], reference["name"], reference["uid"]) == ("ns", "c", found["metadata"]["uid"])
        assert (await at.volume("small"))["status"]["phase"] == "Available"

    with_storage(scene)


def test_of_two_claims_only_one_gets_the_last_volume() -> None:
    async def scene(at: Scene) -> None:
        await at.add(claim("a", storageClassName=""), claim("b", storageClassName=""), volume("only"))
        assert sorted([(await at.claim(name))["status"]["phase"] for name in "ab"]) == ["Bound", "Pending"]

    with_storage(scene)


@pytest.mark.parametrize(
    ("offer", "wish", "fits"),
    [
        ({}, {}, True),
        ({"storageClassName": "fast"}, {}, False),
        ({"storageClassName": "fast"}, {"storageClassName": "fast"}, True),
        ({"accessModes": ["ReadOnlyMany"]}, {}, False),
        ({"accessModes": ["ReadWriteOnce", "ReadOnlyMany"]}, {}, True),
        ({"volumeMode": "Block"}, {}, False),
        ({}, {"selector": {"matchLabels": {"disk": "ssd"}}}, True),
        ({}, {"selector": {"matchLabels": {"disk": "hdd"}}}, False),
        ({"claimRef": {"namespace": "ns", "name": "c"}}, {"selector": {"matchLabels": {"disk": "hdd"}}}, True),
        ({"claimRef": {"namespace": "ns", "name": "other"}}, {}, False),
        ({"claimRef": {"namespace": "ns", "name": "c", "uid": "an earlier one"}}, {}, False),
    ],
)
def test_which_volume_will_do(offer: Object, wish: Object, fits: bool) -> None:
    theirs = {**volume("v", labels={"disk": "ssd"}, **offer), "status": {"phase": "Available"}}
    mine = claim(**wish)
    mine["metadata"].update(namespace="ns", uid="u")
    assert (find_matching_volume(mine, [theirs], None, set()) is not None) is fits


def test_a_claim_of_a_waiting_class_is_left_to_the_scheduler_unless_a_volume_is_kept_for_it() -> None:
    async def scene(at: Scene) -> None:
        await at.add(storage_class("local", "WaitForFirstConsumer"), volume("free", storageClassName="local"))
        await at.add(claim(storageClassName="local"), claim("expected", storageClassName="local"))
        assert (await at.claim())["status"]["phase"] == "Pending"
        assert "waiting for first consumer to be created before binding" in await at.cluster.messages("c")
        kept = {"claimRef": {"namespace": "ns", "name": "expected"}}
        await at.add(volume("kept", storageClassName="local", **kept))
        assert (await at.claim("expected"))["spec"]["volumeName"] == "kept"

    with_storage(scene)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "no persistent volumes available for this claim and no storage class is set"),
        ("nowhere", 'storageclass.storage.k8s.io "nowhere" not found'),
        ("static", "no volume plugin matched name: kubernetes.io/no-provisioner"),
    ],
)
def test_a_claim_without_a_volume_says_what_it_waits_for(name: str, message: str) -> None:
    async def scene(at: Scene) -> None:
        await at.add(storage_class("static", "Immediate"), claim(storageClassName=name))
        assert (await at.claim())["status"]["phase"] == "Pending"
        assert message in await at.cluster.messages("c")

    with_storage(scene)


def test_an_external_provisioner_is_asked_by_annotation() -> None:
    async def scene(at: Scene) -> None:
        await at.add(storage_class("made", "Immediate", "example.com/maker"), claim(storageClassName="made"))
        annotations = (await at.claim())["metadata"]["annotations"]
        assert annotations["volume.kubernetes.io/storage-provisioner"] == "example.com/maker"
        [message] = await at.cluster.messages("c")
        assert message.startswith(
            "Waiting for a volume to be created either by the external provisioner 'example.com/maker'"
        )
        kept = {"claimRef": {"namespace": "ns", "name": "c", "uid": (await at.claim())["metadata"]["uid"]}}
        await at.add(volume("made-for-c", storageClassName="made", **kept))
        assert (await at.claim())["status"]["phase"] == "Bound"

    with_storage(scene)


def test_a_volume_whose_claim_is_gone_is_released_and_a_claim_whose_volume_is_gone_is_lost() -> None:
    async def scene(at: Scene) -> None:
        await at.add(volume("one"), claim(storageClassName=""))
        await at.client.delete(CLAIMS, "c", "ns")
        await asyncio.sleep(3)
        assert (await at.volume("one"))["status"]["phase"] == "Released"
        await at.add(claim("again", storageClassName=""))
        assert (await at.claim("again"))["status"]["phase"] == "Pending"  # somebody's data is still on it
        await at.add(volume("two"))
        assert (await at.claim("again"))["spec"]["volumeName"] == "two"
        two = await at.volume("two")
        await at.client.delete(VOLUMES, "two")
        await at.client.patch(VOLUMES, "two", "", {"metadata": {"finalizers": None}})
        await asyncio.sleep(3)
        assert two["status"]["phase"] == "Bound"
        assert (await at.claim("again"))["status"]["phase"] == "Lost"
        assert "Bound claim has lost its PersistentVolume. Data on the volume is lost!" in await at.cluster.messages(
            "again"
        )

    with_storage(scene)


@pytest.mark.parametrize(
    ("source", "policy", "provisioner", "phase", "message"),
    [
        ({}, "Retain", "", "Released", None),
        ({"hostPath": {"path": "/tmp/data"}}, "Delete", "", None, None),
        (
            {"hostPath": {"path": "/var/data"}}, "Delete", "",
            "Failed", "host_path deleter only supports /tmp/.+ but received provided /var/data",
        ),
        (
            {"hostPath": None, "csi": {"driver": "x.io", "volumeHandle": "h"}}, "Delete", "",
            "Failed", 'error getting deleter volume plugin for volume "v": no deletable volume plugin matched',
        ),
        ({"hostPath": {"path": "/var/data"}}, "Delete", "rancher.io/local-path", "Released", None),
    ],
)  # fmt: skip
def test_what_becomes_of_a_released_volume(
    source: Object, policy: str, provisioner: str, phase: str | None, message: str | None
) -> None:
    async def scene(at: Scene) -> None:
        body = volume("v", persistentVolumeReclaimPolicy=policy, **source)
        body["spec"] = {key: value for key, value in body["spec"].items() if value is not None}
        if provisioner:
            body["metadata"]["annotations"] = {"pv.kubernetes.io/provisioned-by": provisioner}
        await at.add(body, claim(storageClassName=""))
        made = (await at.volume("v"))["metadata"]["creationTimestamp"]
        await at.client.delete(CLAIMS, "c", "ns")
        await asyncio.sleep(5)
        found = {v["metadata"]["name"]: v["status"] for v in await at.cluster.items(VOLUMES, "")}
        assert found.get("v", {}).get("phase") == phase
        assert found.get("v", {}).get("message") == message
        assert phase is None or found["v"]["lastPhaseTransitionTime"] > made
        told = [e for e in await at.cluster.items(EVENTS, "default") if e["involvedObject"]["name"] == "v"]
        expected = [("Warning", "VolumeFailedDelete", message)] if message else []
        assert [(e["type"], e["reason"], e["message"]) for e in told] == expected

    with_storage(scene)


def test_a_claim_that_wants_to_grow_waits_for_somebody_outside() -> None:
    async def scene(at: Scene) -> None:
        grows = {**storage_class("grows", "Immediate"), "allowVolumeExpansion": True}
        await at.add(grows, volume("v", "2Gi", storageClassName="grows"), claim(storageClassName="grows"))

        async def ask_for(size: str) -> list[tuple[str, str, str]]:
            wish = {"spec": {"resources": {"requests": {"storage": size}}}}
            await at.client.patch(CLAIMS, "c", "ns", wish, patch_type=MERGE_PATCH)
            await asyncio.sleep(3)
            events = [e for e in await at.cluster.items(EVENTS) if e["source"]["component"] == "volume_expand"]
            return [(e["type"], e["reason"], e["message"]) for e in events]

        assert await ask_for("2Gi") == []  # so much it has
        waits = ("Normal", "ExternalExpanding", "waiting for an external controller to expand this PVC")
        assert await ask_for("3Gi") == [waits]

    with_storage(scene)
