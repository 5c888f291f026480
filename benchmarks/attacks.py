"""The kinds of attack that `benchmarks.prober` runs: a name, and what somebody does.

Each sends what is allowed by size (3 MiB bodies, 1 MiB heads) and dear to answer. An attack returns the statuses that it got.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.attacker import Attacker

MIB = 1 << 20
SPACE = "/api/v1/namespaces/default"
MAPS = f"{SPACE}/configmaps"
WIDGETS = "/apis/attack.example/v1/namespaces/default/widgets"
YAML = {"Content_Type": "application/yaml"}
PROTOBUF = {"Content_Type": "application/vnd.kubernetes.protobuf"}
JSON_PATCH = {"Content_Type": "application/json-patch+json"}
MERGE = {"Content_Type": "application/merge-patch+json"}
STRATEGIC = {"Content_Type": "application/strategic-merge-patch+json"}
APPLY = {"Content_Type": "application/apply-patch+yaml"}

Attack = Callable[[Attacker], Awaitable[Any]]
ATTACKS: dict[str, Attack] = {}


def attack(name: str) -> Callable[[Attack], Attack]:
    """Enter an attack in the table."""

    def enter(do: Attack) -> Attack:
        ATTACKS[name] = do
        return do

    return enter


def request(name: str, times: int, method: str, path: str, make: Callable[[], Any] = bytes, **headers: str) -> None:
    """Enter one request, sent `times` times at once. `make` makes its body when the attack begins."""

    async def do(who: Attacker) -> Any:
        return await who.many(times, method, path, make(), **headers)

    ATTACKS[name] = do


def config_map(name: str = "", **fields: Any) -> dict[str, Any]:
    metadata = {"name": name} if name else {"generateName": "attack-"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**metadata, **fields.pop("metadata", {})}, **fields}


def pod(**spec: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "nginx"}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "attack-"}, "spec": spec}


def protobuf(raw: bytes, kind: bytes = b"ConfigMap") -> bytes:
    meta = b"\n\x02v1\x12" + bytes([len(kind)]) + kind
    size, length = len(raw), b""
    while size > 127:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    return b"k8s\x00\n" + bytes([len(meta)]) + meta + b"\x12" + length + bytes([size]) + raw


def policy(expression: str, variables: int = 0) -> dict[str, Any]:
    named = [{"name": "v0", "expression": "[1,2,3,4,5,6,7,8,9,10]"}]
    named += [{"name": f"v{i}", "expression": f"variables.v{i - 1} + variables.v{i - 1}"} for i in range(1, variables)]
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "attack"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "variables": named,
            "validations": [{"expression": expression}],
        },
    }


def definition(plural: str, schema: dict[str, Any]) -> dict[str, Any]:
    kind = plural[:-1].capitalize()
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.attack.example"},
        "spec": {
            "group": "attack.example",
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": plural[:-1], "kind": kind, "listKind": f"{kind}List"},
            "versions": [version],
        },
    }


OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


async def prepare(who: Attacker) -> None:
    """What the attacks meet: a custom resource, a few objects, 40 MB of ConfigMaps."""
    schema = {
        "type": "object",
        "properties": {
            "any": OPEN,
            "word": {"type": "string", "pattern": "^(a+)+$"},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        },
    }
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert await who.ask("POST", definitions, definition("widgets", schema)) == 201
    for _ in range(100):
        if await who.ask("GET", WIDGETS) == 200:
            break
        await asyncio.sleep(0.05)
    assert await who.ask("POST", MAPS, config_map("victim", data={"a": "b"})) == 201
    widget = {"apiVersion": "attack.example/v1", "kind": "Widget", "metadata": {"name": "w"}, "any": {"a": "b" * 1000}}
    assert await who.ask("POST", WIDGETS, widget) == 201
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "big"}}
    assert await who.ask("POST", "/api/v1/namespaces", space) == 201
    for number in range(40):
        big = config_map(f"big-{number}", data={"k": "v" * 1_000_000})
        assert await who.ask("POST", "/api/v1/namespaces/big/configmaps", big) == 201


# -- bodies that are hard to read ------------------------------------------------------
request("JSON: 250,000 brackets deep", 3, "POST", MAPS, lambda: b"[" * 250_000 + b"]" * 250_000)
request("JSON: 3 MB deep", 3, "POST", MAPS, lambda: b'{"a":' * 600_000)
request("JSON: 3 MB that ends wrong", 3, "POST", MAPS, lambda: b"[" + b"[[[[[]]]]]," * 260_000 + b"x")
request("JSON: 1 MB of one number", 3, "POST", MAPS, lambda: b'{"a":' + b"9" * MIB + b"}")
request("JSON: 3 MB of escapes", 3, "POST", MAPS, lambda: b'{"a":"' + rb"\u0041" * 500_000 + b'"}')
request("JSON: a string of lone surrogates", 3, "POST", MAPS, lambda: b'{"a":"' + rb"\ud800" * 500_000 + b'"}')
request("JSON: 300,000 keys twice", 3, "POST", MAPS, lambda: b"{" + b'"a":1,' * 480_000 + b'"a":1}')
request("JSON: not UTF-8", 3, "POST", MAPS, lambda: b'{"a":"' + b"\xff" * 3_000_000 + b'"}')
request(
    "strict: 200,000 unknown fields", 2, "POST", f"{MAPS}?fieldValidation=Strict",
    lambda: config_map(**{f"x{i}": 1 for i in range(200_000)}),
)  # fmt: skip
request("warn: 200,000 unknown fields", 2, "POST", MAPS, lambda: config_map(**{f"x{i}": 1 for i in range(200_000)}))
request("data: 200,000 keys", 2, "POST", MAPS, lambda: config_map(data={f"k{i}": "" for i in range(200_000)}))
request("data: 200,000 bad keys", 2, "POST", MAPS, lambda: config_map(data={f"k/{i}": "" for i in range(190_000)}))
request(
    "data: values that are no strings", 2, "POST", MAPS, lambda: config_map(data={f"k{i}": 1 for i in range(200_000)})
)
request(
    "labels: 100,000", 2, "POST", MAPS,
    lambda: config_map(metadata={"labels": {f"a.example/k{i}": "x" for i in range(100_000)}}),
)  # fmt: skip
request(
    "labels: 100,000 bad", 2, "POST", MAPS,
    lambda: config_map(metadata={"labels": {f"-k{i}": "-" for i in range(100_000)}}),
)  # fmt: skip
request("annotations: 3 MB", 2, "POST", MAPS, lambda: config_map(metadata={"annotations": {"a": "b" * 3_000_000}}))
request("finalizers: 100,000", 2, "POST", MAPS, lambda: config_map(metadata={"finalizers": ["a.example/b"] * 150_000}))
request(
    "owners: 20,000", 2, "POST", MAPS,
    lambda: config_map(metadata={"ownerReferences": [
        {"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": str(i)} for i in range(40_000)]}),
)  # fmt: skip
request("YAML: 3 MB of lists", 2, "POST", MAPS, lambda: b"- a\n" * 700_000, **YAML)
request("YAML: 3 MB deep", 2, "POST", MAPS, lambda: b"[" * 3_000_000, **YAML)
request("YAML: 8 bodies of 3 MB", 8, "POST", MAPS, lambda: b"a: [" + b"b, " * 1_000_000 + b"]", **YAML)
request(
    "YAML: billion laughs", 2, "POST", MAPS,
    lambda: b"a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + b"".join(
        f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n".encode() for i in range(1, 10)),
    **YAML,
)  # fmt: skip
request("YAML: below the limit", 12, "POST", MAPS, lambda: b"a: [" + b"b, " * 20_000 + b"]", **YAML)
request("YAML: 60 KB of indentation", 4, "POST", MAPS, lambda: b"\n".join(b" " * i + b"a:" for i in range(340)), **YAML)
request("protobuf: 3 MB of zeroes", 2, "POST", MAPS, lambda: protobuf(bytes(3_000_000)), **PROTOBUF)
request("protobuf: 500,000 entries", 2, "POST", MAPS, lambda: protobuf(b"\x12\x04\n\x00\x12\x00" * 480_000), **PROTOBUF)
request("protobuf: deep", 2, "POST", MAPS, lambda: protobuf(b"\x0b" * 3_000_000), **PROTOBUF)
request("protobuf: 3 MB unknown fields", 2, "POST", MAPS, lambda: protobuf(b"\xf8\x07\x01" * MIB), **PROTOBUF)
request(
    "protobuf: pod of containers",
    2,
    "POST",
    f"{SPACE}/pods",
    lambda: protobuf(b"\x12\x80\x80\x40" + b"\x12\x00" * (1 << 19), b"Pod"),
    **PROTOBUF,
)
request(
    "pod: 40,000 containers", 2, "POST", f"{SPACE}/pods",
    lambda: pod(containers=[{"name": f"c{i}", "image": "x"} for i in range(40_000)]),
)  # fmt: skip
request(
    "pod: 100,000 variables", 2, "POST", f"{SPACE}/pods",
    lambda: pod(containers=[{"name": "c", "image": "x", "env": [{"name": f"E{i}", "value": "$(E1)"} for i in range(80_000)]}]),
)  # fmt: skip
request(
    "pod: 60,000 tolerations", 2, "POST", f"{SPACE}/pods",
    lambda: pod(tolerations=[{"key": f"k{i}", "operator": "Exists"} for i in range(60_000)]),
)  # fmt: skip
request(
    "pod: 60,000 volumes",
    2,
    "POST",
    f"{SPACE}/pods",
    lambda: pod(volumes=[{"name": f"v{i}", "emptyDir": {}} for i in range(60_000)]),
)
request(
    "quantity: 1 MB of digits", 3, "POST", f"{SPACE}/pods",
    lambda: pod(containers=[{"name": "c", "image": "x", "resources": {"limits": {"cpu": "9" * MIB}}}]),
)  # fmt: skip
request(
    "quantity: a large exponent", 3, "POST", f"{SPACE}/pods",
    lambda: pod(containers=[{"name": "c", "image": "x", "resources": {"limits": {"cpu": "1e999999999"}}}]),
)  # fmt: skip
request(
    "service: 60,000 ports", 2, "POST", f"{SPACE}/services",
    lambda: {"apiVersion": "v1", "kind": "Service", "metadata": {"generateName": "s-"},
             "spec": {"ports": [{"port": i + 1, "name": f"p{i}"} for i in range(60_000)]}},
)  # fmt: skip
request(
    "role: 60,000 rules", 2, "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
    lambda: {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"generateName": "r-"},
             "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": [f"v{i}"]} for i in range(45_000)]},
)  # fmt: skip
request(
    "network policy: 30,000 peers", 2, "POST", "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
    lambda: {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"generateName": "n-"},
             "spec": {"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}] * 60_000}]}},
)  # fmt: skip
request(
    "access review: 3 MB of groups", 2, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    lambda: {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
             "spec": {"user": "x", "groups": [f"g{i}" for i in range(250_000)], "resourceAttributes": {"verb": "get", "resource": "pods"}}},
)  # fmt: skip
request(
    "token review: 3 MB", 3, "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
    lambda: {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "a.b." + "c" * 3_000_000}},
)  # fmt: skip

# -- patches ---------------------------------------------------------------------------
request(
    "JSON patch: 30 doubling copies", 2, "PATCH", f"{WIDGETS}/w",
    lambda: [{"op": "copy", "from": "/any", "path": f"/any/x{i}"} for i in range(30)], **JSON_PATCH,
)  # fmt: skip
request(
    "JSON patch: 10,000 adds", 2, "PATCH", f"{MAPS}/victim",
    lambda: [{"op": "add", "path": f"/data/k{i}", "value": "v"} for i in range(9_999)], **JSON_PATCH,
)  # fmt: skip
request(
    "JSON patch: 10,000 inserts at the head", 2, "PATCH", f"{WIDGETS}/w",
    lambda: [{"op": "add", "path": "/any/l", "value": []}]
    + [{"op": "add", "path": "/any/l/0", "value": "v"} for i in range(9_998)], **JSON_PATCH,
)  # fmt: skip
request(
    "JSON patch: 100,000 operations", 2, "PATCH", f"{MAPS}/victim",
    lambda: [{"op": "test", "path": "/data/a", "value": "b"}] * 60_000, **JSON_PATCH,
)  # fmt: skip
request(
    "JSON patch: a path of 1 MB", 2, "PATCH", f"{MAPS}/victim",
    lambda: [{"op": "add", "path": "/a" * 500_000, "value": "b"}], **JSON_PATCH,
)  # fmt: skip
request(
    "merge patch: 200,000 keys",
    2,
    "PATCH",
    f"{MAPS}/victim",
    lambda: {"data": {f"k{i}": "" for i in range(200_000)}},
    **MERGE,
)
request(
    "merge patch: deep",
    2,
    "PATCH",
    f"{WIDGETS}/w",
    lambda: b'{"any":' + b'{"a":' * 200_000 + b"1" + b"}" * 200_001,
    **MERGE,
)
request(
    "strategic patch: 60,000 finalizers", 2, "PATCH", f"{MAPS}/victim",
    lambda: {"metadata": {"finalizers": [f"a.example/{i}" for i in range(60_000)]}}, **STRATEGIC,
)  # fmt: skip
request(
    "strategic patch: orders and deletions", 2, "PATCH", f"{MAPS}/victim",
    lambda: {"metadata": {"$setElementOrder/finalizers": [f"a/{i}" for i in range(60_000)],
                          "$deleteFromPrimitiveList/finalizers": [f"a/{i}" for i in range(60_000)]}}, **STRATEGIC,
)  # fmt: skip
request(
    "apply: 100,000 keys", 2, "PATCH", f"{MAPS}/applied?fieldManager=x&force=true",
    lambda: config_map("applied", data={f"k{i}": "" for i in range(60_000)}), **APPLY,
)  # fmt: skip
request(
    "apply: a set of 60,000", 2, "PATCH", f"{WIDGETS}/applied?fieldManager=x&force=true",
    lambda: {"apiVersion": "attack.example/v1", "kind": "Widget", "metadata": {"name": "applied"}, "set": [f"s{i}" for i in range(60_000)]},
    **APPLY,
)  # fmt: skip

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
BIG = "/api/v1/namespaces/big/configmaps"
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


# -- HTTP ------------------------------------------------------------------------------
request("URL: 900 KB", 20, "GET", "/" + "a" * 900_000)
request("URL: 300,000 escapes", 5, "GET", "/" + "%41" * 300_000)
request("query: 200,000 parameters", 5, "GET", f"{MAPS}?" + "a=b&" * 200_000)
request("header: accept of 900 KB", 5, "GET", MAPS, Accept=", ".join(["application/json;q=0.1"] * 36_000))
request("header: authorization of 900 KB", 5, "GET", MAPS, Authorization="Bearer a." + "b" * 900_000 + ".c")
request("header: authorization, 300 KB of dots", 5, "GET", MAPS, Authorization="Bearer " + "." * 300_000)
request("header: user agent of 900 KB", 5, "GET", MAPS, User_Agent="x" * 900_000)
request(
    "header: 900 KB of impersonated extras", 5, "GET", MAPS, Impersonate_User="x", Impersonate_Extra_a="y" * 900_000
)
request("header: accept-encoding of 900 KB", 5, "GET", MAPS, Accept_Encoding="gzip;q=0.1, " * 60_000)
request("header: traceparent of 900 KB", 5, "GET", MAPS, Traceparent="00-" + "a" * 900_000)
request(
    "upgrade to what nobody speaks",
    20,
    "GET",
    f"{SPACE}/pods/x/exec?command=a",
    Connection="Upgrade",
    Upgrade="x" * 100_000,
)
request(
    "websocket with 100 KB of protocols",
    5,
    "GET",
    f"{SPACE}/pods/x/exec?command=a",
    Connection="Upgrade",
    Upgrade="websocket",
    Sec_WebSocket_Protocol="a," * 50_000,
)
request("exec: 200,000 words", 3, "POST", f"{SPACE}/pods/x/exec?" + "command=a&" * 90_000)
request(
    "gzip bomb as a body",
    3,
    "POST",
    MAPS,
    lambda: zlib.compress(bytes(500 * MIB), 9)[: 3 * MIB],
    Content_Encoding="gzip",
)
request(
    "base64: secret of 1 MB",
    3,
    "POST",
    f"{SPACE}/secrets",
    lambda: {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"generateName": "s-"},
        "data": {"a": base64.b64encode(bytes(1_000_000)).decode()},
    },
)


@attack("header: 20,000 lines")
async def header_lines(who: Attacker) -> set[int]:
    head = who.written("GET", MAPS, Connection="close")[:-2]
    lines = b"".join(b"X-%d: y\r\n" % number for number in range(60_000))
    return {await who.send(head + lines + b"\r\n") for _ in range(3)}


@attack("chunks of one byte")
async def small_chunks(who: Attacker) -> set[int]:
    head = re.sub(
        rb"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n", who.written("POST", MAPS, Connection="close")
    )
    return {await who.send(head + b"1\r\na\r\n" * 500_000 + b"0\r\n\r\n") for _ in range(2)}


@attack("20,000 requests in one piece")
async def pipelined(who: Attacker) -> None:
    reader, writer = await who.connect()
    writer.write(who.written("GET", "/version") * 4_000)
    for _ in range(40):
        await reader.read(1 << 16)


@attack("300 connections that say one byte at a time")
async def slow_clients(who: Attacker) -> None:
    writers = [(await who.connect())[1] for _ in range(100)]
    for byte in who.written("GET", "/version")[:40]:
        for writer in writers:
            writer.write(bytes([byte]))
        await asyncio.sleep(0.05)


@attack("bytes that are not HTTP")
async def no_http(who: Attacker) -> set[int]:
    return {await who.send(bytes(range(256)) * 4_000) for _ in range(5)}


@attack("300 anonymous paths of 900 KB")
async def anonymous_paths(who: Attacker) -> set[int]:
    return {await who.ask("GET", f"/{number}{'a' * 900_000}", Authorization="") for number in range(60)}


@attack("5,000 events")
async def events(who: Attacker) -> set[int]:
    statuses = set()
    for _ in range(20):
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": "e-"},
            "involvedObject": {"namespace": "default"},
        }
        statuses |= await who.many(25, "POST", f"{SPACE}/events", body)
    return statuses
