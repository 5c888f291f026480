"""The standard library's JSON with orjson's manners: the same bytes, the same values, the same refusals."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api import fast_json, plain_json

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats()
    | st.text(st.characters(codec="utf-8"))
)
values = st.recursive(
    scalars, lambda part: st.lists(part) | st.dictionaries(st.text(st.characters(codec="utf-8")), part), max_leaves=12
)


@dataclass
class Point:
    x: int
    y: list[float]


def test_where_orjson_can_be_had_it_is_taken() -> None:
    assert fast_json.loads is orjson.loads
    assert fast_json.dumps is orjson.dumps


@given(values, st.booleans(), st.booleans(), st.booleans())
def test_the_same_bytes_are_written(value: Any, ordered: bool, indented: bool, ended: bool) -> None:
    def option(module: Any) -> int:
        parts = {"OPT_SORT_KEYS": ordered, "OPT_INDENT_2": indented, "OPT_APPEND_NEWLINE": ended}
        return sum(getattr(module, name) for name, wanted in parts.items() if wanted)

    assert plain_json.dumps(value, option=option(plain_json)) == orjson.dumps(value, option=option(orjson))


@pytest.mark.parametrize(
    "number", [6.1e-05, 1e-05, -1.5e-05, 9.999e-06, 1e-06, -1.234e-07, 1e-10, 5e-324, 0.0001, 1e15, 1e16, 1.7e308]
)
def test_the_same_numbers_need_an_exponent(number: float) -> None:
    assert plain_json.dumps([number, f"{number}"]) == orjson.dumps([number, f"{number}"])


@given(values)
def test_what_one_writes_the_other_reads(value: Any) -> None:
    text = orjson.dumps(value)
    assert repr(plain_json.loads(text)) == repr(orjson.loads(text))


@given(st.one_of(st.binary(max_size=12), st.text('[]{}",:\\u0dD8eE+-.19 \n\tnulltruefalseNaN/', max_size=12)))
def test_the_same_texts_are_refused(text: bytes | str) -> None:
    def read(module: Any) -> Any:
        try:
            return repr(module.loads(text))
        except module.JSONDecodeError:
            return "refused"

    assert read(plain_json) == read(orjson)


@pytest.mark.parametrize(
    "text",
    [
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "1" * 500,
        "NaN",
        "-Infinity",
        r'"\ud800"',
        r'"\ud83d\ude00"',
        r'{"\udc00": 1}',
        '"\x01"',
        "1e400",
        "[" * 100_000,
        "",
        "{} {}",
    ],
)
def test_odd_texts_are_read_as_orjson_reads_them(text: str) -> None:
    def read(module: Any) -> Any:
        try:
            return repr(module.loads(text))
        except module.JSONDecodeError:
            return "refused"

    assert read(plain_json) == read(orjson)


@pytest.mark.parametrize("value", [1e16, 1e-7, -2.5e-10, {"1e+16": 1e300}, ["e-07", 1e22], 5e-324])
def test_exponents_are_short_and_strings_stay_as_they_are(value: Any) -> None:
    assert plain_json.dumps(value) == orjson.dumps(value)


@pytest.mark.parametrize("value", [Point(1, [2.0]), datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), {1: 2}])
def test_records_times_and_numbers_as_keys_are_written_alike(value: Any) -> None:
    ours = plain_json.dumps(value, option=plain_json.OPT_NON_STR_KEYS)
    assert ours == orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)


@pytest.mark.parametrize("value", [object(), "\ud800", {"a": {1, 2}}])
def test_what_json_has_no_word_for_is_refused(value: Any) -> None:
    with pytest.raises(orjson.JSONEncodeError):
        orjson.dumps(value)
    with pytest.raises(plain_json.JSONEncodeError):
        plain_json.dumps(value)


def test_a_list_within_lists_without_end_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(plain_json.JSONEncodeError):
        plain_json.dumps(deep)


def test_what_is_kept_takes_no_more_room_than_it_needs() -> None:
    obj = {"a": "x" * 500}
    tracemalloc.start()
    try:
        kept = [fast_json.trimmed(fast_json.dumps(obj)) for _ in range(100)]
        room, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept[0] == fast_json.dumps(obj)
    assert room / len(kept) < len(kept[0]) + 100
