"""Requests that are hard to read: bodies and patches.

Each sends what is allowed by size (3 MiB) and dear to read.
"""

from __future__ import annotations

from benchmarks.attacks.bodies import (
    APPLY,
    JSON_PATCH,
    MAPS,
    MERGE,
    MIB,
    PROTOBUF,
    SPACE,
    STRATEGIC,
    WIDGETS,
    YAML,
    config_map,
    pod,
    protobuf,
)
from benchmarks.attacks.table import request

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
