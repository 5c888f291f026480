"""YAML as Go's library writes it: keys sorted, lists not indented, long lines folded,
`"3"` and `"y"` in quotes because they would read as something else.

What would read as something else is decided by Go's rules, which are those of YAML 1.1
with exceptions: `12:30` is quoted for the sake of others, `1e5` is a number, `=` is not
special.

Upstream: `go.yaml.in/yaml/v2` (`encode.go`, `resolve.go`) through `sigs.k8s.io/yaml`
(`Marshal`), v1.36.
"""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from functools import cmp_to_key
from math import isfinite
from typing import Any

import yaml

from lifecycle.api.bounded_cache import short_lru_cache

# Go's library was translated from the C one, and folds lines like it
_LIBRARY = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_TEXT = "tag:yaml.org,2002:str"
_BOOLS = (
    "y Y yes Yes YES true True TRUE on On ON n N no No NO false False FALSE off Off OFF"
)
_FLOATS = ".nan .NaN .NAN .inf .Inf .INF +.inf +.Inf +.INF -.inf -.Inf -.INF"
_WORDS = {
    "bool": _BOOLS.split(),
    "null": ["", "~", "null", "Null", "NULL"],
    "float": _FLOATS.split(),
}
_MEANING = {
    word: f"tag:yaml.org,2002:{tag}" for tag, words in _WORDS.items() for word in words
}
_INT = re.compile(
    r"[-+]?(0[bB][01]+|0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0|[1-9][0-9]*)", re.ASCII
)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt"
    r" ]([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,"
    r"2})(?:\.[0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})?)?",
    re.ASCII,
)
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?", re.ASCII)


def _resolve(text: str) -> str:
    """The tag of a scalar without quotes."""
    known = _MEANING.get(text)
    if known is not None:
        return known
    if text[0] in "+-.0123456789":
        plain = (
            text.replace("_", "")
            if text[0] != "."
            else re.sub("(?<=[0-9])_(?=[0-9])", "", text)
        )
        if _INT.fullmatch(plain):
            return "tag:yaml.org,2002:int"
        if (_FLOAT.fullmatch(plain) and isfinite(float(plain))) or _BASE_60.fullmatch(
            text
        ):
            return "tag:yaml.org,2002:float"
        if _is_time(text):
            return "tag:yaml.org,2002:timestamp"
    return _TEXT


def _is_time(text: str) -> bool:
    match = _TIME.fullmatch(text)
    if match is None:
        return False
    try:
        date(*map(int, re.split("[Tt ]", text)[0].split("-")))
    except ValueError:
        return False
    return not match[1] or all(
        int(part) < limit
        for part, limit in zip(match.group(1, 2, 3), (24, 60, 60), strict=True)
    )


class _GoDumper(_LIBRARY):  # type: ignore[misc, valid-type]
    """Safe YAML with Go's choice of quotes."""

    def ignore_aliases(self, data: Any) -> bool:
        """Values are written out where they stand, even if one object stands in two
        places.
        """
        return True

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        """By Go's rules instead of the library's."""
        if kind is yaml.ScalarNode and implicit[0]:
            return _resolve(value)
        return super().resolve(kind, value, implicit)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if text and max(text) > "\uffff":  # more than Go's library takes for printable
        style = '"'
    elif "\n" in text:
        style = "|"
    elif _resolve(text) != _TEXT:
        style = '"'
    return dumper.represent_scalar(_TEXT, text, style=style)


def _represent_dict(dumper: yaml.SafeDumper, value: dict[str, Any]) -> yaml.MappingNode:
    return dumper.represent_mapping(
        "tag:yaml.org,2002:map",
        {key: value[key] for key in sorted(value, key=_natural)}.items(),
    )


@short_lru_cache(4096)
def _natural(key: str) -> Any:
    return _by_key(key)


def _compare(a: str, b: str) -> int:
    """What is no letter comes before letters, and numbers count as numbers. Upstream:
    `keyList.Less`.
    """
    for at, (mine, theirs) in enumerate(zip(a, b, strict=False)):
        if mine == theirs:
            continue
        if mine.isalpha() or theirs.isalpha():
            return (
                (mine > theirs) - (mine < theirs)
                if mine.isalpha() and theirs.isalpha()
                else -1
                if theirs.isalpha()
                else 1
            )
        within = "0" in (mine, theirs) and any(
            digit != "0" for digit in _digits_before(a, at)
        )
        (one, long), (other, length) = _number(a, at, within), _number(b, at, within)
        if one != other:
            return -1 if one < other else 1
        if long != length:
            return -1 if long < length else 1
        return -1 if mine < theirs else 1
    return len(a) - len(b)


_by_key = cmp_to_key(_compare)


def _digits_before(text: str, at: int) -> str:
    return text[len(text[:at].rstrip("0123456789")) : at]


def _number(text: str, at: int, within: bool) -> tuple[int, int]:
    """The number that begins at a place (with a 1 in front in the middle of one), and
    how long it is.
    """
    digits = text[at : len(text) - len(text[at:].lstrip("0123456789"))]
    return int(f"{int(within)}{digits}"), len(digits)


def _represent_float(dumper: yaml.SafeDumper, value: float) -> yaml.ScalarNode:
    """As `strconv.FormatFloat(value, 'g', -1, 64)`: with an exponent as soon as there
    are more than six digits in front.
    """
    _, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    power = len(digits) + int(exponent) - 1
    literal = repr(value).removesuffix(".0")
    if value and not -4 <= power < 6:
        first, rest = digits[0], "".join(map(str, digits[1:]))
        literal = (
            f"{'-' if value < 0 else ''}{first}{'.' if rest else ''}{rest}"
            f"e{'-' if power < 0 else '+'}{abs(power):02}"
        )
    return dumper.represent_scalar("tag:yaml.org,2002:float", literal)


_GoDumper.add_representer(str, _represent_text)
_GoDumper.add_representer(dict, _represent_dict)
_GoDumper.add_representer(float, _represent_float)


def to_yaml_bytes(obj: Any) -> bytes:
    """`to_yaml` for the wire."""
    return to_yaml(obj).encode()


def to_yaml(obj: Any) -> str:
    """A JSON value as one YAML document."""
    text = yaml.dump(
        obj,
        Dumper=_GoDumper,
        sort_keys=False,
        default_flow_style=False,
        width=80,
        allow_unicode=True,
    )
    return str(
        text[:-4] if text.endswith("\n...\n") else text
    )  # the library marks an end that Go's leaves open
