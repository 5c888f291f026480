"""Very large JSON is encoded in parts, and is the same."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api import fast_json
from lifecycle.api.fast_json import AT_ONCE, dumps_in_parts

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
)


@given(VALUES)
def test_encoded_in_parts_a_value_is_the_same_bytes(value: object) -> None:
    assert dumps_in_parts(value) == fast_json.dumps(value)


@pytest.mark.parametrize("length", [AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE])
def test_long_lists_and_maps_are_the_same_bytes_too_and_no_part_is_long(length: int) -> None:
    members = {f"k{number}": {"n": number} for number in range(length)}
    whole = {"causes": list(members.values()), "inner": {"data": members}, "empty": [[], {}]}
    with patch.object(fast_json, "dumps", wraps=fast_json.dumps) as dumps:
        encoded = dumps_in_parts(whole)
    assert encoded == fast_json.dumps(whole)
    parts = [call.args[0] for call in dumps.call_args_list]
    assert max(len(part) for part in parts if isinstance(part, dict | list)) <= AT_ONCE
    largest = dict(list(members.items())[-AT_ONCE:])
    assert (
        max(len(fast_json.dumps(part)) for part in parts) <= len(fast_json.dumps(largest)) + 8
    )  # and the brackets around


def test_what_lies_deeper_is_encoded_in_one_go() -> None:
    whole = {"a": {"b": {"c": 1}}, "d": 2}
    for depth, parts in ((0, [whole]), (1, ["a", [{"b": {"c": 1}}], "d", [2]])):
        with patch.object(fast_json, "dumps", wraps=fast_json.dumps) as dumps:
            assert dumps_in_parts(whole, depth) == b'{"a":{"b":{"c":1}},"d":2}'
        assert [call.args[0] for call in dumps.call_args_list] == parts
