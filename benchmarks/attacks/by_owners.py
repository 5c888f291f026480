"""Kinds of attack on whoever follows who belongs to whom: chains, rings and crowds of owners, namespaces and quotas by the hundred."""

from __future__ import annotations

import asyncio
from typing import Any

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import MAPS, MERGE, NAMESPACES, PODS, SPACE, config_map, pod
from benchmarks.attacks.scene import in_portions
from benchmarks.attacks.table import attack

FAMILY = f"{MAPS}?labelSelector=of%3Dfamily"
LABELS = {"of": "family"}


def owned_by(name: str, uid: str, blocks: bool = True) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "blockOwnerDeletion": blocks}


async def family(who: Attacker, count: int, owners: Any) -> set[int]:
    """So many objects, and then of each whose it is: `owners(i)` are numbers."""
    names = [f"f{i}" for i in range(count)]
    statuses = await in_portions(
        [who.ask("POST", MAPS, config_map(name, metadata={"labels": LABELS})) for name in names]
    )
    uids = {each["metadata"]["name"]: each["metadata"]["uid"] for each in (await who.read(FAMILY))["items"]}
    changes = []
    for number in range(count):
        references = [owned_by(names[i], uids[names[i]]) for i in owners(number)]
        if references:
            body = {"metadata": {"ownerReferences": references}}
            changes.append(who.ask("PATCH", f"{MAPS}/{names[number]}", body, **MERGE))
    statuses |= await in_portions(changes)
    await asyncio.sleep(1)
    return statuses


async def gone(who: Attacker, seconds: float) -> list[int]:
    """How many are still there, after a while and before they are deleted by hand."""
    await asyncio.sleep(seconds)
    left = len((await who.read(FAMILY))["items"])
    return [left, await who.ask("DELETE", f"{FAMILY}&propagationPolicy=Background")]


@attack("owners: a chain of 3,000, deleted from its head to its tail")
async def chain(who: Attacker) -> list[Any]:
    statuses: list[Any] = [await family(who, 3_000, lambda i: [i - 1] if i else [])]
    statuses.append(await who.ask("DELETE", f"{MAPS}/f0?propagationPolicy=Background"))
    return statuses + await gone(who, 10)


@attack("owners: a chain of 1,000, deleted from its tail to its head")
async def foreground_chain(who: Attacker) -> list[Any]:
    statuses: list[Any] = [await family(who, 1_000, lambda i: [i - 1] if i else [])]
    statuses.append(await who.ask("DELETE", f"{MAPS}/f0?propagationPolicy=Foreground"))
    return statuses + await gone(who, 10)


@attack("owners: a ring of 2,000, each waiting for the next")
async def ring(who: Attacker) -> list[Any]:
    statuses: list[Any] = [await family(who, 2_000, lambda i: [(i - 1) % 2_000])]
    statuses.append(await who.ask("DELETE", f"{MAPS}/f0?propagationPolicy=Foreground"))
    return statuses + await gone(who, 10)


@attack("owners: 3,000 of one, which goes last")
async def wide(who: Attacker) -> list[Any]:
    statuses: list[Any] = [await family(who, 3_000, lambda i: [0] if i else [])]
    statuses.append(await who.ask("DELETE", f"{MAPS}/f0?propagationPolicy=Foreground"))
    return statuses + await gone(who, 10)


@attack("owners: 60 of each of 60, all in the way of each other")
async def everybody(who: Attacker) -> list[Any]:
    statuses: list[Any] = [await family(who, 60, lambda i: [j for j in range(60) if j != i])]
    asked = (who.ask("DELETE", f"{MAPS}/f{i}?propagationPolicy=Foreground") for i in range(60))
    statuses.append(set(await asyncio.gather(*asked)))
    return statuses + await gone(who, 8)


@attack("owners: 1,500 of one object, who go all at once")
async def many_owners(who: Attacker) -> list[Any]:
    statuses: list[Any] = [await family(who, 1_501, lambda i: [] if i < 1_500 else range(1_500))]
    statuses.append(await who.ask("DELETE", f"{FAMILY}&propagationPolicy=Background"))
    return statuses + await gone(who, 10)


@attack("owners: 2,000 in another namespace, who are not there")
async def across(who: Attacker) -> list[Any]:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "across"}}
    statuses: list[Any] = [await who.ask("POST", NAMESPACES, space), await who.ask("POST", MAPS, config_map("owner"))]
    uid = (await who.read(f"{MAPS}/owner"))["metadata"]["uid"]
    body = config_map(metadata={"ownerReferences": [owned_by("owner", uid)]})
    statuses.append(await in_portions([who.ask("POST", f"{NAMESPACES}/across/configmaps", body) for _ in range(2_000)]))
    await asyncio.sleep(8)
    statuses.append(len((await who.read(f"{NAMESPACES}/across/configmaps"))["items"]))
    return [*statuses, await who.ask("DELETE", f"{NAMESPACES}/across"), await who.ask("DELETE", f"{MAPS}/owner")]


@attack("namespaces: 1,500 made and deleted together")
async def spaces(who: Attacker) -> list[Any]:
    def space(i: int) -> dict[str, Any]:
        return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"flock-{i}"}}

    made = await in_portions([who.ask("POST", NAMESPACES, space(i)) for i in range(1_500)], 100)
    gone = await in_portions([who.ask("DELETE", f"{NAMESPACES}/flock-{i}") for i in range(1_500)], 300)
    await asyncio.sleep(10)
    return [made, gone]


@attack("quotas: 200 with scopes in one namespace, and 100 pods")
async def quotas(who: Attacker) -> list[Any]:
    path = f"{SPACE}/resourcequotas"
    hard = {"pods": "100000", "requests.cpu": "100000"}
    scopes = ["BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"]

    def quota(i: int) -> dict[str, Any]:
        spec: dict[str, Any] = {"hard": {"pods": "100000"} if i % 5 in (0, 4) else hard, "scopes": [scopes[i % 5]]}
        return {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": f"q{i}", "labels": LABELS},
            "spec": spec,
        }

    statuses: list[Any] = [await in_portions([who.ask("POST", path, quota(i)) for i in range(200)])]
    room = {"requests": {"cpu": "1m"}}
    made = pod(containers=[{"name": "c", "image": "nginx", "resources": room}])
    statuses.append(await who.many(100, "POST", PODS, made))
    await asyncio.sleep(4)
    statuses.append(await who.ask("DELETE", f"{PODS}?gracePeriodSeconds=0"))
    return [*statuses, await who.ask("DELETE", f"{path}?labelSelector=of%3Dfamily")]


@attack("quotas: twenty of 20,000 classes each")
async def classes(who: Attacker) -> list[Any]:
    path = f"{SPACE}/resourcequotas"

    def quota(i: int) -> dict[str, Any]:
        hard = {f"c{j}.storageclass.storage.k8s.io/requests.storage": "1Ti" for j in range(20_000)}
        return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": f"c{i}", "labels": LABELS},
                "spec": {"hard": hard}}  # fmt: skip

    statuses: list[Any] = [{await who.ask("POST", path, quota(i)) for i in range(20)}]
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"generateName": "q-", "labels": LABELS},
             "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "c7",
                      "resources": {"requests": {"storage": "1Mi"}}}}  # fmt: skip
    claims = f"{SPACE}/persistentvolumeclaims"
    statuses.append(await who.many(10, "POST", claims, claim))
    await asyncio.sleep(4)
    statuses.append(await who.ask("DELETE", f"{claims}?labelSelector=of%3Dfamily"))
    return [*statuses, await who.ask("DELETE", f"{path}?labelSelector=of%3Dfamily")]


@attack("limits: 100 ranges, and pods of 300 containers")
async def ranges(who: Attacker) -> list[Any]:
    path = f"{SPACE}/limitranges"

    def limit(i: int) -> dict[str, Any]:
        words = {f"example.com/r{j}": "10" for j in range(100)}
        limits = [{"type": "Container", "max": words, "default": words, "defaultRequest": words}]
        return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": f"l{i}", "labels": LABELS},
                "spec": {"limits": limits}}  # fmt: skip

    statuses: list[Any] = [await in_portions([who.ask("POST", path, limit(i)) for i in range(100)])]
    made = pod(containers=[{"name": f"c{i}", "image": "nginx"} for i in range(300)])
    statuses.append(await who.many(3, "POST", f"{PODS}?dryRun=All", made))
    return [*statuses, await who.ask("DELETE", f"{path}?labelSelector=of%3Dfamily")]


@attack("objects: 2,000 with a finalizer, deleted together")
async def finalized(who: Attacker) -> list[Any]:
    body = config_map(metadata={"finalizers": ["example.com/never"], "labels": LABELS})
    statuses: list[Any] = [await in_portions([who.ask("POST", MAPS, body) for _ in range(2_000)])]
    statuses.append(await who.ask("DELETE", FAMILY))
    names = [each["metadata"]["name"] for each in (await who.read(FAMILY))["items"]]
    gone = {"metadata": {"finalizers": None}}
    statuses.append(await in_portions([who.ask("PATCH", f"{MAPS}/{name}", gone, **MERGE) for name in names]))
    return statuses
