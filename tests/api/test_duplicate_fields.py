"""Fields that a body gives twice are found in short bodies and, without keeping the interpreter, in long ones."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from types import FrameType
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.loop.worker import LARGE
from lifecycle.api.schema import duplicates
from lifecycle.api.schema.duplicates import find_duplicate_fields, in_order_of_text

_NAMES = st.sampled_from("abc")


def _objects(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.lists(st.tuples(_NAMES, parts), max_size=4)
    return pairs.map(lambda found: "{" + ", ".join(f'"{name}" : {value}' for name, value in found) + "}")


BODIES = _objects(
    st.recursive(
        st.sampled_from(["1", "-2.5e3", "null", "true", '"\\u00e9\\"{"', '""', "[]", " { } "]),
        lambda parts: _objects(parts) | st.lists(parts, max_size=3).map(lambda found: f"[{', '.join(found)}]"),
        max_leaves=8,
    )
)


@given(BODIES)
def test_long_bodies_are_read_as_short_ones_are(body: str) -> None:
    text = body.encode()
    found, errors = find_duplicate_fields(text), ['unknown field "c"', 'unknown field "b.a"', 'duplicate field "a"']
    ordered = in_order_of_text(text, errors)
    with patch.object(duplicates, "LARGE", 0):
        assert find_duplicate_fields(text) == found
        assert in_order_of_text(text, errors) == ordered
    assert bool(found) == (json.dumps(json.loads(text)).count('":') < text.count(b'" :'))


def test_a_long_object_is_read_in_as_many_steps_as_it_has_fields() -> None:
    """Between two steps others may have the interpreter."""

    def steps(body: bytes) -> int:
        count = 0

        def note(frame: FrameType, event: str, argument: object) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(note)
        try:
            assert find_duplicate_fields(body) == ['duplicate field "a"']
        finally:
            sys.setprofile(None)
        return count

    fields = LARGE // 6 + 1
    assert steps(b"{" + b'"a":1,' * fields + b'"a":1}') > fields
    assert steps(b'{"a":1,"a":1}') < 100


def test_the_keys_of_a_long_text_are_counted_one_by_one() -> None:
    """A clean body has no more steps than that, and each lets others have the interpreter."""
    taken = 0

    def found(body: bytes) -> Iterator[object]:
        nonlocal taken
        for match in ends(body):
            taken += 1
            yield match

    ends = duplicates._KEY_ENDS
    fields = 1_000
    body = json.dumps({f"k{number}": 1 for number in range(fields)}).encode()
    with patch.object(duplicates, "_KEY_ENDS", found):
        assert find_duplicate_fields(body) == []
    assert taken == fields
