"""Values that remember their text: it is what was sent, without the spaces between."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.go.json.as_sent import as_sent, is_as_sent, plain, same_text, text_of
from lifecycle.api.go.json.decode import unmarshal

SENT = (
    r"""{"a": [1.50, "\u00e4<", {"x\u0061": 1E5, "y": []}, {}], "b": {"c": "d\" e"}, "n": null, "t": true, "i": -0}"""
)
TEXT = r"""{"a":[1.50,"\u00e4\u003c",{"x\u0061":1E5,"y":[]},{}],"b":{"c":"d\" e"},"n":null,"t":true,"i":-0}"""


def test_a_value_is_written_as_it_was_sent():
    assert text_of(as_sent(SENT)) == text_of(as_sent(SENT.encode())) == TEXT


def test_what_has_been_taken_apart_is_written_anew():
    """Its keys, that is; what is in it is still as it was sent."""
    value = as_sent('{"\\u0061":{"\\u0062": 1.0}, "c": [1E2]}')
    assert text_of(value.copy()) == '{"a":{"\\u0062":1.0},"c":[1E2]}'
    assert text_of({"z": "<", **value}) == '{"z":"\\u003c","a":{"\\u0062":1.0},"c":[1E2]}'


def test_it_is_the_value_otherwise():
    assert as_sent(SENT) == plain(as_sent(SENT)) == json.loads(SENT)
    assert type(plain(as_sent("1.5"))) is float
    assert not is_as_sent(plain(as_sent('"x"')))
    assert is_as_sent(as_sent("[]"))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
       lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20))  # fmt: skip
def test_any_value_comes_back(value):
    sent = json.dumps(value, indent=1)
    assert json.loads(text_of(as_sent(sent))) == value
    assert as_sent(sent) == unmarshal(sent)


def test_texts_are_compared_as_they_are():
    assert same_text(as_sent('"<"'), as_sent('"<"'))
    assert not same_text(as_sent('"<"'), "<")
    assert same_text(as_sent(r'"\u003c"'), "<")


@pytest.mark.parametrize("text", ["", "{", "[1,]", "nul", "1.", '"', "1 2"])
def test_what_is_no_json(text):
    with pytest.raises(ValueError, match=r"invalid character|unexpected end"):
        as_sent(text)
