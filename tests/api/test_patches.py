"""JSON patch, JSON merge patch and strategic merge patch, with the API server's own habits and refusals."""

from __future__ import annotations

import copy
import time
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.go.json.as_sent import as_sent, plain, text_of
from lifecycle.api.patch import strategic_lists
from lifecycle.api.patch.json_patch import apply_json_patch
from lifecycle.api.patch.merge_patch import apply_merge_patch
from lifecycle.api.patch.strategic import consume_patch, strategic_merge_patch
from lifecycle.api.schema import decode, schema_for
from lifecycle.api.status import PanicError, StatusError
from tests.api.recorded_writes import http_writes, lines, patched

DOC = {"a": {"b": [1, 2, 3]}, "c/d~": "x"}


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        ([{"op": "add", "path": "/a/b/-", "value": 4}], {"a": {"b": [1, 2, 3, 4]}, "c/d~": "x"}),
        ([{"op": "add", "path": "/a/b/1", "value": 9}], {"a": {"b": [1, 9, 2, 3]}, "c/d~": "x"}),
        ([{"op": "add", "path": "/a/b/3", "value": 9}], {"a": {"b": [1, 2, 3, 9]}, "c/d~": "x"}),
        ([{"op": "add", "path": "/a/b/-1", "value": 9}], {"a": {"b": [1, 2, 3, 9]}, "c/d~": "x"}),
        ([{"op": "add", "path": "/a/b/-4", "value": 9}], {"a": {"b": [9, 1, 2, 3]}, "c/d~": "x"}),
        ([{"op": "remove", "path": "/a/b/-1"}], {"a": {"b": [1, 2]}, "c/d~": "x"}),
        ([{"op": "remove", "path": "/a/b/-3"}], {"a": {"b": [2, 3]}, "c/d~": "x"}),
        ([{"op": "replace", "path": "/c~1d~0", "value": None}], {"a": {"b": [1, 2, 3]}, "c/d~": None}),
        ([{"op": "replace", "path": "/new", "value": 1}], {**DOC, "new": 1}),
        ([{"op": "replace", "path": "", "value": {"z": 1}}], {"z": 1}),
        ([{"op": "replace", "path": "", "value": [1]}, {"op": "add", "path": "/-", "value": 2}], [1, 2]),
        ([{"op": "move", "from": "/a/b", "path": "/b"}], {"a": {}, "b": [1, 2, 3], "c/d~": "x"}),
        ([{"op": "copy", "from": "/a/b/0", "path": "/first"}], {**DOC, "first": 1}),
        ([{"op": "test", "path": "/a/b", "value": [1, 2, 3]}, {"op": "remove", "path": "/a"}], {"c/d~": "x"}),
        ([{"op": "test", "path": "/absent", "value": None}], DOC),
        ([], DOC),
    ],
)
def test_json_patch(ops, expected):
    before = copy.deepcopy(DOC)
    assert apply_json_patch(DOC, ops) == expected
    assert before == DOC


@pytest.mark.parametrize(
    "op",
    [
        {"op": "test", "path": "/c~1d~0", "value": "no"},
        {"op": "test", "path": "/a/b/0", "value": True},
        {"op": "remove", "path": "/absent"},
        {"op": "remove", "path": "/a/b/7"},
        {"op": "add", "path": "/x/y", "value": 1},
        {"op": "add", "path": "/a/b/x", "value": 1},
        {"op": "add", "value": 1},
        {"op": "add", "path": "", "value": {}},
        {"op": "remove", "path": ""},
        {"op": "copy", "from": "", "path": "/copy"},
        {"op": "copy", "from": "/a", "path": ""},
        {"op": "replace", "path": "", "value": "x"},
        {"op": "add", "path": "/a/b/4", "value": 1},
        {"op": "remove", "path": "/a/b/3"},
        {"op": "remove", "path": "/a/b/-4"},
        {"op": "unknown", "path": "/a"},
        {"op": "move", "path": "/a"},
        {"op": "replace", "path": "/a/b/9", "value": 1},
    ],
)
def test_a_failing_operation_is_refused_without_saying_which(op):
    recorded = next(e for e in lines("kind-1.36.2/http/storage.jsonl") if e["note"] == "json-patch test fails")
    with pytest.raises(StatusError) as refused:
        apply_json_patch(DOC, [op])
    assert refused.value.status == recorded["response"]


@pytest.mark.parametrize(
    ("doc", "value", "same"),
    [
        ("ä", r'"ä"', True),
        ("ä", r'"\u00e4"', False),
        ("<a>", r'"<a>"', False),
        ("<a>", r'"\u003ca\u003e"', True),
        ("a/b", r'"a\/b"', False),
        (100, "100", True),
        (100, "1e2", False),
        (1, "1.0", False),
        (1, "true", False),
        (1e21, "1e+21", True),
        ({"k": ["x", {"n": 1}]}, '{ "k": ["x", {"n": 1} ] }', True),
        ({"k": ["x", {"n": 1}]}, '{"\\u006b":["x",{"n":1}]}', True),
        ({"k": ["<"]}, '{"k":["<"]}', False),
    ],
)
def test_values_are_compared_by_the_text_that_was_sent(doc, value, same):
    operations = as_sent(f'[{{"op": "test", "path": "/v", "value": {value}}}]'.encode())
    if same:
        assert apply_json_patch({"v": doc}, operations) == {"v": doc}
    else:
        with pytest.raises(StatusError):
            apply_json_patch({"v": doc}, operations)


def test_what_a_patch_added_is_compared_as_it_was_sent_too():
    add = '[{"op": "add", "path": "/v", "value": ["\\u00e4", 1.50]}, {"op": "copy", "from": "/v", "path": "/w"}, %s]'
    same, other = (
        as_sent(add % f'{{"op": "test", "path": "/w", "value": [{text}, 1.50]}}') for text in ('"\\u00e4"', '"ä"')
    )
    assert plain(apply_json_patch({}, same)) == {"v": ["ä", 1.5], "w": ["ä", 1.5]}
    with pytest.raises(StatusError):
        apply_json_patch({}, other)


def test_a_copy_of_what_has_been_looked_into_has_its_keys_in_order():
    """Where the copy goes is looked up before it is made: into itself, an object has been looked into by then."""
    doc = {"a": {"z": {"y": 1, "x": 2}, "b": 2}}
    elsewhere = apply_json_patch(doc, [{"op": "copy", "from": "/a", "path": "/c"}])
    assert list(elsewhere["c"]) == ["z", "b"]
    inside = apply_json_patch(doc, [{"op": "copy", "from": "/a", "path": "/a/c"}])
    assert list(inside["a"]["c"]) == ["b", "z"]
    assert list(inside["a"]["c"]["z"]) == ["y", "x"]


def test_what_is_deeper_than_any_object_cannot_be_copied():
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"a": deep}
    with pytest.raises(StatusError) as refused:
        apply_json_patch(deep, [{"op": "copy", "from": "/a", "path": "/b"}])
    assert refused.value.code == 422


def test_a_copy_may_hold_what_was_sent():
    """Between what was there, in the order of the keys once it was looked into."""
    add = as_sent('[{"op": "add", "path": "/b/a", "value": 1.50}, {"op": "copy", "from": "/b", "path": "/c"}]')
    patched = apply_json_patch({"b": {"z": "ä", "y": [1]}}, add)
    assert text_of(patched) == '{"b":{"a":1.50,"y":[1],"z":"ä"},"c":{"a":1.50,"y":[1],"z":"ä"}}'


@pytest.mark.parametrize(
    ("doc", "value"),
    [([None], [None]), (["a"], [None]), ([None], ["a"]), ([{}], [None]), ([[None]], [[None]]), ([0, 1], [0, None])],
)
def test_upstream_does_not_survive_a_test_of_a_list_with_a_null(doc, value):
    with pytest.raises(PanicError):
        apply_json_patch({"v": doc}, [{"op": "test", "path": "/v", "value": value}])


@pytest.mark.parametrize(
    ("doc", "value"), [([], [None]), ([1, None], [2, None]), ({"a": [None]}, {"b": [None]}), ("x", [None])]
)
def test_a_null_that_is_not_reached_does_no_harm(doc, value):
    with pytest.raises(StatusError):
        apply_json_patch({"v": doc}, [{"op": "test", "path": "/v", "value": value}])


@pytest.mark.parametrize(
    ("key", "there"), [("1", "b"), ("-1", "c"), ("+1", "b"), ("01", "b"), ("-0", "a"), ("0" * 30 + "1", "b")]
)
def test_a_place_in_a_list_is_written_as_go_reads_it(key, there):
    doc = {"v": ["a", "b", "c"]}
    assert apply_json_patch(doc, [{"op": "test", "path": f"/v/{key}", "value": there}]) == doc


@pytest.mark.parametrize("key", [" 1", "1 ", "1_0", "0x1", "\u0661", "1.0", "", "9" * 30, "9" * 5000])
def test_what_python_alone_takes_for_a_number_is_no_place_in_a_list(key):
    with pytest.raises(StatusError) as refused:
        apply_json_patch({"v": list("abcdefghijkl")}, [{"op": "replace", "path": f"/v/{key}", "value": "x"}])
    assert refused.value.code == 422


def test_what_stands_for_a_tilde_before_a_one_is_a_tilde():
    assert apply_json_patch({"~1": 1, "/": 2}, [{"op": "remove", "path": "/~01"}]) == {"/": 2}


def test_what_is_no_json_patch():
    for patch in ({}, "x", [1]):
        with pytest.raises(StatusError) as refused:
            apply_json_patch(DOC, patch)
        assert refused.value.code == 400
    with pytest.raises(StatusError) as refused:
        apply_json_patch(DOC, [{"op": "test", "path": "/c~1d~0", "value": "x"}] * 10001)
    assert refused.value.code == 413


@pytest.mark.parametrize(
    ("doc", "patch", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1, None, 2]}, {"a": [1, None, 2]}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": {"b": 1}}, {"a": [{"c": None}]}, {"a": [{"c": None}]}),
        ({"a": 1}, {"a": [{"c": None}]}, {"a": [{}]}),
        ({"a": 1}, [1, None], [1, None]),
    ],
)
def test_merge_patch(doc, patch, expected):
    before = copy.deepcopy((doc, patch))
    assert apply_merge_patch(doc, patch) == expected
    assert (doc, patch) == before


def test_merge_patch_must_be_an_object():
    with pytest.raises(StatusError, match=r"Invalid JSON Patch$"):
        apply_merge_patch({}, "x")


def test_copies_of_a_patch_add_up_to_three_mebibytes_at_most():
    doc = {"big": "x" * ((1 << 20) - 2), "more": "<\u2028" + "x" * ((1 << 20) - 14), "small": "x"}
    copies = [{"op": "copy", "from": "/big", "path": "/copy"}, {"op": "copy", "from": "/more", "path": "/copy"}] * 2
    assert apply_json_patch(doc, [*copies[:3], {"op": "copy", "from": "/none", "path": "/none"}])["copy"] == doc["big"]
    with pytest.raises(
        StatusError, match=r"the server rejected our request due to an error in our request$"
    ) as refusal:
        apply_json_patch(doc, [*copies[:3], {"op": "copy", "from": "/small", "path": "/copy"}])
    assert refusal.value.code == 422


def test_a_patch_that_doubles_the_document_again_and_again_is_refused():
    doubling = [{"op": "copy", "from": "/a", "path": f"/a/{n}"} for n in range(24)]
    with pytest.raises(StatusError, match=r"the server rejected our request due to an error in our request$"):
        apply_json_patch({"a": {"x": "y" * 100}}, doubling)


def test_what_is_copied_and_what_it_was_copied_from_change_apart():
    ops = [
        {"op": "add", "path": "/a/b", "value": {"c": [1]}},
        {"op": "add", "path": "/a/b/c/-", "value": 2},
        {"op": "copy", "from": "/a/b", "path": "/copy"},
        {"op": "add", "path": "/a/b/c/-", "value": 3},
        {"op": "add", "path": "/copy/c/0", "value": 0},
        {"op": "move", "from": "/a/b", "path": "/moved"},
        {"op": "remove", "path": "/moved/c/0"},
    ]
    before = copy.deepcopy(ops)
    assert apply_json_patch({"a": {}}, ops) == {"a": {}, "copy": {"c": [0, 1, 2]}, "moved": {"c": [2, 3]}}
    assert ops == before


def test_ten_thousand_operations_take_about_a_hundred_times_as_long_as_a_hundred():
    def seconds(count):
        ops = [{"op": "add", "path": f"/data/k{n}", "value": "x"} for n in range(count)]
        start = time.process_time()
        assert len(apply_json_patch({"data": {}}, ops)["data"]) == count
        return time.process_time() - start

    assert seconds(10_000) < 1000 * max(seconds(100), 0.0005)  # 10,000 times, if each copied what the others made


def objects(value):
    return st.dictionaries(st.sampled_from("abc"), value, max_size=3)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda v: st.lists(v, max_size=2) | objects(v),
    max_leaves=6,
)


without_nulls_in_lists = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda v: st.lists(st.integers(), max_size=2) | objects(v),
    max_leaves=6,
)


def test_a_list_that_replaces_an_object_keeps_the_nulls_of_its_items_and_loses_them_the_second_time():
    """Upstream's library looks into what arrives where no object was, and takes what replaces an object as it is."""
    patch = {"c": [{"a": None}]}
    once = apply_merge_patch({"c": {}}, patch)
    assert once == {"c": [{"a": None}]}
    assert apply_merge_patch(once, patch) == {"c": [{}]}


@given(objects(json_values), objects(without_nulls_in_lists))
def test_merge_patch_twice_is_merge_patch_once(doc, patch):
    once = apply_merge_patch(doc, patch)
    assert apply_merge_patch(once, patch) == once


@given(objects(json_values), json_values)
def test_json_patch_add_then_remove_restores(doc, value):
    added = apply_json_patch(doc, [{"op": "add", "path": "/new", "value": value}])
    assert apply_json_patch(added, [{"op": "remove", "path": "/new"}]) == doc


POD = schema_for("v1", "Pod")


def pod(*containers, **spec):
    return {"spec": {"containers": list(containers), **spec}}


def smp(doc, patch, schema=POD):
    before = copy.deepcopy((doc, patch))
    result = strategic_merge_patch(doc, patch, schema)
    assert (doc, patch) == before
    return result


A, B = {"name": "a", "image": "1"}, {"name": "b", "image": "1"}


@pytest.mark.parametrize(
    ("doc", "patch", "expected"),
    [
        (pod(A, B), pod({"name": "b", "image": "2"}), pod(A, {"name": "b", "image": "2"})),
        (pod(A), pod(B), pod(B, A)),
        (pod(A, B), pod({"name": "a", "$patch": "delete"}), pod(B)),
        (pod(A), pod({"$patch": "replace"}, B), pod(B)),
        (pod(A), pod({"name": "a", "image": None}), pod({"name": "a"})),
        (pod(A, B), {"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}}, pod(B, A)),
        (
            pod(A, B),
            {"spec": {"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}], "containers": [{"name": "c"}]}},
            pod({"name": "c"}, A, B),
        ),
        (  # an item that is new comes where the order says, and is not merged once more
            pod(A, B),
            {"spec": {"$setElementOrder/containers": [{"name": "a"}, {"name": "c"}], "containers": [{"name": "c"}]}},
            pod(A, {"name": "c"}, B),
        ),
        (
            {"metadata": {"finalizers": ["x", "y"]}},
            {"metadata": {"$deleteFromPrimitiveList/finalizers": ["x"]}},
            {"metadata": {"finalizers": ["y"]}},
        ),
        (
            {"metadata": {"finalizers": ["x"]}},
            {"metadata": {"finalizers": ["y", "x"]}},
            {"metadata": {"finalizers": ["y", "x"]}},
        ),
        (
            pod(A, tolerations=[{"key": "k"}]),
            {"spec": {"tolerations": [{"key": "l"}]}},
            pod(A, tolerations=[{"key": "l"}]),
        ),
        (
            {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}},
            {"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/"}, "$retainKeys": ["name", "hostPath"]}]}},
            {"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}},
        ),
        ({"spec": {"a": 1}}, {"spec": {"$patch": "replace", "nodeName": "n"}}, {"spec": {"nodeName": "n"}}),
        ({"spec": {"a": 1}}, {"spec": {"$patch": "delete"}}, {"spec": {}}),
        ({}, {"spec": {"nodeSelector": {"a": None, "b": "c"}}}, {"spec": {"nodeSelector": {"b": "c"}}}),
        ({}, {"spec": {"containers": [A, {"name": "x", "$patch": "delete"}]}}, pod(A)),
        (
            {"metadata": {"labels": {"a": "1", "b": "2"}}},
            {"metadata": {"labels": {"a": None, "c": "3"}}},
            {"metadata": {"labels": {"b": "2", "c": "3"}}},
        ),
    ],
)
def test_strategic_merge_patch(doc, patch, expected):
    assert smp(doc, patch) == expected


@pytest.mark.parametrize(
    ("patch", "code", "message"),
    [
        (pod({"image": "2"}), 500, "map: map[image:2] does not contain declared merge key: name"),
        (pod({"name": "a", "$patch": "odd"}), 500, "unknown patch type: odd in map: map[$patch:odd name:a]"),
        (pod({"name": "a", "$patch": "merge"}), 500, "merging lists cannot yet be specified in the patch"),
        ({"spec": {"$patch": "x"}}, 500, "unknown patch type: x in map: map[$patch:x]"),
        ({"spec": {"$retainKeys": ["a"], "b": 1}}, 400, "invalid patch format of retainKeys"),
        ({"spec": {"$retainKeys": "a"}}, 400, "invalid patch format of retainKeys"),
        (
            {"spec": {"$setElementOrder/containers": {}}},
            500,
            "expected a []interface {}, but received a map[string]interface {}",
        ),
        (
            {"spec": {"$setElementOrder/containers": [], "containers": "x"}},
            500,
            "expected a []interface {}, but received a string",
        ),
        ([A], 400, "invalid JSON document"),
        ({"spec": {"$deleteFromPrimitiveList": []}}, 400, "invalid patch format of primitive list"),
        ({"spec": {"$setElementOrder": []}}, 400, "invalid patch format of setElementOrder list"),
        (
            {"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}], "containers": [A, B]}},
            500,
            "The order in patch list:\n[map[image:1 name:a] map[image:1 name:b]]\n doesn't match $setElementOrder list:\n"
            "[map[name:b] map[name:a]]\n",
        ),
    ],
)
def test_strategic_merge_patch_refuses(patch, code, message):
    with pytest.raises(StatusError) as refused:
        smp(pod(A, B), patch)
    assert (refused.value.code, refused.value.message) == (code, message)


@pytest.mark.parametrize(
    ("doc", "patch", "message"),
    [
        (
            {"metadata": {"labels": {"a": {}}}},
            {"metadata": {"labels": {"a": {"b": "1"}}}},
            "merging an object in json but data type is not struct, instead is: map",
        ),
        (
            {"spec": {"nope": {}}},
            {"spec": {"nope": {"a": 1}}},
            'unable to find api field in struct PodSpec for the json field "nope"',
        ),
        (
            {"spec": {"securityContext": [1]}},
            {"spec": {"securityContext": [2]}},
            "expected slice or array type, but got: struct",
        ),
        ({"metadata": {"labels": [1]}}, {"metadata": {"labels": [2]}}, "expected slice or array type, but got: struct"),
        (
            {"spec": {"containers": "x"}},
            {"spec": {"$setElementOrder/containers": []}},
            "expected a []interface {}, but received a string",
        ),
    ],
)
def test_an_object_that_is_not_what_its_type_says_is_not_merged(doc, patch, message):
    """Nothing that the API server keeps is like that; what a client merges by itself may be."""
    with pytest.raises(StatusError) as refused:
        smp(doc, patch)
    assert (refused.value.code, refused.value.message) == (500, message)


def test_of_a_patch_stays_what_was_no_instruction():
    """It is what clients are shown when the result cannot be read."""
    patch = {
        "spec": {
            "$setElementOrder/containers": [{"name": "a"}],
            "containers": [{"name": "a", "image": "2"}],
            "nodeName": "n",
        }
    }
    assert consume_patch(pod(A), patch, POD) == pod({"name": "a", "image": "2"}, nodeName="n")
    assert patch == {"spec": {"nodeName": "n"}}


@pytest.mark.parametrize(
    ("patch", "field"), [({"a": {"b": 3}}, "a"), ({"l": [2]}, "l"), ({"$setElementOrder/l": [2]}, "l")]
)
def test_what_may_be_anything_is_not_looked_into(patch, field):
    """As `kubectl patch --local --type=strategic` says, which has the same library: a raw extension has no fields to find."""
    revision = schema_for("apps/v1", "ControllerRevision")
    data = {"a": {"b": 2}, "c": 1, "l": [1]}
    with pytest.raises(StatusError) as refused:
        smp({"data": data}, {"data": patch}, revision)
    message = f'unable to find api field in struct RawExtension for the json field "{field}"'
    assert (refused.value.code, refused.value.message) == (500, message)
    assert smp({"data": data}, {"data": {"c": 3, "l": None, "n": {"b": None}}}, revision) == {
        "data": {"a": {"b": 2}, "c": 3, "n": {}}
    }


def test_what_is_there_as_something_else_goes_for_an_instruction_to_delete_it():
    doc = {"spec": {"securityContext": "x", "nodeName": "n"}}
    assert smp(doc, {"spec": {"securityContext": {"$patch": "delete"}}}) == {"spec": {"nodeName": "n"}}


images = st.dictionaries(st.sampled_from("abcde"), st.sampled_from("123"), max_size=5)


@given(images, images)
def test_merging_by_key_is_merging_dicts(mine, theirs):
    listed = lambda found: [{"name": n, "image": i} for n, i in found.items()]  # noqa: E731
    merged = smp(pod(*listed(mine)), pod(*listed(theirs)))["spec"]["containers"]
    assert {c["name"]: c["image"] for c in merged} == {**mine, **theirs}
    names = [c["name"] for c in merged]
    assert len(set(names)) == len(names)
    assert [n for n in names if n in theirs] == list(theirs)
    assert [n for n in names if n not in theirs] == [n for n in mine if n not in theirs]
    assert smp({"spec": {"containers": merged}}, pod(*listed(theirs)))["spec"]["containers"] == merged


def test_recorded_patches_give_the_recorded_objects():
    live = {}
    compared = 0
    for write in http_writes("storage"):
        before, live[write.key] = live.get(write.key), write.answer
        if write.verb != "patch" or write.subresource:
            continue
        made, _ = decode(
            patched(write.content_type, before, write.body, write.answer["apiVersion"], write.answer["kind"]),
            write.answer["apiVersion"],
            write.answer["kind"],
        )
        for part in ("data", "spec"):
            assert made.get(part) == write.answer.get(part)
        compared += 1
    assert compared == 5


@pytest.mark.parametrize(
    "change",
    [
        lambda name: {"name": name, "value": "new"},
        lambda name: {"name": name, "$patch": "delete"},
    ],
)
def test_many_items_of_a_list_are_found_by_their_keys_not_compared_with_one_another(change):
    names = [f"E{number}" for number in range(500)]
    container = {"name": "c", "image": "i", "env": [{"name": name, "value": "old"} for name in names]}
    doc = {"spec": {"containers": [container]}}
    order = {"$setElementOrder/env": [{"name": name} for name in names]}
    patch = {"spec": {"containers": [{"name": "c", **order, "env": [change(name) for name in names]}]}}
    with mock.patch.object(strategic_lists, "equal", wraps=strategic_lists.equal) as equal:
        patched = strategic_merge_patch(doc, patch, schema_for("v1", "Pod"))
    (changed,) = patched["spec"]["containers"]
    assert {item["value"] for item in changed.get("env") or ()} <= {"new"}
    assert len(changed.get("env") or ()) in (0, 500)
    assert equal.call_count <= 2 * len(names)


def test_an_item_whose_key_is_no_scalar_is_compared_as_go_does():
    doc = {"metadata": {"ownerReferences": [{"uid": "a"}]}}
    owners = {"metadata": {"ownerReferences": [{"uid": {}, "name": "x"}]}}
    with pytest.raises(PanicError, match=r"runtime error: comparing uncomparable type map\[string\]interface \{\}$"):
        strategic_merge_patch(doc, owners, schema_for("v1", "ConfigMap"))


_names = st.sampled_from(["a", "b", "c", 1, True])
_items = st.lists(
    st.one_of(
        st.builds(lambda name, value: {"type": name, "v": value}, _names, st.integers(0, 3)),
        st.just({"type": "a", "$patch": "delete"}),
        st.just({"v": 1}),
        st.just("text"),
    ),
    max_size=4,
)


@given(_items, _items, _items, st.booleans())
def test_a_list_that_stands_in_order_is_what_weaving_would_give(
    merged: list[Any], patch: list[Any], server: list[Any], alike: bool
) -> None:
    if alike:  # by chance they hardly ever are
        patch = [{**item, "v": 9} if isinstance(item, dict) else item for item in merged]

    def ordered() -> Any:
        try:
            return strategic_lists.put_in_order(merged, patch, server, "type", strategic_lists.MAP)
        except (StatusError, PanicError) as error:
            return str(error)

    with mock.patch.object(strategic_lists, "_stands_in_order", return_value=False):
        woven = ordered()
    assert ordered() == woven


def test_a_list_that_stands_in_order_is_not_woven() -> None:
    items = [{"type": name} for name in ("a", "b")]
    with mock.patch.object(strategic_lists, "_partition", side_effect=AssertionError):
        assert strategic_lists.put_in_order(items, items, [], "type", strategic_lists.MAP) == items
