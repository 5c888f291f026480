"""Field selectors: the grammar with its escapes, the messages, and what is selected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.fields import FieldRequirement, FieldSelector, escape_value, parse_field_selector, unescape_value
from lifecycle.api.status import StatusError


@pytest.mark.parametrize(
    ("text", "values", "selected"),
    [
        ("", {}, True),
        ("metadata.name=a", {"metadata.name": "a"}, True),
        ("metadata.name==a", {"metadata.name": "b"}, False),
        ("spec.nodeName!=", {"spec.nodeName": "n"}, True),
        ("spec.nodeName=", {}, True),
        ("a=1,b!=2", {"a": "1", "b": "3"}, True),
        ("a=1,b!=2", {"a": "1", "b": "2"}, False),
        (r"a=x\,y\=z\\", {"a": "x,y=z\\"}, True),
        ("=", {}, True),
    ],
)
def test_selecting(text, values, selected):
    assert parse_field_selector(text).matches(values) is selected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("abc", "invalid selector: 'abc'; can't understand 'abc'"),
        ("a=1,b", "invalid selector: 'a=1,b'; can't understand 'b'"),
        (r"a=\x", r"invalid field selector: invalid escape sequence: \x"),
        ("a=x\\", "invalid field selector: invalid escape sequence: \\"),
        ("a===b", "invalid field selector: unescaped character in value: 61"),
    ],
)
def test_refusing(text, message):
    with pytest.raises(StatusError) as refused:
        parse_field_selector(text)
    assert (refused.value.code, refused.value.message) == (400, message)


def test_requirements_are_sorted_and_tell_the_exact_name():
    selector = parse_field_selector("metadata.namespace!=b,metadata.name==a")
    assert selector.requirements == (
        FieldRequirement("metadata.name", "=", "a"),
        FieldRequirement("metadata.namespace", "!=", "b"),
    )
    assert selector.requires_exact_match("metadata.name") == "a"
    assert selector.requires_exact_match("metadata.namespace") is None
    assert not selector.empty


@given(st.text())
def test_escaping_is_undone_by_unescaping(value):
    assert unescape_value(escape_value(value)) == value
    assert parse_field_selector(f"f={escape_value(value)}").matches({"f": value})


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b.c"]), st.sampled_from(["=", "!="]), st.text(max_size=5)), max_size=3)
)
def test_text_is_canonical(parts):
    selector = parse_field_selector(",".join(f"{f}{o}{escape_value(v)}" for f, o, v in parts))
    assert set(selector.requirements) == {FieldRequirement(*p) for p in parts}
    assert set(parse_field_selector(str(selector)).requirements) == set(selector.requirements)


FIELDS, WORDS = st.sampled_from("abc"), st.sampled_from(["", "1", "2"])
TERMS = st.builds(FieldRequirement, FIELDS, st.sampled_from(["=", "!="]), WORDS)


@given(st.lists(TERMS, max_size=6), st.dictionaries(FIELDS, WORDS))
def test_a_selector_selects_what_each_of_its_terms_does(terms, values):
    each = ((values.get(term.field, "") == term.value) is (term.operator == "=") for term in terms)
    assert FieldSelector(tuple(terms)).matches(values) == all(each)


def test_an_object_is_asked_once_for_a_field_however_many_terms_name_it():
    asked = []

    class Values(dict):
        def get(self, key, default=None):
            asked.append(key)
            return super().get(key, default)

    selector = parse_field_selector(",".join(f"metadata.name!=x{number}" for number in range(1_000)))
    assert selector.matches(Values({"metadata.name": "y"}))
    assert not selector.matches(Values({"metadata.name": "x999"}))
    assert asked == ["metadata.name"] * 2
