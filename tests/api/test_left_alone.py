"""A patch is read only where it changed something; what comes out is what reading all of it gives."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from lifecycle.api.patch.strategic import strategic_merge_patch
from lifecycle.api.schema import decode, schema_for
from lifecycle.api.schema.from_unstructured import from_unstructured
from lifecycle.api.schema.gotypes import struct_for
from lifecycle.api.schema.left_alone import put_back, take_out
from tests.api.recorded_writes import RECORDINGS, lines
from tests.apiserver.registry.by_kind import set_defaults

Object = dict[str, Any]


def read(obj: Object, like: Object) -> Object:
    """As the server reads what a strategic merge patch leaves."""
    restored, _ = from_unstructured(obj, like["apiVersion"], like["kind"])
    decoded, _ = decode(restored, like["apiVersion"], like["kind"])
    return decoded


def read_where_it_changed(obj: Object, live: Object) -> Object:
    struct = struct_for(live["apiVersion"], live["kind"])
    assert struct is not None
    changed, left = take_out(obj, live, struct)
    decoded = read(changed, live)
    put_back(decoded, left, struct)
    return decoded


def recorded_objects() -> Iterator[Object]:
    """One of each kind and shape that a real server answered with."""
    seen = set()
    for path in sorted((RECORDINGS / "kind-1.36.2" / "http").glob("*.jsonl")):
        for line in lines(str(path.relative_to(RECORDINGS))):
            obj = line["response"]
            items = obj.get("items") or [obj] if isinstance(obj, dict) else []
            for item in items:
                if not isinstance(item, dict) or not (item.get("metadata") or {}).get("uid") or "kind" not in item:
                    continue
                if (struct := struct_for(item["apiVersion"], item["kind"])) is None or struct.startswith("meta/"):
                    continue
                shape = (item["kind"], *item, *(item.get("spec") or ()), *(item.get("status") or ()))
                if shape not in seen:
                    seen.add(shape)
                    yield read(decode(item, item["apiVersion"], item["kind"])[0], item)


def patches(live: Object) -> Iterator[Object]:
    """Something new, nothing at all, and each part of each part: gone, and given again as it is."""
    yield {"metadata": {"labels": {"zone": "z", "a": "b"}, "finalizers": ["example.org/a"]}}
    yield {}
    for top, part in live.items():
        if not isinstance(part, dict):
            continue
        yield {top: {}}
        yield {top: None} if top != "metadata" else {}
        for key, value in part.items():
            yield {top: {key: None}}
            yield {top: {key: value}}
            if isinstance(value, dict):
                yield {top: {key: {}}}


OBJECTS = list(recorded_objects())


@pytest.mark.parametrize("live", OBJECTS, ids=lambda live: f"{live['kind']}-{live['metadata']['name']}")
def test_what_is_left_alone_is_what_reading_it_anew_would_give(live: Object) -> None:
    schema = schema_for(live["apiVersion"], live["kind"])
    before = copy.deepcopy(live)
    for patch in patches(live):
        patched = strategic_merge_patch(live, copy.deepcopy(patch), schema)
        expected = json.dumps(read(patched, live))
        found = read_where_it_changed(patched, live)
        assert json.dumps(found) == expected, patch  # the order of the keys counts, too
    assert live == before


def test_there_are_objects_of_many_kinds() -> None:
    assert len({live["kind"] for live in OBJECTS}) >= 10


def test_what_is_put_back_is_nobody_elses() -> None:
    live = decode(
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "u"},
         "status": {"images": [{"names": ["a"]}], "capacity": {"cpu": "1"}}}, "v1", "Node",
    )[0]  # fmt: skip
    patched = strategic_merge_patch(live, {"spec": {"podCIDR": "10.0.0.0/24"}}, schema_for("v1", "Node"))
    found = read_where_it_changed(patched, live)
    found["status"]["images"][0]["names"].append("b")
    found["status"]["capacity"]["cpu"] = "2"
    assert live["status"]["images"] == [{"names": ["a"]}]
    assert live["status"]["capacity"] == {"cpu": "1"}


def test_of_a_small_patch_little_is_read() -> None:
    live = decode(
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "u", "labels": {"a": "b"}},
         "status": {"images": [{"names": ["a"]}]}}, "v1", "Node",
    )[0]  # fmt: skip
    patched = strategic_merge_patch(live, {"spec": {"podCIDR": "10.0.0.0/24"}}, schema_for("v1", "Node"))
    changed, left = take_out(patched, live, "core/v1.Node")
    assert changed["spec"] == {"podCIDR": "10.0.0.0/24"}
    assert "status" not in changed
    assert left.parts == {"status": live["status"]}
    assert left.inner["metadata"].parts == {"labels": {"a": "b"}}


@pytest.mark.parametrize("live", OBJECTS, ids=lambda live: f"{live['kind']}-{live['metadata']['name']}")
def test_defaults_leave_a_status_as_it_is_which_may_be_everybodys(live: Object) -> None:
    obj = copy.deepcopy(live)
    set_defaults(obj)
    defaulted = copy.deepcopy(obj.get("status"))
    set_defaults(obj)
    assert obj.get("status") == defaulted


def test_what_cannot_be_touched_is_put_back_without_a_copy() -> None:
    live = decode(
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "u", "labels": {"a": "b"}},
         "status": {"images": [{"names": ["a"]}]}}, "v1", "Node",
    )[0]  # fmt: skip
    changed, left = take_out({**live, "spec": {"unschedulable": True}}, live, "core/v1.Node")
    put_back(changed, left, "core/v1.Node", "status")
    assert changed["status"] is live["status"]
    assert changed["metadata"]["labels"] is not live["metadata"]["labels"]
