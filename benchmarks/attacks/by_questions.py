"""Requests that are hard to answer: selectors, patterns, expressions, long lists, and watches that nobody reads."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import BIG, MAPS, MERGE, MIB, WIDGETS, config_map, definition, policy
from benchmarks.attacks.table import ATTACKS, attack, request

# -- expressions -----------------------------------------------------------------------
LONG = ",".join(f"a{i}" for i in range(90_000))
request("selector: 500 KB of keys", 3, "GET", f"{MAPS}?labelSelector={LONG}")
request("selector: in ( 500 KB )", 3, "GET", f"{MAPS}?labelSelector=a%20in%20({LONG})")
request("selector: 500 KB of spaces", 3, "GET", f"{MAPS}?labelSelector=a{'%20' * 160_000}b")
request("field selector: 500 KB", 3, "GET", f"{MAPS}?fieldSelector=" + ",".join(["metadata.name=a"] * 30_000))
request(
    "delete collection by a long selector", 2, "DELETE",
    f"{MAPS}?dryRun=All&labelSelector={','.join(f'!z{i}' for i in range(60_000))}",
)  # fmt: skip
request(
    "pattern: nested repetition", 3, "POST", WIDGETS,
    lambda: {"apiVersion": "attack.example/v1", "kind": "Widget", "metadata": {"generateName": "p-"}, "word": "a" * MIB + "!"},
)  # fmt: skip
request(
    "pattern: (((a{100}){100}){100})", 2, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    lambda: definition("repeats", {"type": "object", "properties": {"a": {"type": "string", "pattern": "((a{100}){100}){100}"}}}),
)  # fmt: skip
request(
    "CRD: a schema of 3 MB", 2, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All",
    lambda: definition("larges", {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(80_000)}}),
)  # fmt: skip
request(
    "set with 100,000 members", 2, "POST", WIDGETS,
    lambda: {"apiVersion": "attack.example/v1", "kind": "Widget", "metadata": {"generateName": "s-"},
             "set": [f"s{i}" for i in range(150_000)]},
)  # fmt: skip


async def _with_policy(who: Attacker, made: dict[str, Any], times: int = 2) -> set[int]:
    policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "attack"},
        "spec": {"policyName": "attack", "validationActions": ["Deny"]},
    }
    statuses = {await who.ask("POST", policies, made)}
    await who.ask("POST", f"{policies.removesuffix('ies')}ybindings", binding)
    await asyncio.sleep(0.3)
    statuses |= await who.many(
        times, "POST", f"{MAPS}?dryRun=All", config_map(data={f"k{i}": "x" for i in range(3_000)})
    )
    await who.ask("DELETE", f"{policies.removesuffix('ies')}ybindings/attack")
    await who.ask("DELETE", f"{policies}/attack")
    await asyncio.sleep(0.2)
    return statuses


def cel(name: str, expression: str, variables: int = 0) -> None:
    async def do(who: Attacker) -> Any:
        return await _with_policy(who, policy(expression, variables))

    ATTACKS[name] = do


cel("CEL: 24 doubling variables", "size(variables.v20) > 0", 21)
cel("CEL: loops in loops", "object.data.all(a, object.data.all(b, object.data.all(c, a + b + c != '')))")
cel("CEL: a text that doubles", "[1].map(a, 'x')[0] " + ".replace('x', 'xx')" * 22 + " != ''")
cel("CEL: 1 MB of terms", " + ".join(["1"] * 200_000) + " > 0")
cel("CEL: brackets", "(" * 100_000 + "true" + ")" * 100_000)
cel(
    "CEL: lists of lists",
    "[1,2,3,4,5,6,7,8,9,10]" + "".join(f".map(x{i}, [1,2,3,4,5,6,7,8,9,10])" for i in range(3)) + ".isSorted()",
)
cel("CEL: matches a large pattern", "'a'.matches('" + "(a|b)*" * 20_000 + "')")

# -- lists, watches, tables ------------------------------------------------------------
request("list: 40 MB, four at once", 4, "GET", BIG)
request("list: 40 MB as YAML", 1, "GET", BIG, Accept="application/yaml")
request("list: 40 MB as protobuf", 2, "GET", BIG, Accept="application/vnd.kubernetes.protobuf")
request("list: 40 MB gzipped", 2, "GET", BIG, Accept_Encoding="gzip")
request(
    "list: 40 MB as a table with objects",
    2,
    "GET",
    f"{BIG}?includeObject=Object",
    Accept="application/json;as=Table;v=v1;g=meta.k8s.io",
)
request("list: pretty", 1, "GET", f"{BIG}?pretty=true")
request("get: 300 at once", 300, "GET", f"{BIG}/big-1")
request(
    "discovery: aggregated, 40 at once",
    40,
    "GET",
    "/apis",
    Accept="application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
)
request("openapi v2, four at once", 4, "GET", "/openapi/v2")
request(
    "openapi v2 as protobuf",
    2,
    "GET",
    "/openapi/v2",
    Accept="application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
)
request("openapi v3, eight at once", 8, "GET", "/openapi/v3/api/v1")
request("metrics, eight at once", 8, "GET", "/metrics")
request("continue token: 1 MB", 3, "GET", f"{MAPS}?limit=1&continue=" + "a" * 900_000)


@attack("60 lists of 40 MB that nobody reads")
async def unread_lists(who: Attacker) -> None:
    await who.unread(60, BIG)


@attack("60 lists of 40 MB as YAML that nobody reads")
async def unread_yaml(who: Attacker) -> None:
    await who.unread(4, BIG, Accept="application/yaml")


@attack("200 watches that nobody reads, and large changes")
async def unread_watches(who: Attacker) -> set[int]:
    await who.unread(200, f"{MAPS}?watch=true", seconds=0.5)
    body = json.dumps({"data": {"k": "w" * 900_000}}).encode()
    statuses = set()
    for _ in range(12):
        statuses.add(await who.ask("PATCH", f"{MAPS}/victim", body, **MERGE))
        body = body.replace(b"w" * 10, b"x" * 10, 1)
    return statuses


@attack("100 watches with the initial 40 MB that nobody reads")
async def unread_initial(who: Attacker) -> None:
    await who.unread(
        60, f"{BIG}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    )
