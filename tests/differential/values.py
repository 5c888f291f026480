"""Random values: such as a schema asks for, mostly, and sometimes such as it does not."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from tests.differential.published import Published, Schema

_BY_NAME: dict[str, tuple[Any, ...]] = {
    "name": ("one", "two", "web", "a.b", "One", "-bad", "", "x" * 64),
    "namespace": ("{ns}", "other", ""),
    "image": ("nginx:1.27", "busybox", "registry.example/app@sha256:" + "0" * 64, "Bad Image", ""),
    "labels": ({"app": "web"}, {"a b": "c"}, {}),
    "key": ("app", "kubernetes.io/hostname", "bad key!", ""),
    "operator": ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Equal", "is"),
    "schedule": ("*/5 * * * *", "@hourly", "61 * * * *", "TZ=UTC 0 0 * * *"),
    "cidr": ("10.0.0.0/8", "2001:db8::/64", "10.0.0.1/8", "10.0.0"),
    "ip": ("192.0.2.1", "2001:db8::1", "010.0.0.1", "localhost"),
    "path": ("/", "/healthz", "relative", "../up"),
    "apiGroup": ("", "rbac.authorization.k8s.io", "apps", "Bad/Group"),
    "apiVersion": ("v1", "apps/v1", "no/such/version", ""),
    "kind": ("Pod", "Deployment", "User", "NoSuch", ""),
    "finalizers": (["example.com/hold"], ["kubernetes"], ["bare"], [""]),
    "resourceVersion": ("", "0", "1", "x"),
    "uid": ("", "{uid}", "00000000-0000-0000-0000-000000000000"),
}
_STRINGS = (
    "",
    "a",
    "A-b",
    "a.b",
    "a/b",
    "a b",
    "ü",
    "x" * 254,
    "1",
    "100m",
    "50%",
    "true",
    "null",
    "<&>",
    'q"uote',
    "line\nbreak",
)
_QUANTITIES = ("1", "100m", "1Gi", "0.5", "1e3", "-1", 2, 0.25, "x", "1.0001m", 2**63)
_INTEGERS = (0, 1, 2, 80, 420, 3600, -1, 65536, 2**31 - 1, 2**31, 2**53, -(2**63), 2**63, 1.5, 1.0)
WRONG: tuple[Any, ...] = (None, True, 0, -1, 1.5, "", "text", [], {}, [None], [""], {"a": "b"}, [{}], [[1]], {"": None})


class Values:
    """Random values from published schemas. `wildness`: how often one does not fit."""

    def __init__(self, published: Published, random: Random, wildness: float = 0.04) -> None:
        self._published = published
        self._random = random
        self._wildness = wildness

    def of(self, schema: Schema, name: str = "", depth: int = 0) -> Any:
        """A value for a field called `name`."""
        random = self._random
        if random.random() < self._wildness:
            return copy.deepcopy(random.choice(WRONG))
        if name in _BY_NAME and random.random() < 0.8:
            return copy.deepcopy(random.choice(_BY_NAME[name]))
        title, schema = self._published.resolve(schema)
        if title.endswith("resource.Quantity"):
            return random.choice(_QUANTITIES)
        if schema.get("format") == "int-or-string":
            return random.choice((80, "http", "50%", "25%", 0, -1, "1.5%", 2**31))
        kind = schema.get("type") or ("object" if "properties" in schema else "")
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return [self.of(schema.get("items", {}), name, depth + 1) for _ in range(random.choice((0, 1, 1, 2)))]
        return self._scalar(kind, schema)

    def _object(self, schema: Schema, depth: int) -> Any:
        random = self._random
        properties = schema.get("properties")
        if properties is None:
            values = schema.get("additionalProperties")
            values = values if isinstance(values, dict) else {"type": "string"}
            return {
                key: self.of(values, "", depth + 1)
                for key in random.sample(("a", "b.c", "example.com/d", "E"), random.choice((0, 1, 2)))
            }
        needed = schema.get("required", ())
        return {
            key: self.of(part, key, depth + 1)
            for key, part in properties.items()
            if random.random() < (0.97 if key in needed else 0.35 / (1 + depth))
        }

    def _scalar(self, kind: str, schema: Schema) -> Any:
        random = self._random
        if "enum" in schema and random.random() < 0.8:
            return random.choice(schema["enum"])
        if kind == "boolean":
            return random.random() < 0.5
        if kind in ("integer", "number"):
            return random.choice(_INTEGERS)
        if schema.get("format") in ("date-time", "micro-time"):
            return random.choice(
                ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000006Z", "2026-01-02T03:04:05+01:00", "yesterday")
            )
        if schema.get("format") == "byte":
            return random.choice(("", "aGVsbG8=", "aGVsbG8", "not base64!"))
        return random.choice(_STRINGS)
