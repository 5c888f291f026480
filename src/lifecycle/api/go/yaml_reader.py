"""YAML read as Go's library reads it.

A program that believes whatever a YAML library makes of its input has surprises coming.
`12:30` is a number in YAML 1.1 and a text here; `2026-01-01` stays a text; an anchor
may not contain itself; and ten lines of aliases to aliases must not become a billion
objects. So the text is only *parsed* by the library; what the scalars mean is decided
here.

Upstream: `sigs.k8s.io/yaml` (`YAMLToJSON`, `YAMLToJSONStrict`) on its own copy of
go-yaml v2 (`resolve.go`, `decode.go`, "excessive aliasing"), v1.36. Left out:
upstream's exact words for a text that is not YAML.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterable
from typing import Any

import yaml

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset(
    {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}
)
_FALSE = frozenset(
    {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}
)
_INT = re.compile(r"[-+]?(0[bB][01_]+|0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]*|[1-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_GO_ENDLESS = {".inf": "+Inf", "-.inf": "-Inf", ".nan": "NaN"}
_ENDLESS = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_MERGE = "<<"
_BINARY = "tag:yaml.org,2002:binary"
_RESOLVED_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null")
)
"""What is tagged so means what it would mean without the tag."""
MAX_DEPTH = 200
"""How deep a document may nest. Go allows 10,000; nothing that is stored comes near
this.
"""

MAX_NODES = 400_000
"""How many values a document may have, those included that its aliases stand for. Go
counts only the latter.
"""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(text: bytes) -> tuple[Any, list[str]]:
    """The first document as JSON values, and what is wrong with it that a lenient
    reader would not notice (keys given twice).

    Raises ValueError for a text that is not YAML, or cannot be said in JSON.
    """
    try:
        return _Reader().read(text)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"yaml: {_one_line(error)}") from None


def unmarshal_errors(complaints: Iterable[str]) -> str:
    """What `read_yaml` complained of, as one error. Upstream: yaml.v2's `TypeError`."""
    return "yaml: unmarshal errors:" + "".join(f"\n  {each}" for each in complaints)


def _one_line(error: Exception) -> str:
    """Go's library counts lines from zero, says none on the first, and adds one only
    for its scanner. Upstream: yaml.v2's `parser.fail`.
    """
    if isinstance(error, yaml.MarkedYAMLError):
        mark, context = error.problem_mark, error.context_mark
        line = (
            mark.line + isinstance(error, yaml.scanner.ScannerError)
            if mark is not None and mark.line
            else 0
        )
        line = line or (context.line if context is not None else 0)
        return f"line {line}: {error.problem}" if line else f"{error.problem}"
    return (
        error.reason
        if isinstance(error, yaml.reader.ReaderError)
        else " ".join(str(error).split())
    )


def _decoded(text: str) -> str:
    """A text written as base64. Raises ValueError."""
    try:
        return base64.b64decode(re.sub(r"\s", "", text), validate=True).decode(
            errors="replace"
        )
    except ValueError:
        raise ValueError("yaml: !!binary value contains invalid base64 data") from None


class _Meaningless(Exception):
    """YAML, but nothing that JSON could say."""


class _Key:
    """A key that waits for its value. `number` is its line."""

    __slots__ = ("merge", "number", "text")

    def __init__(self, text: str, number: int, merge: bool) -> None:
        self.text, self.number, self.merge = text, number, merge


class _Open:
    """A list or map that is not complete yet. `count` is how many values there were
    before it.
    """

    __slots__ = ("anchor", "count", "height", "key", "merged", "value")

    def __init__(self, value: Any, anchor: str | None, count: int) -> None:
        self.value, self.anchor, self.count = value, anchor, count
        self.height = 1
        self.key: _Key | None = None
        self.merged: dict[str, Any] = {}


class _Reader:
    """Builds values straight from the parser's events: one pass, no tree of nodes, and
    it stops where a limit is reached.
    """

    def __init__(self) -> None:
        self._stack: list[_Open] = []
        self._anchors: dict[
            str, tuple[Any, int, int, bool]
        ] = {}  # value, how many values in it, height, whether it stood without quotes
        self._count = 0
        self._strict: list[str] = []
        self._root: Any = None

    def read(self, text: bytes) -> tuple[Any, list[str]]:
        """See `read_yaml`."""
        events = yaml.parse(text, Loader=_LOADER)
        for event in events:
            if type(event) is yaml.DocumentEndEvent:
                break
            try:
                self._take(event)
            except _Meaningless as error:
                for (
                    later
                ) in events:  # what is no YAML at all is said first, wherever it stands
                    if type(later) is yaml.DocumentEndEvent:
                        break
                raise ValueError(str(error)) from None
        return self._root, list(dict.fromkeys(self._strict))

    def _take(self, event: Any) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            plain = (
                event.implicit[0] and event.tag in (None, "!")
            ) or event.tag in _RESOLVED_TAGS
            if event.tag == _BINARY:
                event.value = _decoded(event.value)
            self._one_more(1)
            if event.anchor:
                self._anchors[event.anchor] = (event.value, 1, 0, plain)
            self._scalar(event.value, plain, event)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            self._begin({} if kind is yaml.MappingStartEvent else [], event)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._end()
        elif kind is yaml.AliasEvent:
            self._alias(event)

    def _one_more(self, values: int) -> None:
        self._count += values
        if self._count > MAX_NODES:
            raise ValueError("yaml: document contains excessive aliasing")

    def _scalar(self, text: str, plain: bool, event: Any) -> None:
        parent = self._stack[-1] if self._stack else None
        if parent is not None and parent.key is None and type(parent.value) is dict:
            line = event.start_mark.line + 1
            key = _scalar(text) if plain and not _ENDLESS.fullmatch(text) else text
            name = (
                "null"
                if key is None
                else str(key).lower()
                if isinstance(key, bool)
                else str(key)
            )
            parent.key = _Key(name, line, plain and text == _MERGE)
        else:
            self._put(_scalar(text) if plain else text)

    def _begin(self, value: Any, event: Any) -> None:
        parent = self._stack[-1] if self._stack else None
        if parent is not None and parent.key is None and type(parent.value) is dict:
            raise _Meaningless("yaml: invalid map key")
        self._one_more(1)
        self._stack.append(_Open(value, event.anchor, self._count - 1))
        if len(self._stack) > MAX_DEPTH:
            raise ValueError("yaml: exceeded max depth")

    def _end(self) -> None:
        done = self._stack.pop()
        value = {**done.merged, **done.value} if done.merged else done.value
        if done.anchor:
            self._anchors[done.anchor] = (
                value,
                self._count - done.count,
                done.height,
                False,
            )
        if self._stack:
            self._stack[-1].height = max(self._stack[-1].height, done.height + 1)
        self._put(value)

    def _alias(self, event: Any) -> None:
        name = event.anchor
        if any(each.anchor == name for each in self._stack):
            raise _Meaningless("yaml: anchor value contains itself")
        known = self._anchors.get(name)
        if known is None:
            raise ValueError(f"yaml: unknown anchor '{name}' referenced")
        value, values, height, plain = known
        self._one_more(values)
        if len(self._stack) + height > MAX_DEPTH:
            raise ValueError("yaml: exceeded max depth")
        if not height:
            return self._scalar(value, plain, event)
        parent = self._stack[-1]
        if parent.key is None and type(parent.value) is dict:
            raise _Meaningless("yaml: invalid map key")
        parent.height = max(parent.height, height + 1)
        self._put(_copy(value))  # whoever gets the object may change it in one place

    def _put(self, value: Any) -> None:
        if not self._stack:
            self._root = value
            return
        parent = self._stack[-1]
        if type(parent.value) is list:
            parent.value.append(value)
            return
        key, parent.key = parent.key, None
        assert key is not None
        if key.merge:
            parent.merged |= _merged(value)
            return
        if key.text in parent.value:
            self._strict.append(
                f'line {key.number}: key "{key.text}" already set in map'
            )
        parent.value[key.text] = value


def _copy(value: Any) -> Any:
    if type(value) is dict:
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if type(value) is list else value


def _merged(value: Any) -> dict[str, Any]:
    if type(value) is list:
        parts = [_merged(part) for part in value]
        return {key: item for part in reversed(parts) for key, item in part.items()}
    if type(value) is not dict:
        raise _Meaningless(
            "yaml: map merge requires map or sequence of maps as the value"
        )
    return value


def _scalar(text: str) -> Any:
    """What a scalar without quotes means. Raises _Meaningless for what JSON cannot
    say.
    """
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _INT.fullmatch(text):
        number = _integer(text.replace("_", ""))
        if number is not None:
            return number
    if _FLOAT.fullmatch(text):
        value = float(text)
        if math.isinf(value):
            return text
        return (
            int(value) if value.is_integer() and abs(value) < 1e21 else value
        )  # as Go writes it in JSON
    if _ENDLESS.fullmatch(text):
        raise _Meaningless(
            f"json: unsupported value: {_GO_ENDLESS[text.lower().lstrip('+')]}"
        )
    return text


def _integer(text: str) -> int | None:
    """An integer of 64 bits; None if it is none, or too large (then it is a float, as
    in JSON).
    """
    digits = text.lstrip("+-")
    if len(digits) > 80:
        return None
    base = {"0b": 2, "0x": 16, "0o": 8}.get(
        digits[:2].lower(), 8 if len(digits) > 1 and digits[0] == "0" else 10
    )
    try:
        number = int(
            digits[2:] if digits[:2].lower() in ("0b", "0x", "0o") else digits, base
        )
    except ValueError:
        return None
    number = -number if text[0] == "-" else number
    return number if -(1 << 63) <= number < 1 << 64 else None
