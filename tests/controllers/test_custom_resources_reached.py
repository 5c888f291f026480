"""Custom resources are reached by those who must reach everything: garbage collection and the end of a namespace."""

from __future__ import annotations

import asyncio

from lifecycle.agreements.apiserver.resource_handling import definition
from lifecycle.api.custom_resources import resource_of
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, resource
from lifecycle.api.status import StatusError
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse

MAPS = resource("configmaps")


async def _defined(cluster: RehearsedCluster) -> Resource:
    new = definition("book.example.com", "Bell", {"type": "object"})
    client = cluster.client("kubectl")
    await client.create(resource("customresourcedefinitions.apiextensions.k8s.io"), new)
    await asyncio.sleep(1)
    return resource_of(new, new["spec"]["versions"][0])


def bell(**metadata: object) -> Object:
    return {"apiVersion": "book.example.com/v1", "kind": "Bell", "metadata": {"name": "noon", **metadata}}


def test_what_a_custom_resource_owns_goes_with_it() -> None:
    async def scene(cluster: RehearsedCluster) -> int:
        row, client = await _defined(cluster), cluster.client("kubectl")
        owner = await client.create(row, bell(), "default")
        reference = {
            "apiVersion": "book.example.com/v1",
            "kind": "Bell",
            "name": "noon",
            "uid": owner["metadata"]["uid"],
        }
        owned = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owned", "ownerReferences": [reference]}}
        await client.create(MAPS, owned, "default")
        await asyncio.sleep(5)
        assert (await client.get(MAPS, "owned", "default"))["metadata"]["name"] == "owned"
        await client.delete(row, "noon", "default")
        await asyncio.sleep(30)
        try:
            await client.get(MAPS, "owned", "default")
        except StatusError as error:
            return error.code
        return 200

    assert rehearse(scene, nodes=1) == 404


def test_a_namespace_takes_its_custom_resources_along() -> None:
    async def scene(cluster: RehearsedCluster) -> list[str]:
        row, client = await _defined(cluster), cluster.client("kubectl")
        await client.create(
            resource("namespaces"), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "bells"}}
        )
        await client.create(row, bell(), "bells")
        await client.delete(resource("namespaces"), "bells")
        await asyncio.sleep(30)
        names = [each["metadata"]["name"] for each in (await client.list(resource("namespaces")))["items"]]
        left = [each["metadata"]["name"] for each in (await client.list(row))["items"]]
        return [*left, *(name for name in names if name == "bells")]

    assert rehearse(scene, nodes=1) == []


def test_a_quota_counts_them_even_if_it_was_there_before_their_definition() -> None:
    async def scene(cluster: RehearsedCluster) -> list[str]:
        client, quotas = cluster.client("kubectl"), resource("resourcequotas")
        name = "count/bells.book.example.com"
        quota = {"kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {name: "1"}}}
        await client.create(quotas, quota, "default")
        await asyncio.sleep(2)

        async def used() -> str:
            await asyncio.sleep(2)
            status = (await client.get(quotas, "q", "default"))["status"]
            return str(status.get("used", {}).get(name))

        seen = [await used()]
        row = await _defined(cluster)
        seen.append(await used())
        await client.create(row, bell(), "default")
        seen.append(await used())
        try:
            await client.create(row, {**bell(), "metadata": {"name": "midnight"}}, "default")
        except StatusError as error:
            seen.append(error.message)
        await client.delete(row, "noon", "default")
        return [*seen, await used()]

    refused = 'bells.book.example.com "midnight" is forbidden: exceeded quota: q, '
    refused += "requested: count/bells.book.example.com=1, used: count/bells.book.example.com=1, limited: count/bells.book.example.com=1"
    assert rehearse(scene, nodes=1) == ["None", "0", "1", refused, "0"]
