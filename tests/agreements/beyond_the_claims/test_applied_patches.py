"""What an apply sends: what to set, by what is there; what to delete, by what was applied last, there or not."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from lifecycle.api.patch.strategic import strategic_merge_patch
from lifecycle.api.schema import schema_for
from lifecycle.kubectl.three_way_merge import three_way_merge_patch

FIELDS: dict[str, tuple[Any, Any, Any, Any]] = {
    # applied last, wanted, there, sent
    "nothing": ({}, {}, {"a": 1}, {}),
    "as it is": ({"a": 1}, {"a": 1}, {"a": 1, "b": 2}, {}),
    "new": ({}, {"a": 1}, {"b": 2}, {"a": 1}),
    "another": ({"a": 1}, {"a": 2}, {"a": 1}, {"a": 2}),
    "somebody has changed it": ({"a": 1}, {"a": 1}, {"a": 3}, {"a": 1}),
    "somebody has deleted it": ({"a": 1}, {"a": 1}, {}, {"a": 1}),
    "somebody was quicker": ({"a": 1}, {"a": 2}, {"a": 2}, {}),
    "not wanted any more": ({"a": 1}, {}, {"a": 1}, {"a": None}),
    "not wanted any more, and changed by somebody": ({"a": 1}, {}, {"a": 3}, {"a": None}),
    "not wanted any more, and gone": ({"a": 1}, {}, {}, {"a": None}),
    "one of two is gone": ({"a": 1, "b": 1}, {}, {"b": 1}, {"a": None, "b": None}),
    "one of two is wanted, the other gone": ({"a": 1, "b": 1}, {"b": 1}, {"b": 1}, {"a": None}),
    "never wanted": ({}, {}, {"a": 1}, {}),
    "inside": ({"m": {"a": 1, "b": 1}}, {"m": {"b": 1}}, {"m": {"a": 1, "b": 1, "c": 1}}, {"m": {"a": None}}),
    "inside, and gone": ({"m": {"a": 1, "b": 1}}, {"m": {"b": 1}}, {"m": {"b": 1, "c": 1}}, {"m": {"a": None}}),
    "inside, and nothing is left": ({"m": {"a": 1}}, {"m": {}}, {"m": {}}, {"m": {"a": None}}),
    "an object": ({"m": {"a": 1}}, {}, {"m": {"a": 1, "c": 1}}, {"m": None}),
    "an object, and gone": ({"m": {"a": 1}}, {}, {}, {"m": None}),
    "a list as a whole": ({"l": [1]}, {"l": [1, 2]}, {"l": [1, 3]}, {"l": [1, 2]}),
}


@pytest.mark.parametrize("case", FIELDS)
def test_what_is_not_wanted_any_more_is_deleted_and_nobody_looks_whether_it_is_there(case: str) -> None:
    last, wanted, there, sent = FIELDS[case]
    before = deepcopy((last, wanted, there))
    assert three_way_merge_patch(last, wanted, there, None) == sent
    assert (last, wanted, there) == before


A, B, C = ({"name": name, "image": "i"} for name in "abc")
ORDER = "$setElementOrder"
LISTS: dict[str, tuple[Any, Any, Any, Any]] = {
    # the same of containers, or of finalizers, and what there is afterwards
    "one less": ([A, B], [A], [A, B, C], [A, C]),
    "one less, and gone": ([A, B], [A], [A, C], [A, C]),
    "none is left but another's": ([A], [], [C], [C]),
    "one more": ([A], [A, B], [A, C], [A, B, C]),
    "nothing to do": ([A], [A], [A, C], [A, C]),
    "words: one less": (["x/a", "x/b"], ["x/a"], ["x/a", "x/b", "x/c"], ["x/a", "x/c"]),
    "words: one less, and gone": (["x/a", "x/b"], ["x/a"], ["x/a", "x/c"], ["x/a", "x/c"]),
    "words: nothing to do": (["x/a"], ["x/a"], ["x/a", "x/c"], ["x/a", "x/c"]),
}


@pytest.mark.parametrize("case", LISTS)
def test_of_a_list_that_merges_others_items_stay_and_what_goes_is_named(case: str) -> None:
    words = case.startswith("words")
    last, wanted, there, afterwards = (
        {"metadata": {"finalizers": items}} if words else {"spec": {"containers": items}} for items in LISTS[case]
    )
    schema = schema_for("v1", "Pod")
    patch = three_way_merge_patch(last, wanted, there, schema)
    assert strategic_merge_patch(there, patch, schema) == afterwards
    [field] = [*last][:1]
    [(key, before)] = last[field].items()
    gone = [item for item in before if item not in wanted[field][key]]
    sent = patch.get(field, {})
    if words:
        assert sent.get(f"$deleteFromPrimitiveList/{key}", []) == gone
    else:
        named = [item["name"] for item in sent.get(key, []) if item.get("$patch") == "delete"]
        assert named == [item["name"] for item in gone]
    assert (f"{ORDER}/{key}" in sent) == bool(sent)
