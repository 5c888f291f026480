"""StatefulSets: in order or at once, names and claims that stay, updates down to the partition."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.controllers.pod_readiness import is_pod_ready

SETS = resource("statefulsets.apps")


def stateful(image: str = "nginx:1.27", replicas: int = 3, **spec: Any) -> Object:
    labels = {"app": "s"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": image}]}}
    body = {"replicas": replicas, "serviceName": "s", "selector": {"matchLabels": labels}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "s"}, "spec": body}


async def images(cluster: RehearsedCluster) -> dict[str, str]:
    return {p["metadata"]["name"]: p["spec"]["containers"][0]["image"][6:] for p in await cluster.items("pods")}


async def told(cluster: RehearsedCluster) -> list[str]:
    return [e["message"] for e in await cluster.items("events") if e["involvedObject"]["kind"] == "StatefulSet"]


def test_pods_come_one_after_the_other_and_go_in_reverse() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")
        await client.create(SETS, stateful(), "default")
        for _ in range(60):
            await asyncio.sleep(0.2)
            pods = sorted(await cluster.items("pods"), key=lambda p: str(p["metadata"]["name"]))
            assert all(is_pod_ready(p) for p in pods[:-1])
        assert [p["metadata"]["name"] for p in pods] == ["s-0", "s-1", "s-2"]
        assert pods[0]["metadata"]["labels"]["apps.kubernetes.io/pod-index"] == "0"
        assert (pods[1]["spec"]["hostname"], pods[1]["spec"]["subdomain"]) == ("s-1", "s")
        await client.patch(SETS, "s", "default", {"spec": {"replicas": 1}})
        await asyncio.sleep(90)
        assert list(await images(cluster)) == ["s-0"]
        assert (await told(cluster))[-2:] == [
            "Delete Pod s-2 in StatefulSet s successful",
            "Delete Pod s-1 in StatefulSet s successful",
        ]

    rehearse(scene)


def test_a_revision_goes_by_the_hash_that_the_real_controller_gives_it() -> None:
    """Both names were made by kube-controller-manager 1.36.2 for these templates."""
    names = {"nginx:1.27": "db-689d8566d9", "nginx:1.26": "db-b7958c678"}

    async def scene(cluster: RehearsedCluster) -> None:
        container = {"name": "c", "image": "", "resources": {"requests": {"cpu": "1m"}}}
        for image in names:
            template = {
                "metadata": {"labels": {"app": "db"}},
                "spec": {"containers": [{**container, "image": image}], "terminationGracePeriodSeconds": 0},
            }
            obj = stateful(template=template, selector={"matchLabels": {"app": "db"}}, replicas=0)
            await cluster.client("test").create(SETS, {**obj, "metadata": {"name": "db"}}, "default")
            await asyncio.sleep(5)
            [revision] = await cluster.items("controllerrevisions.apps")
            assert revision["metadata"]["name"] == names[image]
            await cluster.client("test").delete(SETS, "db", "default")
            await asyncio.sleep(5)

    rehearse(scene)


def test_a_pod_that_is_never_ready_stops_the_ones_after_it_unless_parallel() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        await cluster.client("test").create(SETS, stateful("registry.invalid/x:1"), "default")
        await asyncio.sleep(60)
        assert list(await images(cluster)) == ["s-0"]
        await cluster.client("test").delete(SETS, "s", "default")
        await asyncio.sleep(60)
        await cluster.client("test").create(
            SETS, stateful("registry.invalid/x:1", podManagementPolicy="Parallel"), "default"
        )
        await asyncio.sleep(60)
        assert len(await images(cluster)) == 3

    rehearse(scene)


def test_updates_go_from_the_highest_down_to_the_partition() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")
        partition = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
        await client.create(SETS, stateful(updateStrategy=partition), "default")
        await asyncio.sleep(20)
        await client.patch(SETS, "s", "default", {"spec": {"template": stateful("nginx:1.28")["spec"]["template"]}})
        await asyncio.sleep(120)
        assert await images(cluster) == {"s-0": "1.27", "s-1": "1.28", "s-2": "1.28"}
        [found] = await cluster.items("statefulsets.apps")
        assert (found["status"]["currentReplicas"], found["status"]["updatedReplicas"]) == (1, 2)
        assert found["status"]["currentRevision"] != found["status"]["updateRevision"]
        await client.delete(resource("pods"), "s-0", "default")  # comes back as it was
        await asyncio.sleep(60)
        assert (await images(cluster))["s-0"] == "1.27"
        await client.patch(SETS, "s", "default", {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}})
        await asyncio.sleep(60)
        assert set((await images(cluster)).values()) == {"1.28"}
        [found] = await cluster.items("statefulsets.apps")
        assert found["status"]["currentRevision"] == found["status"]["updateRevision"]

    rehearse(scene)


def test_on_delete_waits_for_somebody_to_delete() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")
        await client.create(SETS, stateful(replicas=2, updateStrategy={"type": "OnDelete"}), "default")
        await asyncio.sleep(15)
        await client.patch(SETS, "s", "default", {"spec": {"template": stateful("nginx:1.28")["spec"]["template"]}})
        await asyncio.sleep(60)
        assert set((await images(cluster)).values()) == {"1.27"}
        await client.delete(resource("pods"), "s-0", "default")
        await asyncio.sleep(60)
        assert await images(cluster) == {"s-0": "1.28", "s-1": "1.27"}

    rehearse(scene)


def test_claims_are_made_once_and_outlive_their_pods() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")
        claim = {
            "metadata": {"name": "data"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }
        await client.create(SETS, stateful(replicas=1, volumeClaimTemplates=[claim]), "default")
        await asyncio.sleep(10)
        [made] = await cluster.items("persistentvolumeclaims")
        assert made["metadata"]["name"] == "data-s-0"
        assert not made["metadata"].get("ownerReferences")
        [pod] = await cluster.items("pods")
        volume = next(v for v in pod["spec"]["volumes"] if v["name"] == "data")
        assert volume["persistentVolumeClaim"] == {"claimName": "data-s-0"}
        assert "Create Claim data-s-0 Pod s-0 in StatefulSet s success" in await told(cluster)
        await client.patch(SETS, "s", "default", {"spec": {"replicas": 0}})
        await asyncio.sleep(60)
        assert await cluster.items("pods") == []
        assert len(await cluster.items("persistentvolumeclaims")) == 1

    rehearse(scene)


def test_an_update_without_a_partition_moves_on_from_pod_to_pod() -> None:
    """`type: RollingUpdate` alone: which pods come back as they were is told by `currentReplicas` then."""

    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")
        await client.create(SETS, stateful(updateStrategy={"type": "RollingUpdate"}), "default")
        await asyncio.sleep(20)
        [found] = await cluster.items("statefulsets.apps")
        assert "rollingUpdate" not in found["spec"]["updateStrategy"]
        await client.patch(SETS, "s", "default", {"spec": {"template": stateful("nginx:1.28")["spec"]["template"]}})
        await asyncio.sleep(120)
        assert set((await images(cluster)).values()) == {"1.28"}
        deleted = [message for message in await told(cluster) if message.startswith("Delete")]
        assert deleted == [f"Delete Pod s-{i} in StatefulSet s successful" for i in (2, 1, 0)]

    rehearse(scene)


def test_one_is_updated_at_a_time_whatever_may_be_unavailable() -> None:
    """`MaxUnavailableStatefulSet` is off in 1.36: the server does not keep the field."""

    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")
        update = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "50%"}}
        await client.create(SETS, stateful(replicas=4, updateStrategy=update), "default")
        await asyncio.sleep(30)
        broken = stateful("registry.invalid/x:1")["spec"]["template"]
        await client.patch(SETS, "s", "default", {"spec": {"template": broken}})
        await asyncio.sleep(120)
        left = {"s-0": "1.27", "s-1": "1.27", "s-2": "1.27"}
        assert await images(cluster) == {**left, "s-3": "ry.invalid/x:1"}

    rehearse(scene)


def owners(claim: Object) -> list[tuple[str, str]]:
    return [(r["kind"], r["name"]) for r in claim["metadata"].get("ownerReferences") or ()]


@pytest.mark.parametrize(
    ("deleted", "scaled", "at_first", "after_scaling", "after_deletion"),
    [
        ("Retain", "Retain", [], {"data-s-0", "data-s-1"}, {"data-s-0", "data-s-1"}),
        ("Delete", "Retain", [("StatefulSet", "s")], {"data-s-0", "data-s-1"}, set()),
        ("Retain", "Delete", [], {"data-s-0"}, {"data-s-0"}),
        ("Delete", "Delete", [("StatefulSet", "s")], {"data-s-0"}, set()),
    ],
)
def test_claims_go_with_the_pod_or_with_the_set_as_the_policy_says(
    deleted: str, scaled: str, at_first: list[tuple[str, str]], after_scaling: set[str], after_deletion: set[str]
) -> None:
    async def left(cluster: RehearsedCluster) -> set[str]:
        return {claim["metadata"]["name"] for claim in await cluster.items("persistentvolumeclaims")}

    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")
        claim = {
            "metadata": {"name": "data"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }
        policy = {"whenDeleted": deleted, "whenScaled": scaled}
        body = stateful(
            replicas=2,
            podManagementPolicy="Parallel",
            volumeClaimTemplates=[claim],
            persistentVolumeClaimRetentionPolicy=policy,
        )
        await client.create(SETS, body, "default")
        await asyncio.sleep(10)
        assert [owners(c) for c in await cluster.items("persistentvolumeclaims")] == [at_first, at_first]
        await client.patch(SETS, "s", "default", {"spec": {"replicas": 1}})
        await asyncio.sleep(90)
        assert await left(cluster) == after_scaling
        await client.delete(SETS, "s", "default")
        await asyncio.sleep(90)
        assert await left(cluster) == after_deletion

    rehearse(scene)
