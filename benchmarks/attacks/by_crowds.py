"""Kinds of attack in which many small things are made, changed, watched and forgotten: leases, events, accounts, namespaces, tokens."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import (
    APPLY,
    BIG,
    JSON_PATCH,
    MANY,
    MAPS,
    MERGE,
    NAMESPACES,
    PODS,
    SPACE,
    STRATEGIC,
    TABLE,
    config_map,
    pod,
)
from benchmarks.attacks.by_amplification import REQUESTS
from benchmarks.attacks.by_network import NAMES_ONLY
from benchmarks.attacks.by_number import refused_a_node
from benchmarks.attacks.scene import in_portions, many_maps
from benchmarks.attacks.table import ATTACKS, attack

OURS = {"of": "crowd"}
CROWD = "labelSelector=of%3Dcrowd"


def named(api_version: str, kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "labels": OURS}, **fields}


def crowd(name: str, path: str, count: int, make: Any, *, seconds: float = 3.0, change: Any = None) -> None:
    """Enter many objects of a kind: made, perhaps changed, and deleted together."""

    async def do(who: Attacker) -> list[Any]:
        bodies = [make(i) for i in range(count)]
        statuses: list[Any] = [await in_portions([who.ask("POST", path, body) for body in bodies])]
        if change is not None:
            names = [body["metadata"]["name"] for body in bodies]
            statuses.append(await in_portions([who.ask("PATCH", f"{path}/{n}", change, **MERGE) for n in names]))
        await asyncio.sleep(seconds)
        statuses.append(await who.ask("DELETE", f"{path}?{CROWD}"))
        await asyncio.sleep(seconds)
        return statuses

    ATTACKS[name] = do


crowd("leases: 800 made, renewed and deleted together", "/apis/coordination.k8s.io/v1/namespaces/default/leases", 800,
      lambda i: named("coordination.k8s.io/v1", "Lease", f"l{i}", spec={"holderIdentity": "a"}),
      change={"spec": {"holderIdentity": "b"}})  # fmt: skip
crowd("accounts: 300 made and deleted together", f"{SPACE}/serviceaccounts", 300,
      lambda i: named("v1", "ServiceAccount", f"a{i}"))  # fmt: skip
crowd("namespaces: 300 changed and deleted together", NAMESPACES, 300, lambda i: named("v1", "Namespace", f"crowd{i}"),
      change={"metadata": {"annotations": {"a": "b"}}}, seconds=6)  # fmt: skip
crowd("secrets: 300 of 100 KB, changed", f"{SPACE}/secrets", 300,
      lambda i: named("v1", "Secret", f"s{i}", stringData={"a": "x" * 100_000}), change={"stringData": {"b": "c"}})  # fmt: skip
crowd("maps: 200 of 3,000 keys, changed and deleted together", MAPS, 200,
      lambda i: named("v1", "ConfigMap", f"c{i}", data={f"k{j}": "v" * 20 for j in range(3_000)}),
      change={"data": {"k1": "w"}})  # fmt: skip
STORAGE = "/apis/storage.k8s.io/v1/namespaces/default"
crowd("capacities: 400 of storage, and a class that has none", f"{STORAGE}/csistoragecapacities", 400,
      lambda i: named("storage.k8s.io/v1", "CSIStorageCapacity", f"c{i}", storageClassName="none",
                      nodeTopology={"matchExpressions": [
                          {"key": "a", "operator": "In", "values": [f"v{j}" for j in range(100)]}]}))  # fmt: skip
crowd("replication: 300 controllers that want no pod yet", f"{SPACE}/replicationcontrollers", 300,
      lambda i: named("v1", "ReplicationController", f"r{i}", spec={"replicas": 0, "selector": {"app": f"r{i}"}, "template": {
          "metadata": {"labels": {"app": f"r{i}"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}}),
      change={"spec": {"minReadySeconds": 5}})  # fmt: skip


@attack("events: 1,000 about one pod that differ by a number")
async def events(who: Attacker) -> set[int]:
    path = "/apis/events.k8s.io/v1/namespaces/default/events"

    def event(i: int) -> dict[str, Any]:
        return {**named("events.k8s.io/v1", "Event", f"e{i}"), "eventTime": "2026-01-01T00:00:00.000000Z", "action": "Talking",
                "reason": "Talk", "reportingController": "x", "reportingInstance": f"i{i}", "type": "Normal", "note": "n" * 1_000,
                "regarding": {"kind": "Pod", "namespace": "default", "name": "p", "uid": f"u{i}"}}  # fmt: skip

    statuses = await in_portions([who.ask("POST", path, event(i)) for i in range(1_000)])
    statuses |= await who.many(5, "GET", path, **TABLE)
    return statuses | {await who.ask("DELETE", f"{path}?{CROWD}")}


@attack("namespaces: 100 with three quotas, and twenty objects each")
async def quotas(who: Attacker) -> list[Any]:
    names, statuses = [f"meagre{i}" for i in range(100)], list[Any]()
    statuses.append(await in_portions([who.ask("POST", NAMESPACES, named("v1", "Namespace", name)) for name in names]))
    hard = {f"count/{kind}": "10" for kind in ("configmaps", "secrets", "pods", "services", "deployments.apps")}
    for number in range(3):
        quota = named("v1", "ResourceQuota", f"q{number}", spec={"hard": hard})
        statuses.append(
            await in_portions([who.ask("POST", f"{NAMESPACES}/{name}/resourcequotas", quota) for name in names])
        )
    for _ in range(20):
        statuses.append(
            await in_portions([who.ask("POST", f"{NAMESPACES}/{name}/configmaps", config_map()) for name in names])
        )
    statuses.append(await who.ask("DELETE", f"{NAMESPACES}?{CROWD}"))
    await in_portions([who.ask("DELETE", f"{NAMESPACES}/{name}") for name in names])
    await asyncio.sleep(10)
    return [set(map(str, statuses))]


@attack("requests to be certified: 60 with 2,000 names each, and approved")
async def certificates(who: Attacker) -> set[int]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "somebody")])
    names = x509.SubjectAlternativeName([x509.DNSName(f"name-{i}.attack.example") for i in range(2_000)])
    made = (
        x509.CertificateSigningRequestBuilder()
        .subject_name(subject)
        .add_extension(names, False)
        .sign(key, hashes.SHA256())
    )
    encoded = base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()
    spec = {"request": encoded, "usages": ["client auth"], "signerName": "kubernetes.io/kube-apiserver-client"}
    approved = {"status": {"conditions": [{"type": "Approved", "status": "True", "reason": "x", "message": "y"}]}}
    bodies = [named("certificates.k8s.io/v1", "CertificateSigningRequest", f"c{i}", spec=spec) for i in range(60)]
    statuses = await in_portions([who.ask("POST", REQUESTS, body) for body in bodies])
    statuses |= await in_portions([who.ask("PATCH", f"{REQUESTS}/c{i}/approval", approved, **MERGE) for i in range(60)])
    await asyncio.sleep(3)
    return statuses | {await who.ask("DELETE", f"{REQUESTS}?{CROWD}")}


@attack("account: a token of it, looked at 500 times at once")
async def reviews(who: Attacker) -> set[int]:
    token = json.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}).encode()
    reader, writer = await who.connect()
    path = f"{SPACE}/serviceaccounts/default/token"
    writer.write(who.written("POST", path, token, Connection="close", Content_Type="application/json"))
    given = json.loads((await reader.read()).partition(b"\r\n\r\n")[2])["status"]["token"]
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": given}}
    return await who.many(500, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", review)


# -- whoever watches ------------------------------------------------------------------------
@attack("watches: 1,500 that last a second")
async def short_watches(who: Attacker) -> set[int]:
    await many_maps(who)
    statuses: set[int] = set()
    for _ in range(10):
        statuses |= await who.many(
            300, "GET", f"{MANY}?watch=1&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name%3Dm1"
        )
    return statuses


@attack("watches: 200 that begin before 60 large changes")
async def after_large_changes(who: Attacker) -> Any:
    data = {f"k{i}": "v" * 10 for i in range(8_000)}
    statuses = {await who.ask("POST", MAPS, config_map("grown", data=data))}
    since = (await who.read(f"{MAPS}?limit=1"))["metadata"]["resourceVersion"]
    for number in range(60):
        statuses.add(await who.ask("PATCH", f"{MAPS}/grown", {"data": {"k1": str(number)}}, **MERGE))
    await asyncio.sleep(4)  # by now they are packed

    async def begin(number: int) -> int:
        taken = 0
        with contextlib.suppress(TimeoutError, OSError):
            async with asyncio.timeout(6):
                reader, writer = await who.connect()
                words = f"&labelSelector=a!%3D{number}" if number % 2 else ""
                writer.write(who.written("GET", f"{MAPS}?watch=1&timeoutSeconds=4&resourceVersion={since}{words}"))
                while data := await reader.read(1 << 18):
                    taken += len(data)
        return taken

    taken = sum(await asyncio.gather(*(begin(number) for number in range(200))))
    return [statuses, taken >> 20, await who.ask("DELETE", f"{MAPS}/grown")]


@attack("watches: 500 for what has not happened yet")
async def early_watches(who: Attacker) -> int:
    await who.unread(500, f"{MAPS}?watch=1&resourceVersion=999999999&allowWatchBookmarks=1", seconds=3)
    return 500


@attack("watches: 200 of names and rows, and 100 changes")
async def shaped_watches(who: Attacker) -> set[int]:
    names = {"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
    await who.unread(100, f"{MAPS}?watch=1", seconds=0.5, **names)
    await who.unread(100, f"{MAPS}?watch=1", seconds=0.5, **TABLE)
    labels = {f"k{i}": "v" for i in range(2_000)}
    statuses = {await who.ask("PATCH", f"{MAPS}/victim", {"metadata": {"annotations": labels}}, **MERGE)}
    for number in range(100):
        statuses.add(await who.ask("PATCH", f"{MAPS}/victim", {"data": {"n": str(number)}}, **MERGE))
    return statuses | {await who.ask("PATCH", f"{MAPS}/victim", {"metadata": {"annotations": None}}, **MERGE)}


@attack("lists: what 40 MB are called, 60 times at once")
async def names_only(who: Attacker) -> set[int]:
    return await who.many(60, "GET", BIG, Accept=NAMES_ONLY)


@attack("lists: 2,000 objects at 60 moments of the past")
async def many_pasts(who: Attacker) -> set[int]:
    await many_maps(who)
    first = int((await who.read(f"{MANY}?limit=1"))["metadata"]["resourceVersion"])
    for number in range(60):
        await who.ask("PATCH", f"{MANY}/m{number}", {"data": {"n": "x" * 1_000}}, **MERGE)
    asked = [who.ask("GET", f"{MANY}?resourceVersionMatch=Exact&resourceVersion={first + i}") for i in range(60)]
    return set(await asyncio.gather(*asked))


# -- patches --------------------------------------------------------------------------------
async def patched(who: Attacker, made: dict[str, Any], patch: Any, times: int, **headers: str) -> list[Any]:
    path = f"{MAPS}/{made['metadata']['name']}"
    statuses: list[Any] = [await who.ask("POST", MAPS, made)]
    statuses.append(await who.many(times, "PATCH", f"{path}?fieldManager=x&dryRun=All", patch, **headers))
    return [*statuses, await who.ask("DELETE", path)]


@attack("JSON patch: 9,000 looks at an object of 900 KB")
async def tests(who: Attacker) -> list[Any]:
    data = {f"k{i}": "v" * 20 for i in range(25_000)}
    looks = [
        {"op": "copy", "from": "/data/k1", "path": "/data/x"},
        {"op": "test", "path": "/data/k2", "value": "v" * 20},
    ]
    return await patched(who, config_map("looked", data=data), looks * 4_500, 3, **JSON_PATCH)


@attack("JSON patch: one look at all of it, 20 times")
async def whole_tests(who: Attacker) -> list[Any]:
    data = {f"k{i}": "v" for i in range(60_000)}
    return await patched(
        who, config_map("looked", data=data), [{"op": "test", "path": "/data", "value": data}] * 2, 20, **JSON_PATCH
    )


@attack("apply: 400 managers of one field each, then all at once")
async def many_managers(who: Attacker) -> set[int]:
    path = f"{MAPS}/shared2"
    mine = [(f"m{i}", config_map("shared2", data={f"k{i}": "v"})) for i in range(400)]
    statuses = {await who.ask("PATCH", f"{path}?fieldManager={name}", body, **APPLY) for name, body in mine[:200]}
    asked = [who.ask("PATCH", f"{path}?fieldManager={name}", body, **APPLY) for name, body in mine[200:]]
    statuses |= await in_portions(asked)
    everything = config_map("shared2", data={f"k{i}": "w" for i in range(400)})
    statuses |= await who.many(5, "PATCH", f"{path}?fieldManager=last&dryRun=All", everything, **APPLY)
    return statuses | {await who.ask("DELETE", path)}


@attack("strategic patch: 6,000 conditions that replace each other")
async def conditions(who: Attacker) -> list[Any]:
    statuses: list[Any] = [await who.ask("POST", PODS, {**pod(nodeName="nowhere"), "metadata": {"name": "told2"}})]
    words = [{"$patch": "delete", "type": f"a/{i}"} for i in range(6_000)] + [
        {"type": f"a/{i}", "status": "True"} for i in range(6_000)
    ]
    for patch in ({"conditions": words}, {"conditions": [{"$patch": "replace"}, *words[6_000:]]}):
        statuses.append(await who.many(3, "PATCH", f"{PODS}/told2/status", {"status": patch}, **STRATEGIC))
    return [*statuses, await who.ask("DELETE", f"{PODS}/told2?gracePeriodSeconds=0")]


@attack("pods: 300 to be bound at once, to a node that there is not")
async def bound(who: Attacker) -> list[Any]:
    names = [f"b{i}" for i in range(100)]
    made = pod(schedulerName="nobody")
    statuses: list[Any] = [
        await in_portions([who.ask("POST", PODS, {**made, "metadata": {"name": n, "labels": OURS}}) for n in names])
    ]
    target = {"apiVersion": "v1", "kind": "Binding", "target": {"kind": "Node", "name": "absent"}}
    asked = [who.ask("POST", f"{PODS}/{n}/binding", {**target, "metadata": {"name": n}}) for n in names * 3]
    statuses.append(set(await asyncio.gather(*asked)))
    await asyncio.sleep(3)
    return [*statuses, await who.ask("DELETE", f"{PODS}?gracePeriodSeconds=0")]


@attack("pod: 300 images of 10 KB, and 3,000 labels to select by")
async def wordy_pod(who: Attacker) -> list[Any]:
    containers = [{"name": f"c{i}", "image": "x" * 200 + f"/{i}:" + "y" * 100} for i in range(300)]
    return await refused_a_node(who, containers=containers, nodeSelector={f"k{i}": "v" for i in range(3_000)})
