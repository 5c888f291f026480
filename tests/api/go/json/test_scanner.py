"""What Go says of texts that are no JSON. What is expected here is what a real API server (v1.36.2) answered to a
Secret of type `kubernetes.io/dockerconfigjson` with the same bytes; the same text as a request's body got the same words."""

from __future__ import annotations

import re
import sys
import time
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.go.json import scanner
from lifecycle.api.go.json.scanner import syntax_error_message
from lifecycle.apiserver.http.json_bodies import read_json
from lifecycle.apiserver.server.incoming import MAX_BODY

PIECES = [
    b"[1],",
    b'{"a":1},',
    b'"a\\u0041",',
    b'"k": [[1, 2], {}],',
    b"  \n",
    b"-12.5e+7,",
    b"true,",
    b"]",
    b"}",
    b",",
    b"[[[[[[1]]]]]],",
]

COMPLAINTS = {
    b"": "unexpected end of JSON input",
    b" ": "unexpected end of JSON input",
    b"nulx": "invalid character 'x' in literal null (expecting 'l')",
    b"[tru]": "invalid character ']' in literal true (expecting 'e')",
    b"truex": "invalid character 'x' after top-level value",
    b"1.5.2": "invalid character '.' after top-level value",
    b"-Infinity": "invalid character 'I' in numeric literal",
    b'{"a":1 "b"}': "invalid character '\"' after object key:value pair",
    b'{"a":\t\x0b1}': "invalid character '\\v' looking for beginning of value",
    b'"\\u12"': "invalid character '\"' in \\u hexadecimal character escape",
    b'"\\\'"': "invalid character '\\'' in string escape code",
    b"\xef\xbb\xbf{}": "invalid character 'ï' looking for beginning of value",
    b'{"a":1}\x00': "invalid character '\\x00' after top-level value",
    b"nul": "invalid character ' ' in literal null (expecting 'l')",
    b"-": "invalid character ' ' in numeric literal",
    b"1.x": "invalid character 'x' after decimal point in numeric literal",
    b"1e": "invalid character ' ' in exponent of numeric literal",
    b"01": "invalid character '1' after top-level value",
    b"[01]": "invalid character '1' after array element",
    b'{"a":01}': "invalid character '1' after object key:value pair",
    b'{"a" 1}': "invalid character '1' after object key",
    b'{"a":1,}': "invalid character '}' looking for beginning of object key string",
    b"[1,]": "invalid character ']' looking for beginning of value",
    b"{'a':1}": "invalid character '\\'' looking for beginning of object key string",
    b'"\x01"': "invalid character '\\x01' in string literal",
    b'"\n"': "invalid character '\\n' in string literal",
    b'"\\x"': "invalid character 'x' in string escape code",
    b'"\\u12': "invalid character ' ' in \\u hexadecimal character escape",
    b'"a': "unexpected end of JSON input",
    b'{"a":1}{': "invalid character '{' after top-level value",
    b"\xff": "invalid character 'ÿ' looking for beginning of value",
    b"\x81": "invalid character '\\u0081' looking for beginning of value",
    b"\x7f": "invalid character '\\x7f' looking for beginning of value",
    b"NaN": "invalid character 'N' looking for beginning of value",
    b"[" * 10_001: "invalid character '[' exceeded max depth",
    b'{"a":' * 10_001: "invalid character '{' exceeded max depth",
    b"[" * 10_001 + b"]" * 10_001: "invalid character '[' exceeded max depth",
}


@pytest.mark.parametrize("body", COMPLAINTS)
def test_complaints_are_go_s(body: bytes) -> None:
    assert syntax_error_message(body) == COMPLAINTS[body]
    with pytest.raises(ValueError, match=re.escape(COMPLAINTS[body]) + "$"):
        read_json(body)


@pytest.mark.parametrize(
    "body", [b" [] ", b'{"a": [1, -0.5e+3, true, null, {"b": {}}], "c": "\\u00e9"}', b"[[],[{}],1]"]
)
def test_json_has_no_complaint(body: bytes) -> None:
    assert syntax_error_message(body) == ""


def test_what_is_not_utf8_is_read_all_the_same() -> None:
    assert read_json(b'{"a":"\xff","b":"\\ud800"}') == {"a": "\ufffd", "b": "\ufffd"}


@pytest.mark.parametrize("item", [b"[],", b"{},", b'{"a":[1,{"b":[]}]},', b"[[[[[[[]]]]]]],", b"1.5,", b'"\\u0041",'])
def test_a_large_text_is_complained_of_in_seconds(item: bytes) -> None:
    body = b"[" + item * (MAX_BODY // len(item)) + b"x"
    start = time.process_time()
    assert syntax_error_message(body) == "invalid character 'x' looking for beginning of value"
    taken = time.process_time() - start
    assert taken < 3 or sys.gettrace() is not None  # some 0.2; it was 4.4 for the first; more if each line is watched


def test_what_nests_deeper_than_a_stride_is_complained_of_all_the_same() -> None:
    for depth in range(1, 12):
        for opening, closing in ((b"[", b"]"), (b'{"a":', b"}"), (b'[{"a": ', b"} ] ")):
            good = opening * depth + b"[]" + closing * depth
            assert syntax_error_message(b"[1," + good + b", " + good + b"]") == ""
            assert syntax_error_message(b"[" + good + b"]]") == "invalid character ']' after top-level value"
            wrong = opening * depth + b"x" + closing * depth
            assert syntax_error_message(wrong) == "invalid character 'x' looking for beginning of value"
            mixed = opening * depth + b"1" + closing * (depth - 1) + b":"
            assert syntax_error_message(mixed).startswith("invalid character ':' after ")
    assert syntax_error_message(b"[" * 9_998 + b"[[[[]]]]") == "invalid character '[' exceeded max depth"


@given(st.lists(st.sampled_from(list(COMPLAINTS) + PIECES), max_size=8).map(b"".join), st.integers(6, 40))
def test_what_is_passed_over_window_by_window_is_passed_over_at_once(body: bytes, window: int) -> None:
    body = b"[" + body
    at_once = syntax_error_message(body)
    with patch.object(scanner, "WINDOW", window):
        assert syntax_error_message(body) == at_once


def test_no_call_of_the_library_passes_over_more_than_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """It lets nobody else do anything meanwhile."""
    passed = list[int]()
    end = scanner._end_of

    def noted(pattern: Any, body: bytes, at: int, last: int) -> int:
        run = end(pattern, body, at, last)
        passed.append(run - at)
        return run

    monkeypatch.setattr(scanner, "_end_of", noted)
    for body in (b"[1," + b"[1]," * 100_000 + b"x]", b"[1,[" + b"1," * 200_000 + b"x]"):
        passed.clear()
        assert syntax_error_message(body).startswith("invalid character 'x'")
        assert sum(passed) > len(body) - 10
        assert max(passed) <= scanner.WINDOW
