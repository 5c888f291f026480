"""Versions of an object share what did not change, and say what they said without it."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.apiserver.registry.shared_parts import Siblings, with_parts_of
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.client.rest import MERGE_PATCH
from lifecycle.etcd.memory import MemoryStore

PARTS = st.recursive(
    st.sampled_from([0, 1, 1.0, True, False, None, "", "a"]),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.sampled_from("abc"), parts, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), PARTS, max_size=3)


@given(OBJECTS, OBJECTS)
def test_what_a_version_says_stays_the_same_to_the_letter(old: Object, new: Object) -> None:
    before = fast_json.dumps(old), fast_json.dumps(new)
    assert fast_json.dumps(with_parts_of(old, new)) == before[1]
    assert (fast_json.dumps(old), fast_json.dumps(new)) == before


@given(OBJECTS)
def test_an_equal_version_is_shared_whole(old: Object) -> None:
    shared = with_parts_of(old, copy.deepcopy(old))
    assert all(shared[key] is old[key] for key in old if old[key])


def test_one_changed_item_leaves_its_neighbours_where_they_are() -> None:
    def conditions(message: str) -> Any:
        return [{"type": kind, "message": message if kind == "B" else ""} for kind in "ABC"]

    old = {"spec": {"containers": [{"name": "c"}]}, "status": {"conditions": conditions("one"), "phase": "Running"}}
    new = copy.deepcopy(old) | {"status": {"conditions": conditions("two"), "phase": "Running"}}
    shared = with_parts_of(old, new)
    assert shared == new
    assert shared["spec"] is old["spec"]
    ours, theirs = shared["status"]["conditions"], old["status"]["conditions"]
    assert [mine is before for mine, before in zip(ours, theirs, strict=True)] == [True, False, True]


def test_what_is_stored_shares_with_what_it_replaces() -> None:
    async def scene() -> None:
        server = create_server_chain(MemoryStore())
        await server.start()
        client, maps = server.loopback.client(), resource("configmaps")
        metadata: Object = {"name": "c", "namespace": "default", "labels": {"a": "b"}}
        before = await client.create(maps, {"metadata": metadata, "data": {"k": "v"}}, "default")
        after = await client.patch(
            maps, "c", "default", {"metadata": {"annotations": {"new": "1"}}}, patch_type=MERGE_PATCH
        )
        assert after["data"] is before["data"]
        assert after["metadata"]["labels"] is before["metadata"]["labels"]
        assert after["metadata"]["annotations"] == {"new": "1"}
        await server.stop()

    run_virtual(scene())


@given(OBJECTS, OBJECTS)
def test_what_a_new_object_says_stays_the_same_to_the_letter(first: Object, second: Object) -> None:
    siblings, metadata = Siblings(), {"ownerReferences": [{"uid": "o"}]}
    for obj in ({**first, "metadata": metadata}, {**second, "metadata": metadata}):
        before = fast_json.dumps(obj)
        assert fast_json.dumps(siblings.shared(obj, 1)) == before == fast_json.dumps(obj)


def test_objects_of_one_owner_have_in_common_what_they_say_in_the_same_words() -> None:
    async def scene() -> None:
        server = create_server_chain(MemoryStore())
        await server.start()
        client, maps = server.loopback.client(), resource("configmaps")

        def config_map(name: str, owner: str, size: int = 1) -> Object:
            reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": owner}
            metadata = {"name": name, "namespace": "default", "labels": {"a": "b"}, "ownerReferences": [reference]}
            return {"metadata": metadata, "data": {"k": "v" * size}}

        made = {
            name: await client.create(maps, config_map(name, owner, size), "default")
            for name, owner, size in [("a", "x", 1), ("b", "y", 1), ("c", "x", 1), ("d", "y", 9000), ("e", "y", 9000)]
        }
        (*_, a), (*_, c) = made["a"]["metadata"]["managedFields"], made["c"]["metadata"]["managedFields"]
        assert c["fieldsV1"] is a["fieldsV1"]
        assert made["c"]["data"] is made["a"]["data"]
        assert made["c"]["metadata"]["ownerReferences"] is made["a"]["metadata"]["ownerReferences"]
        assert made["c"]["metadata"]["name"] == "c"
        assert made["b"]["data"] is not made["a"]["data"]
        assert made["e"]["data"] is not made["d"]["data"]  # to compare large ones would take long
        assert (await client.get(maps, "a", "default"))["metadata"]["name"] == "a"
        await server.stop()

    run_virtual(scene())
