"""Kinds of attack on whoever makes Services, names and ways of them: slices, ports, policies, added servers, questions to DNS."""

from __future__ import annotations

import asyncio
import contextlib
import os
import struct
from typing import Any

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import ADMISSION, CREATES, MANY, MAPS, SPACE, TABLE, admission, config_map
from benchmarks.attacks.by_streams import SLICES, ZONE, question
from benchmarks.attacks.scene import in_portions, many_maps
from benchmarks.attacks.table import attack

SERVICES = f"{SPACE}/services"
OURS = {"of": "net"}
NET = "labelSelector=of%3Dnet"
NAMES_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
INITIAL = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"


def service(name: str, **spec: Any) -> dict[str, Any]:
    spec = {"ports": [{"port": 80}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "labels": OURS}, "spec": spec}


def ports(count: int) -> list[dict[str, Any]]:
    return [{"name": f"p{i}", "port": 1 + i, "protocol": "TCP"} for i in range(count)]


def endpoints(part: int, count: int) -> list[dict[str, Any]]:
    return [
        {
            "addresses": [f"10.{part}.{i >> 8}.{i & 255}"],
            "conditions": {"ready": True},
            "nodeName": "lifecycle-control-plane",
        }
        for i in range(count)
    ]


def slice_of(name: str, part: int, count: int = 1_000, wide: int = 1) -> dict[str, Any]:
    meta = {"name": f"{name}-{part}", "labels": {"kubernetes.io/service-name": name, **OURS}}
    return {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "metadata": meta,
            "endpoints": endpoints(part, count), "ports": ports(wide)}  # fmt: skip


async def away(who: Attacker) -> list[int]:
    statuses = [await who.ask("DELETE", f"{SLICES}?{NET}"), await who.ask("DELETE", f"{SERVICES}?{NET}")]
    await asyncio.sleep(3)
    return statuses


@attack("service: 100,000 addresses, and one that comes and goes")
async def addresses(who: Attacker) -> list[Any]:
    statuses: list[Any] = [await who.ask("POST", SERVICES, service("crowd"))]
    statuses.append(await in_portions([who.ask("POST", SLICES, slice_of("crowd", i)) for i in range(100)], 10))
    await asyncio.sleep(4)
    for number in range(10):
        statuses.append(await who.ask("PUT", f"{SLICES}/crowd-0", slice_of("crowd", 0, 990 + number)))
        await asyncio.sleep(0.2)
    await asyncio.sleep(4)
    return [*statuses, *await away(who)]


@attack("services: 60 of 1,000 ports, and 50 addresses for each")
async def wide(who: Attacker) -> list[Any]:
    made = [service(f"wide{i}", ports=ports(1_000)) for i in range(60)]
    statuses: list[Any] = [await in_portions([who.ask("POST", SERVICES, body) for body in made])]
    slices = [slice_of(f"wide{i}", 0, 50, 100) for i in range(60)]
    statuses.append(await in_portions([who.ask("POST", SLICES, body) for body in slices]))
    await asyncio.sleep(6)
    return [*statuses, *await away(who)]


@attack("services: 2,000 made and deleted together")
async def services(who: Attacker) -> list[Any]:
    kinds = ("ClusterIP", "NodePort", "LoadBalancer")
    made = [service(f"many{i}", type=kinds[i % 3], selector={"app": "x"}) for i in range(2_000)]
    statuses: list[Any] = [await in_portions([who.ask("POST", SERVICES, body) for body in made])]
    await asyncio.sleep(3)
    return [*statuses, *await away(who)]


@attack("services: 30 with 20,000 addresses from outside, 20,000 ranges")
async def outside(who: Attacker) -> list[Any]:
    given = [f"192.{i >> 16}.{i >> 8 & 255}.{i & 255}" for i in range(20_000)]
    ranges = [f"10.{i >> 8}.{i & 255}.0/24" for i in range(20_000)]
    made = [
        service(f"out{i}", type="LoadBalancer", externalIPs=given, loadBalancerSourceRanges=ranges) for i in range(30)
    ]
    statuses: list[Any] = [await in_portions([who.ask("POST", SERVICES, body) for body in made], 5)]
    statuses.append(await in_portions([who.ask("POST", SLICES, slice_of(f"out{i}", 0, 10)) for i in range(30)]))
    status = {"status": {"loadBalancer": {"ingress": [{"ip": each} for each in given]}}}
    merge = {"Content_Type": "application/merge-patch+json"}
    statuses.append(
        await in_portions([who.ask("PATCH", f"{SERVICES}/out{i}/status", status, **merge) for i in range(30)])
    )
    await asyncio.sleep(6)
    return [*statuses, *await away(who)]


@attack("network policies: 300 of 500 rules")
async def policies(who: Attacker) -> list[Any]:
    path = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"
    rules = [{"from": [{"ipBlock": {"cidr": f"10.{i % 256}.0.0/16", "except": [f"10.{i % 256}.1.0/24"]}}],
              "ports": [{"port": 1, "endPort": 65_535}]} for i in range(500)]  # fmt: skip

    def made(i: int) -> dict[str, Any]:
        return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": f"n{i}", "labels": OURS},
                "spec": {"podSelector": {}, "ingress": rules}}  # fmt: skip

    statuses: list[Any] = [await in_portions([who.ask("POST", path, made(i)) for i in range(300)])]
    statuses.append(await who.many(4, "GET", f"{path}?{NET}", **TABLE))
    return [*statuses, await who.ask("DELETE", f"{path}?{NET}")]


@attack("addresses: 1,000 ranges of Services, and addresses that nobody has")
async def ranges(who: Attacker) -> list[Any]:
    base = "/apis/networking.k8s.io/v1"

    def cidr(i: int) -> dict[str, Any]:
        return {"apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR", "metadata": {"name": f"c{i}", "labels": OURS},
                "spec": {"cidrs": [f"172.{16 + (i >> 8)}.{i & 255}.0/24"]}}  # fmt: skip

    statuses: list[Any] = [await in_portions([who.ask("POST", f"{base}/servicecidrs", cidr(i)) for i in range(1_000)])]
    await asyncio.sleep(2)
    made = [service(f"ranged{i}") for i in range(100)]
    statuses.append(await in_portions([who.ask("POST", SERVICES, body) for body in made]))
    statuses += await away(who)
    statuses.append(await who.ask("DELETE", f"{base}/servicecidrs?{NET}"))
    await asyncio.sleep(3)
    return statuses


@attack("added servers: 600 that are not there")
async def added(who: Attacker) -> list[Any]:
    path = "/apis/apiregistration.k8s.io/v1/apiservices"

    def made(i: int) -> dict[str, Any]:
        spec = {"group": f"g{i}.example", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 1,
                "insecureSkipTLSVerify": True, "service": {"name": "x", "namespace": "default"}}  # fmt: skip
        return {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "spec": spec,
                "metadata": {"name": f"v1.g{i}.example", "labels": OURS}}  # fmt: skip

    statuses: list[Any] = [await in_portions([who.ask("POST", path, made(i)) for i in range(600)])]
    for each in ("/apis", "/openapi/v2", "/openapi/v3", "/apis/g7.example/v1/x"):
        statuses.append(await who.many(20, "GET", each))
    await asyncio.sleep(4)
    statuses.append(await who.ask("DELETE", f"{path}?{NET}"))
    await asyncio.sleep(3)
    return statuses


# -- who wants to see all that there is ---------------------------------------------------
async def initial(who: Attacker, count: int, **headers: str) -> int:
    """Watches that begin with all there is, read to the end of that."""
    await many_maps(who)

    async def begin() -> int:
        taken = 0
        with contextlib.suppress(TimeoutError, OSError, asyncio.IncompleteReadError):
            async with asyncio.timeout(8):
                reader, writer = await who.connect()
                writer.write(who.written("GET", f"{MANY}?{INITIAL}", **headers))
                while data := await reader.read(1 << 18):
                    taken += len(data)
                    if b"initial-events-end" in data:
                        break
                writer.transport.abort()
        return taken

    return sum(await asyncio.gather(*(begin() for _ in range(count)))) >> 20


@attack("watches: 300 that begin with 2,000 objects")
async def all_objects(who: Attacker) -> int:
    return await initial(who, 300)


@attack("watches: 100 that begin with 2,000 rows of a table")
async def all_rows(who: Attacker) -> int:
    return await initial(who, 100, **TABLE)


@attack("watches: 200 that begin with what 2,000 objects are called, as protobuf")
async def all_names(who: Attacker) -> int:
    accept = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    return await initial(who, 200, Accept=accept)


@attack("lists: 2,000 objects, two to a page, 30 at once")
async def pages(who: Attacker) -> int:
    await many_maps(who)

    async def leaf() -> int:
        token, turned = "", 0
        while turned < 200:
            page = await who.read(f"{MANY}?limit=2&continue={token}", Accept=NAMES_ONLY)
            token, turned = page["metadata"].get("continue", ""), turned + 1
            if not token:
                break
        return turned

    return sum(await asyncio.gather(*(leaf() for _ in range(30))))


# -- policies -----------------------------------------------------------------------------
async def by_policies(
    who: Attacker, spec: dict[str, Any], bodies: list[Any], count: int, binding: Any = None
) -> list[Any]:
    kinds = f"{ADMISSION}/mutatingadmissionpolic"
    statuses: list[Any] = []
    for number in range(count):
        name = f"net{number}"
        bound = admission("MutatingAdmissionPolicyBinding", name, spec={"policyName": name, **(binding or {})})
        made = admission("MutatingAdmissionPolicy", name, spec={"failurePolicy": "Fail", **spec})
        statuses += [await who.ask("POST", f"{kinds}ies", made), await who.ask("POST", f"{kinds}ybindings", bound)]
    await asyncio.sleep(1)
    asked = (who.ask("POST", f"{MAPS}?dryRun=All", body) for body in bodies)
    statuses = [set(statuses), list(await asyncio.gather(*asked))]
    for path in (f"{kinds}ybindings", f"{kinds}ies"):
        await who.ask("DELETE", f"{path}?labelSelector=of%3Dattack")
    await asyncio.sleep(1)
    return statuses


@attack("mutating policies: 100 that each apply to an object of 30,000 keys")
async def applied(who: Attacker) -> list[Any]:
    expression = "Object{metadata: Object.metadata{annotations: {'a': 'b'}}}"
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}
    spec = {"matchConstraints": {"resourceRules": [CREATES]}, "mutations": [mutation], "reinvocationPolicy": "IfNeeded"}
    return await by_policies(who, spec, [config_map(data={f"k{i}": "v" for i in range(30_000)})] * 2, 100)


@attack("mutating policy: 300 objects as its parameters, and large objects")
async def parametrised(who: Attacker) -> list[Any]:
    await many_maps(who)
    expression = "[JSONPatch{op: 'add', path: '/data/' + params.metadata.name, value: 'x'}]"
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}
    spec = {"matchConstraints": {"resourceRules": [CREATES]}, "mutations": [mutation], "reinvocationPolicy": "Never",
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}  # fmt: skip
    words = {"matchExpressions": [{"key": "a", "operator": "In", "values": [f"v{i}" for i in range(300)]}]}
    reference = {"namespace": "many", "selector": words, "parameterNotFoundAction": "Deny"}
    body = config_map(data={f"k{i}": "v" * 20 for i in range(20_000)})
    return await by_policies(who, spec, [body] * 2, 1, {"paramRef": reference})


@attack("mutating policy: 5,000 changes in one expression")
async def changes(who: Attacker) -> list[Any]:
    one = "JSONPatch{{op: 'add', path: '/data/x{}', value: object.data.k}}"
    expression = "[" + ", ".join(one.format(i) for i in range(5_000)) + "]"
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}
    spec = {"matchConstraints": {"resourceRules": [CREATES]}, "mutations": [mutation], "reinvocationPolicy": "Never"}
    return await by_policies(who, spec, [config_map(data={"k": "v" * 100})] * 4, 1)


# -- the cluster's DNS --------------------------------------------------------------------
async def sent(who: Attacker, packets: list[bytes], seconds: float = 5.0) -> int:
    """Datagrams, as fast as somebody reads them."""
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        asyncio.DatagramProtocol, remote_addr=("127.0.0.1", who.dns)
    )
    number, until = 0, asyncio.get_running_loop().time() + seconds
    while asyncio.get_running_loop().time() < until:
        for _ in range(50):
            transport.sendto(packets[number % len(packets)])
            number += 1
        await asyncio.sleep(0.005)
    transport.close()
    return number


@attack("DNS: names that there are not, never the same twice")
async def absent(who: Attacker) -> int:
    names = [b"\x10" + os.urandom(8).hex().encode() + b"\7default" + ZONE for _ in range(40_000)]
    return await sent(who, [question(1 if i % 2 else 28, name) for i, name in enumerate(names)], 6)


@attack("DNS: options without end, versions and classes that there are not")
async def options(who: Attacker) -> int:
    name = b"\nkubernetes\7default" + ZONE
    head = struct.pack("!6H", 7, 0x100, 1, 0, 0, 1) + name + struct.pack("!HH", 1, 1)
    many = b"".join(struct.pack("!HH", i % 65_536, 0) for i in range(15_000))
    packets = [
        head + b"\0" + struct.pack("!HHIH", 41, 65_535, 0, len(many)) + many,
        head + b"\0" + struct.pack("!HHIH", 41, 0, 0xFF_FF_FF_FF, 0),
        head + b"\0" + struct.pack("!HHIH", 41, 512, 0, 60_000),
        struct.pack("!6H", 7, 0x100, 1, 0, 0, 900) + name + struct.pack("!HH", 1, 1) + (b"\0" + struct.pack("!HHIH", 41, 512, 0, 0)) * 900,
        struct.pack("!6H", 7, 0x7800, 1, 0, 0, 0) + name + struct.pack("!HH", 255, 255),
        struct.pack("!6H", 7, 0x100, 1, 9_000, 9_000, 9_000) + name + struct.pack("!HH", 1, 1) + b"\xc0\x0c" * 20_000,
    ]  # fmt: skip
    return await sent(who, packets)


@attack("DNS: 600 connections that say a byte at a time")
async def slow_questions(who: Attacker) -> int:
    packet = question(1, b"\nkubernetes\7default" + ZONE)
    writers = []
    for _ in range(600):
        with contextlib.suppress(OSError):
            writers.append((await asyncio.open_connection("127.0.0.1", who.dns))[1])
    for byte in struct.pack("!H", len(packet)) + packet:
        for writer in writers:
            writer.write(bytes([byte]))
        await asyncio.sleep(0.05)
    for writer in writers:
        writer.transport.abort()
    return len(writers)


@attack("DNS: 100 connections full of questions, whose answers nobody reads")
async def piped(who: Attacker) -> int:
    packets = [question(kind, b"\nkubernetes\7default" + ZONE) for kind in (1, 28, 33, 255)]
    asked = b"".join(struct.pack("!H", len(packet)) + packet for packet in packets) * 2_000

    async def pour() -> int:
        sent = 0
        with contextlib.suppress(TimeoutError, OSError):
            async with asyncio.timeout(6):
                _, writer = await asyncio.open_connection("127.0.0.1", who.dns)
                writer.transport.pause_reading()  # type: ignore[attr-defined]
                while sent < 20:
                    writer.write(asked)
                    await writer.drain()
                    sent += 1
                writer.transport.abort()
        return sent

    return sum(await asyncio.gather(*(pour() for _ in range(100))))


@attack("DNS: 1,500 headless Services, and questions about addresses of theirs")
async def headless(who: Attacker) -> list[Any]:
    made = [service(f"h{i}", clusterIP="None") for i in range(1_500)]
    statuses: list[Any] = [await in_portions([who.ask("POST", SERVICES, body) for body in made])]
    slices = [slice_of(f"h{i}", i % 200, 20) for i in range(1_500)]
    statuses.append(await in_portions([who.ask("POST", SLICES, body) for body in slices]))
    reverse = [f"{i % 20}.0.{i % 200}.10.in-addr.arpa".split(".") for i in range(2_000)]
    names = [b"".join(bytes([len(p)]) + p.encode() for p in parts) + b"\0" for parts in reverse]
    statuses.append(await sent(who, [question(12, name) for name in names]))
    return [*statuses, *await away(who)]
