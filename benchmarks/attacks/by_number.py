"""Kinds of attack in which each thing is as it should be and there are many of them, or in which a connection says little and stays.

Versions, owners, terms, namespaces; handshakes that nobody finishes, frames of one byte.
"""

from __future__ import annotations

import asyncio
import ssl
import struct
from typing import Any

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import (
    DEFINITIONS,
    MAPS,
    MERGE,
    NAMESPACES,
    OPEN,
    PODS,
    config_map,
    definition,
    pod,
)
from benchmarks.attacks.table import attack


@attack("CRD: 2,000 versions, and its documents")
async def versions(who: Attacker) -> list[Any]:
    made = definition("manies", OPEN)
    one = made["spec"]["versions"][0]
    made["spec"]["versions"] = [{**one, "name": f"v{i}", "storage": i == 1} for i in range(1, 2_001)]
    statuses: list[Any] = [await who.ask("POST", DEFINITIONS, made)]
    await asyncio.sleep(1)
    for path in ("/apis", "/apis/attack.example", "/openapi/v2", "/openapi/v3", "/openapi/v3/apis/attack.example/v7"):
        statuses.append(await who.ask("GET", path))
    protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
    aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    statuses.append(await who.ask("GET", "/openapi/v2", Accept=protobuf))
    statuses.append(await who.ask("GET", "/apis", Accept=aggregated))
    statuses.append(await who.ask("DELETE", f"{DEFINITIONS}/manies.attack.example"))
    await asyncio.sleep(1)
    return statuses


@attack("owners: 9,000 that are not there")
async def absent_owners(who: Attacker) -> list[Any]:
    owners = [{"apiVersion": "v1", "kind": "ConfigMap", "name": f"x{i}", "uid": f"absent-{i}"} for i in range(9_000)]
    statuses = [await who.ask("POST", MAPS, config_map("orphan", metadata={"ownerReferences": owners}))]
    await asyncio.sleep(8)
    return [*statuses, await who.ask("GET", f"{MAPS}/orphan")]


async def refused_a_node(who: Attacker, **spec: Any) -> list[Any]:
    """A pod that the scheduler looks at, and looks at again when it changes."""
    body = pod(**spec)
    body["metadata"] = {"name": "termed", "labels": {"a": "b"}}
    statuses: list[Any] = [await who.ask("POST", PODS, body)]
    await asyncio.sleep(3)
    labels = {"metadata": {"labels": {"a": "c"}}}
    statuses.append(await who.ask("PATCH", f"{PODS}/termed", labels, **MERGE))
    await asyncio.sleep(3)
    statuses.append(await who.ask("DELETE", f"{PODS}/termed?gracePeriodSeconds=0"))
    await asyncio.sleep(1)
    return statuses


@attack("pod: 2,500 terms of affinity and as many of anti-affinity")
async def terms(who: Attacker) -> list[Any]:
    term = [
        {"topologyKey": f"k{i}", "labelSelector": {"matchLabels": {"a": f"x{i}"}}, "namespaceSelector": {}}
        for i in range(2_500)
    ]
    rules = {"requiredDuringSchedulingIgnoredDuringExecution": term}
    weighed = {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": each} for each in term]
    }
    return await refused_a_node(who, affinity={"podAffinity": weighed, "podAntiAffinity": rules})


@attack("pods: 60 with 2,000 terms each, and ten plain ones")
async def neighbours_terms(who: Attacker) -> set[int]:
    """Whoever is to be placed is held against the terms of all that are there."""
    term = [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": f"x{i}"}}}
        for i in range(2_000)
    ]
    rules = {"requiredDuringSchedulingIgnoredDuringExecution": term}
    statuses: set[int] = set()
    for _ in range(3):
        statuses |= await who.many(20, "POST", PODS, pod(affinity={"podAntiAffinity": rules}))
    await asyncio.sleep(10)
    statuses |= await who.many(10, "POST", PODS, pod())
    await asyncio.sleep(5)
    statuses.add(await who.ask("DELETE", f"{PODS}?gracePeriodSeconds=0"))
    await asyncio.sleep(2)
    return statuses


@attack("pod: 6,000 topology spread constraints")
async def constraints(who: Attacker) -> list[Any]:
    spread = [
        {"maxSkew": 1, "topologyKey": f"k{i}", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}
        for i in range(6_000)
    ]
    return await refused_a_node(who, topologySpreadConstraints=spread)


@attack("pod: 1,000 terms about nodes, ten words each")
async def node_terms(who: Attacker) -> list[Any]:
    words = [{"key": f"k{i}", "operator": "NotIn", "values": [f"v{j}" for j in range(10)]} for i in range(10)]
    terms = [{"matchExpressions": words} for _ in range(1_000)]
    rules = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return await refused_a_node(who, affinity={"nodeAffinity": rules})


@attack("namespaces: 200 deleted at once")
async def namespaces(who: Attacker) -> set[int]:
    names = [f"gone-{i}" for i in range(200)]
    body = {"apiVersion": "v1", "kind": "Namespace"}
    statuses: set[int] = set()
    for start in range(0, 200, 25):
        some = names[start : start + 25]
        statuses |= set(
            await asyncio.gather(*(who.ask("POST", NAMESPACES, {**body, "metadata": {"name": n}}) for n in some))
        )
    for start in range(0, 200, 25):
        some = names[start : start + 25]
        statuses |= set(await asyncio.gather(*(who.ask("DELETE", f"{NAMESPACES}/{name}") for name in some)))
    await asyncio.sleep(20)
    return statuses


@attack("TLS: 1,000 handshakes that nobody finishes")
async def handshakes(who: Attacker) -> int:
    """A third says nothing, a third half a greeting, a third a whole one."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        hello = outgoing.read()
    writers = []
    for number in range(900):
        _, writer = await asyncio.open_connection("127.0.0.1", who.port)
        writers.append(writer)
        if number % 3:
            writer.write(hello if number % 3 == 1 else hello[: len(hello) // 2])
    await asyncio.sleep(12)
    for writer in writers:
        writer.transport.abort()
    return len(writers)


@attack("TLS: 300 connections one after another, as fast as can be")
async def reconnecting(who: Attacker) -> set[int]:
    statuses: set[int] = set()
    for _ in range(10):
        statuses |= await who.many(30, "GET", "/version")
    return statuses


@attack("TLS: records that are none")
async def no_records(who: Attacker) -> int:
    count = 0
    for kind in (0x14, 0x15, 0x16, 0x17, 0xFF):
        _, writer = await asyncio.open_connection("127.0.0.1", who.port)
        writer.write((bytes([kind]) + struct.pack(">HH", 0x0303, 16_384) + bytes(16_384)) * 20)
        await asyncio.sleep(0.1)
        writer.transport.abort()
        count += 1
    return count


@attack("watches: 100 from long ago")
async def old_watches(who: Attacker) -> int:
    for number in range(300):
        await who.ask("PATCH", f"{MAPS}/victim", {"data": {"n": str(number)}}, **MERGE)
    await who.unread(100, f"{MAPS}?watch=1&resourceVersion=1")
    return 100


@attack("managed fields: 10,000 managers of one object")
async def managers(who: Attacker) -> list[Any]:
    entry = {"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "time": "2026-01-01T00:00:00Z"}
    fields: dict[str, Any] = {"f:data": {f"f:k{i}": {} for i in range(5)}}
    managed = [{**entry, "manager": f"m{i}", "fieldsV1": fields} for i in range(10_000)]
    statuses: list[Any] = [await who.ask("POST", MAPS, config_map("managed", metadata={"managedFields": managed}))]
    for number in range(3):
        change = {"data": {f"k{number}": "v"}}
        statuses.append(await who.ask("PATCH", f"{MAPS}/managed?fieldManager=x{number}", change, **MERGE))
    statuses.append(await who.ask("DELETE", f"{MAPS}/managed"))
    return statuses
