"""JSON as Go reads it. The complaints about numbers are a real API server's (v1.36.2)."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from lifecycle.api.go.json.decode import as_go_values, unmarshal, unmarshal_object, wrong_type


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            b'{"a": [1, -0.5e+3, true, null, {"b": {}}], "c": "\\u00e9"}',
            {"a": [1, -500.0, True, None, {"b": {}}], "c": "é"},
        ),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'"\xff"', "\ufffd"),
        (b'"\xe2\x82"', "\ufffd\ufffd"),  # one for each byte
        (b'"\xed\xa0\x80"', "\ufffd\ufffd\ufffd"),
        (b'"\\ud800"', "\ufffd"),
        (b'"\\udc00\\ud800"', "\ufffd\ufffd"),
        (b'"\\ud83d\\ude00"', "😀"),
        (b'"\\ud800\\ud83d\\ude00"', "\ufffd😀"),
        (b'"\\\\ud800"', "\\ud800"),
        ("“é”".join('""'), "“é”"),
        (b"9223372036854775807", (1 << 63) - 1),
        (b"-9223372036854775808", -(1 << 63)),
        (b"9223372036854775808", 9223372036854775808.0),
        (b"-0", 0),
        (b"1E5", 100000.0),
    ],
)
def test_json_is_read_as_go_reads_it(text: bytes | str, value: object) -> None:
    decoded = unmarshal(text)
    assert decoded == value
    assert type(decoded) is type(value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"a":1e400}', "json: cannot unmarshal number 1e400 into Go value of type float64"),
        ('{"a":-1e400}', "json: cannot unmarshal number -1e400 into Go value of type float64"),
        ("9" * 400, f"json: cannot unmarshal number {'9' * 400} into Go value of type float64"),
        ('{"a":1e400', "unexpected end of JSON input"),  # the whole text is looked at first
        ('{"a":NaN}', "invalid character 'N' looking for beginning of value"),
        ("[" * 5_000 + "]" * 5_000, "invalid character '[' exceeded max depth"),
        ("[" * 5_000, "unexpected end of JSON input"),
        ('"\ud800', "unexpected end of JSON input"),  # half of a pair that is no escape
    ],
)
def test_what_cannot_be_read_is_refused_in_go_s_words(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(complaint)}$"):
        unmarshal(text)


@pytest.mark.parametrize(
    ("text", "given"), [("[]", "array"), ('"x"', "string"), ("7", "number"), ("1.5", "number"), ("true", "bool")]
)
def test_only_an_object_or_null_goes_into_a_map(text: str, given: str) -> None:
    complaint = f"json: cannot unmarshal {given} into Go value of type map[string]interface {{}}"
    with pytest.raises(ValueError, match=f"^{re.escape(complaint)}$"):
        unmarshal_object(text)
    assert unmarshal_object("null") == {}
    assert unmarshal_object('{"a": null}') == {"a": None}


def test_integers_that_need_more_than_64_bits_are_floats_to_go() -> None:
    least, most = -(1 << 63), (1 << 63) - 1
    given = {"a": [least, most, least - 1, most + 1], "b": True}
    copied = as_go_values(given)
    assert copied["a"] == [least, most, float(least), float(most + 1)]
    assert list(map(type, copied["a"])) == [int, int, float, float]
    assert copied["b"] is True
    assert copied["a"] is not given["a"]


def test_a_field_is_named_with_its_struct() -> None:
    assert (
        wrong_type({}, "int32", "DeploymentSpec.spec.replicas")
        == "json: cannot unmarshal object into Go struct field DeploymentSpec.spec.replicas of type int32"
    )


def test_a_small_program_loads_nothing_but_python_s_own_modules() -> None:
    program = (
        "import sys, lifecycle.cni.plugins.host_local, lifecycle.api.go.json.decode, lifecycle.api.go.json.encode\n"
        "print(*sorted({'orjson', 'asyncio', 'aiohttp', 'yaml'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []
