"""References that cannot hold: owners in other namespaces, namespaced owners of cluster-scoped objects."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.controllers.small_cluster import EVENTS, NAMESPACES, SmallCluster, small_cluster

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource

CONFIG_MAPS, ROLES = resource("configmaps"), resource("clusterroles.rbac.authorization.k8s.io")


def owned(kind: str, name: str, owner: Object, api_version: str = "v1", **more: Any) -> Object:
    meta = owner["metadata"]
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": meta["name"], "uid": meta["uid"]}
    metadata = {"name": name, "ownerReferences": [reference]}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}


async def warnings(cluster: SmallCluster, namespace: str) -> list[str]:
    return [e["message"] for e in await cluster.items(EVENTS, namespace) if e["reason"] == "OwnerRefInvalidNamespace"]


def test_an_owner_in_another_namespace_is_none_and_that_is_said() -> None:
    async def main() -> None:
        async with small_cluster() as cluster:
            client = cluster.client
            other = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}
            await client.create(NAMESPACES, other)
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}}
            owner = await client.create(CONFIG_MAPS, body, "other")
            await asyncio.sleep(5)
            await client.create(CONFIG_MAPS, owned("ConfigMap", "stray", {**body, "metadata": owner["metadata"]}), "ns")
            await asyncio.sleep(5)
            assert "stray" not in {c["metadata"]["name"] for c in await cluster.items(CONFIG_MAPS)}
            uid = owner["metadata"]["uid"]
            assert await warnings(cluster, "ns") == [
                f'ownerRef [v1/ConfigMap, namespace: ns, name: owner, uid: {uid}] does not exist in namespace "ns"'
            ]

    run_virtual(main())


def test_a_cluster_scoped_object_of_a_namespaced_owner_stays_and_is_not_asked_for_again_and_again() -> None:
    async def main() -> None:
        async with small_cluster() as cluster:
            client = cluster.client
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}}
            owner = await client.create(CONFIG_MAPS, body, "ns")
            await asyncio.sleep(5)
            role = owned(
                "ClusterRole", "r", {**body, "metadata": owner["metadata"]}, "rbac.authorization.k8s.io/v1", rules=[]
            )
            await client.create(ROLES, role)
            await asyncio.sleep(60)
            assert (await client.get(ROLES, "r"))["metadata"]["name"] == "r"
            await client.delete(CONFIG_MAPS, "owner", "ns")
            await asyncio.sleep(60)
            assert (await client.get(ROLES, "r"))["metadata"]["name"] == "r"
            collector: Any = cluster.manager.controllers["garbage-collector-controller"]
            assert not any(collector.graph.attempt_to_delete.num_requeues(n) for n in collector.graph.nodes.values())

    run_virtual(main())


def test_a_cluster_scoped_owner_of_namespaced_objects_is_fine() -> None:
    async def main() -> None:
        async with small_cluster() as cluster:
            client = cluster.client
            kind = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
            owner = await client.create(ROLES, {**kind, "metadata": {"name": "owner"}, "rules": []})
            body = owned("ConfigMap", "mine", {**kind, "metadata": owner["metadata"]})
            await client.create(CONFIG_MAPS, body, "ns")
            await asyncio.sleep(10)
            assert "mine" in {c["metadata"]["name"] for c in await cluster.items(CONFIG_MAPS)}
            await client.delete(ROLES, "owner")
            await asyncio.sleep(10)
            assert "mine" not in {c["metadata"]["name"] for c in await cluster.items(CONFIG_MAPS)}
            assert await warnings(cluster, "ns") == []

    run_virtual(main())
