"""Objects that were valid until hypothesis put something into them, as JSON and as protobuf."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from lifecycle.api import protobuf
from lifecycle.api.resources import resource_for_kind
from tests.apiserver.recorded_exchanges import exchanges
from tests.fuzz_http.sent import Sent

SCENARIOS = ("journey", "objects", "corpus", "services", "storage", "scheduling", "admission", "authz")
PROTOBUF = "application/vnd.kubernetes.protobuf"
SAFE_GROUPS = ("admissionregistration.k8s.io", "apiregistration.k8s.io", "flowcontrol.apiserver.k8s.io")
"""What is stored of these decides about all later requests: it is only tried (`dryRun`)."""

texts = st.text(max_size=8) | st.sampled_from(
    ["", "-1", "1Gi", "99999999999999999999", "50%", "..", "x" * 300, "a/b/c", "\x00"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
PATCHES = {
    "application/merge-patch+json": lambda obj: obj,
    "application/strategic-merge-patch+json": lambda obj: obj,
    "application/apply-patch+yaml": lambda obj: obj,
    "application/json-patch+json": lambda obj: [
        {"op": op, "path": f"/{key}", "from": "/metadata/name", "value": value}
        for op in ("add", "replace", "copy", "test", "move", "remove")
        for key, value in obj.items()
    ],
}


def seeds() -> list[dict[str, Any]]:
    """Objects that a recorded cluster has taken, the first of each kind."""
    kinds: dict[str, dict[str, Any]] = {}
    for scenario in SCENARIOS:
        for exchange in exchanges(scenario):
            body = exchange["body"]
            if (
                exchange["method"] == "POST"
                and exchange["status"] == 201
                and isinstance(body, dict)
                and body.get("kind")
            ):
                kinds.setdefault(body["kind"], body)
    return list(kinds.values())


def objects(number: int, originals: list[dict[str, Any]]) -> Iterator[Sent]:
    """For ever: created, replaced and patched."""
    rng = random.Random(f"objects {number}")
    for turn in range(1 << 30):
        for value in _values(number * 1_000_003 + turn):
            obj = copy.deepcopy(rng.choice(originals))
            for _ in range(rng.choice((1, 1, 2, 5))):
                put_in(obj, copy.deepcopy(value), rng)
            original = rng.choice(originals) if rng.random() < 0.05 else obj
            row = resource_for_kind(str(original.get("apiVersion")), str(original.get("kind")))
            if row is None:
                row = resource_for_kind("v1", "ConfigMap")
                assert row is not None
            path = row.path("default" if row.namespaced else "")
            target = rng.choice(("", "", "?dryRun=All", "?fieldValidation=Strict", "?fieldManager=f&force=true"))
            if row.group in SAFE_GROUPS:
                target = "?dryRun=All&fieldManager=f"
            what = rng.random()
            if what < 0.5:
                yield Sent.request("objects", "POST", path + target, _json(obj), Content_Type="application/json")
            elif what < 0.7:
                yield Sent.request("objects", "PUT", f"{path}/x{target}", _json(obj), Content_Type="application/json")
            else:
                media_type = rng.choice(list(PATCHES))
                body = _json(PATCHES[media_type](obj))
                yield Sent.request("objects", "PATCH", f"{path}/x{target}", body, Content_Type=media_type)


def mutated_protobuf(number: int, originals: list[dict[str, Any]]) -> Iterator[Sent]:
    """For ever: messages of which some bytes are others, are missing or come twice."""
    rng = random.Random(f"protobuf {number}")
    encoded = []
    for obj in originals:
        row = resource_for_kind(obj["apiVersion"], obj["kind"])
        if row is not None and protobuf.is_supported(obj["apiVersion"], obj["kind"]) and row.group not in SAFE_GROUPS:
            encoded.append((row.path("default" if row.namespaced else ""), protobuf.encode(obj)))
    while True:
        path, message = rng.choice(encoded)
        data = bytearray(message)
        for _ in range(rng.choice((1, 1, 2, 8))):
            place = rng.randrange(len(data))
            match rng.randrange(5):
                case 0:
                    data[place] = rng.randrange(256)
                case 1:
                    data[place] ^= 1 << rng.randrange(8)
                case 2:
                    del data[place : place + rng.randrange(1, 9)]
                case 3:
                    data[place:place] = data[place : place + rng.randrange(1, 40)]
                case _:
                    data[place:place] = rng.choice(
                        (b"\xff" * 10, b"\x80" * 9 + b"\x01", b"\x0b", b"\xfa\xff\xff\xff\x0f")
                    )
            data = data or bytearray(b"\0")
        method, suffix = rng.choice((("POST", ""), ("POST", "?dryRun=All"), ("PUT", "/x")))
        accept = rng.choice(("application/json", PROTOBUF))
        yield Sent.request("protobuf", method, path + suffix, bytes(data), Content_Type=PROTOBUF, Accept=accept)


def put_in(obj: Any, value: Any, rng: random.Random) -> None:
    """Somewhere, instead of what is there, or beside it."""
    while True:
        keys = list(obj) if isinstance(obj, dict) else list(range(len(obj)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(obj[key], dict | list) and obj[key] and rng.random() < 0.85:
            obj = obj[key]
        elif isinstance(obj, dict) and rng.random() < 0.1:
            obj["x"] = value
            return
        else:
            obj[key] = value
            return


def _values(number: int) -> list[Any]:
    drawn: list[Any] = []

    @seed(number)
    @settings(
        max_examples=50, phases=[Phase.generate], database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(values)
    def collect(value: Any) -> None:
        drawn.append(value)

    collect()
    return drawn


def _json(value: Any) -> bytes:
    """What JSON cannot say is said all the same: NaN, numbers of any length, lone surrogates."""
    return json.dumps(value).encode("utf-8", "surrogatepass")
