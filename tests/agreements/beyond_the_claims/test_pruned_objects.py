"""What is left of a custom object that says more than its schema knows."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.apiextensions.pruning import prune

ANYTHING: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
TEXT: Object = {"type": "string"}
KNOWN: Object = {"type": "object", "properties": {"a": TEXT}}
RESOURCE = {**KNOWN, "x-kubernetes-embedded-resource": True}
SCHEMA: Object = {
    "type": "object",
    "properties": {
        "known": KNOWN,
        "listed": {"type": "array", "items": KNOWN},
        "map": {
            "type": "object",
            "properties": {"b": {"type": "object"}},
            "additionalProperties": KNOWN,
        },
        "open map": {"type": "object", "additionalProperties": True},
        "any": {**ANYTHING, "properties": {"known": KNOWN}},
        "any list": {"type": "array", "x-kubernetes-preserve-unknown-fields": True},
        "inner": RESOURCE,
        "inner list": {"type": "array", "items": RESOURCE},
    },
}
HEAD: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": {"x": 1}}
TOO_MUCH: Object = {
    **HEAD,
    "status": {},
    "known": {**HEAD, "a": "1", "x": 1},
    "listed": [{"a": "1", "x": 1}, {"y": 1}],
    "map": {"b": {"a": "1"}, "c": {"a": "1", "x": 1}},
    "open map": {"x": 1},
    "any": {"x": 1, "known": {"a": "1", "x": 1}},
    "any list": [{"x": 1}],
    "inner": {**HEAD, "a": "1", "x": 1},
    "inner list": [{**HEAD, "x": 1}],
}
LEFT: Object = {
    **HEAD,
    "known": {"a": "1"},
    "listed": [{"a": "1"}, {}],
    "map": {"b": {}, "c": {"a": "1"}},
    "open map": {"x": 1},
    "any": {"x": 1, "known": {"a": "1"}},
    "any list": [{"x": 1}],
    "inner": {**HEAD, "a": "1"},
    "inner list": [HEAD],
}
DROPPED = [
    "any.known.x",
    "inner list[0].x",
    "inner.x",
    "known.apiVersion",
    "known.kind",
    "known.metadata",
    "known.x",
    "listed[0].x",
    "listed[1].y",
    "map.b.a",
    "map.c.x",
    "status",
]


def test_what_the_schema_knows_is_left_and_all_below_what_may_be_anything() -> None:
    """Of an object in the object, its head as well."""
    obj: Any = deepcopy(TOO_MUCH)
    assert prune(obj, SCHEMA) == DROPPED
    assert obj == LEFT


def test_what_is_no_object_of_its_own_has_no_head() -> None:
    assert prune(deepcopy(HEAD), KNOWN, is_root=False) == sorted(HEAD)
