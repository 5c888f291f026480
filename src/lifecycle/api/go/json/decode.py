"""JSON as Go reads it.

Bytes that are not UTF-8, and halves of surrogate pairs, become U+FFFD, one for each
byte; of two members with one name the last counts; integers that need more than 64 bits
become floats.

Upstream: Go's `encoding/json/decode.go` (`Unmarshal`, `UnmarshalTypeError`),
`sigs.k8s.io/json` (`UnmarshalCaseSensitivePreserveInts`). Left out: texts that nest
deeper than Python's recursion allows (some 1,000 levels) are refused as Go refuses
those of more than 10,000.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from typing import Any

from lifecycle.api.go.json.scanner import syntax_error_message

_LONGEST_INTEGER = len("-9223372036854775808")
_SURROGATES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
"""A pair; half of one (the group); any other escape, which is passed over."""


def unmarshal(data: bytes | str) -> Any:
    """The text as data. Raises ValueError with Go's complaint: about the first
    character that cannot go on, or about a number that is too large.
    """
    try:
        return _DECODER.decode(_without_lone_surrogates(data))
    except ValueError as error:
        complaint = syntax_error_message(_bytes(data)) or str(error)
        raise ValueError(complaint) from None
    except RecursionError:
        complaint = syntax_error_message(_bytes(data))
        raise ValueError(
            complaint or "invalid character '[' exceeded max depth"
        ) from None


def unmarshal_object(data: bytes | str) -> dict[str, Any]:
    """The object in a text; an empty one for null. Raises ValueError with Go's
    complaint, for other values as well.
    """
    value = unmarshal(data)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(wrong_type(value, "map[string]interface {}"))
    return value


def as_go_values(value: Any) -> Any:
    """A copy of decoded JSON, which shares nothing with it, with every number as Go
    keeps it: integers that need more than 64 bits are floats.
    """
    if isinstance(value, dict):
        return {key: as_go_values(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(as_go_values, value))
    if type(value) is int and not -(1 << 63) <= value < 1 << 63:
        return float(value)
    return value


def wrong_type(value: Any, go_type: str, field: str = "") -> str:
    """What Go says of a value that does not fit its type. `field`: where it stands,
    `Struct.path.to.field`; without it, it is the whole text.
    """
    where = f"struct field {field} of" if field else "value of"
    return f"json: cannot unmarshal {json_type(value)} into Go {where} type {go_type}"


def json_type(value: Any) -> str:
    """What Go calls a JSON value in an error message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (int, float)):
        return "number"
    return "array" if isinstance(value, list) else "object"


def _bytes(data: bytes | str) -> bytes:
    return data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data


def _without_lone_surrogates(data: bytes | str) -> str:
    text = data if isinstance(data, str) else data.decode("utf-8", _REPLACE_EACH)
    if "\\ud" in text or "\\uD" in text:
        text = _SURROGATES.sub(_without_half, text)
    return text


def _without_half(match: re.Match[str]) -> str:
    return "\ufffd" if match[1] else match[0]


_REPLACE_EACH = "go_json.replace_each_byte"


def _replace_each_byte(error: UnicodeError) -> tuple[str, int]:
    """Python's `replace` writes one U+FFFD for all bytes of a character that was cut
    off.
    """
    assert isinstance(error, UnicodeDecodeError)
    return "\ufffd" * (error.end - error.start), error.end


codecs.register_error(_REPLACE_EACH, _replace_each_byte)


def _integer(text: str) -> int | float:
    if len(text) <= _LONGEST_INTEGER and -(1 << 63) <= (value := int(text)) < 1 << 63:
        return value
    return _float(text)


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(
            f"json: cannot unmarshal number {text} into Go value of type float64"
        )
    return value


def _constant(text: str) -> Any:
    raise ValueError(text)  # NaN and its like: Python's JSON, nobody else's


_DECODER = json.JSONDecoder(
    parse_int=_integer, parse_float=_float, parse_constant=_constant
)
