"""YAML that clients send, read as the real server reads it.

A server that believes whatever a YAML library makes of its input has surprises coming. `12:30` is a number in YAML
1.1 and a text here; `2026-01-01` stays a text; a second document is not looked at; an anchor may not contain itself;
and ten lines of aliases to aliases must not become a billion objects. So the text is only *parsed* by the library;
what the scalars mean is decided here.

Upstream: `sigs.k8s.io/yaml` (`YAMLToJSON`, `YAMLToJSONStrict`) on its own copy of go-yaml v2 (`resolve.go`, `decode.go`,
"excessive aliasing"), used by `apimachinery/pkg/runtime/serializer/json/json.go`, v1.36. Left out: upstream's exact
words for a text that is not YAML.
"""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

_PLAIN = "plain"
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
_FALSE = frozenset({"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
_INT = re.compile(r"[-+]?(0[bB][01_]+|0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]*|[1-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_ENDLESS = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_MERGE = "<<"
MAX_DEPTH = 200
"""How deep a document may nest. Go allows 10,000; nothing that is stored comes near this."""

MAX_NODES = 400_000
"""How many values the aliases of a document may expand to."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Parses; leaves the meaning of plain scalars to us."""

    def resolve(self, kind: type[yaml.Node], value: str, implicit: Any) -> Any:
        """Mark a scalar without quotes and tag."""
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else "tag:yaml.org,2002:str"
        return self.DEFAULT_SEQUENCE_TAG if kind is yaml.SequenceNode else self.DEFAULT_MAPPING_TAG


def from_yaml(text: bytes) -> tuple[Any, list[str]]:
    """The first document as JSON values, and what is wrong with it that a lenient reader would not notice (keys given twice).

    Raises ValueError for a text that is not YAML, or cannot be said in JSON.
    """
    try:
        return _read(text)
    except RecursionError:
        raise ValueError("yaml: exceeded max depth") from None


def _read(text: bytes) -> tuple[Any, list[str]]:
    try:
        _check_depth(text)
        loader = _Loader(text)
        try:
            node = loader.get_node() if loader.check_node() else None
        finally:
            loader.dispose()
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"yaml: {_one_line(error)}") from None
    if node is None:
        return None, []
    strict: list[str] = []
    _check_aliases(node)
    return _value(node, strict), list(dict.fromkeys(strict))


def _check_depth(text: bytes) -> None:
    """Raises ValueError for a document so deep that building it would exhaust the stack. Only the parser runs here, and it has none."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            depth += 1
            if depth > MAX_DEPTH:
                raise ValueError("yaml: exceeded max depth")
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            depth -= 1
        elif isinstance(event, yaml.DocumentEndEvent):
            return


def _one_line(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return " ".join(str(error).split())


def _check_aliases(root: yaml.Node) -> None:
    """Raises ValueError if a node contains itself or the document grows beyond measure when its aliases are written out."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()

    def size(node: yaml.Node) -> int:
        known = sizes.get(id(node))
        if known is not None:
            return known
        if id(node) in open_nodes:
            raise ValueError("yaml: anchor value contains itself")
        open_nodes.add(id(node))
        children = node.value if isinstance(node, yaml.SequenceNode) else ()
        if isinstance(node, yaml.MappingNode):
            children = [part for pair in node.value for part in pair]
        total = 1 + sum(map(size, children))
        if total > MAX_NODES:
            raise ValueError("yaml: document contains excessive aliasing")
        open_nodes.discard(id(node))
        sizes[id(node)] = total
        return total

    size(root)


def _value(node: yaml.Node, strict: list[str]) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node.value) if node.tag == _PLAIN else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, strict) for item in node.value]
    out: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    for key_node, value_node in node.value:
        if key_node.tag == _PLAIN and key_node.value == _MERGE:
            merged |= _merged(value_node, strict)
            continue
        key = _key(key_node)
        if key in out:
            strict.append(f'line {key_node.start_mark.line + 1}: key "{key}" already set in map')
        out[key] = _value(value_node, strict)
    return {**merged, **out} if merged else out


def _merged(node: yaml.Node, strict: list[str]) -> dict[str, Any]:
    if isinstance(node, yaml.SequenceNode):
        parts = [_merged(item, strict) for item in node.value]
        return {key: value for part in reversed(parts) for key, value in part.items()}
    value = _value(node, strict)
    if not isinstance(value, dict):
        raise ValueError("yaml: map merge requires map or sequence of maps as the value")
    return value


def _key(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise ValueError("yaml: invalid map key")
    key = _scalar(node.value) if node.tag == _PLAIN else node.value
    if key is None:
        return "null"
    return str(key).lower() if isinstance(key, bool) else str(key)


def _scalar(text: str) -> Any:
    """What a scalar without quotes means. Raises ValueError for what JSON cannot say."""
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
        return value
    if _ENDLESS.fullmatch(text):
        raise ValueError(f"json: unsupported value: {text}")
    return text


def _integer(text: str) -> int | None:
    """An integer of 64 bits; None if it is none, or too large (then it is a float, as in JSON)."""
    digits = text.lstrip("+-")
    if len(digits) > 80:
        return None
    base = {"0b": 2, "0x": 16, "0o": 8}.get(digits[:2].lower(), 8 if len(digits) > 1 and digits[0] == "0" else 10)
    try:
        number = int(digits[2:] if digits[:2].lower() in ("0b", "0x", "0o") else digits, base)
    except ValueError:
        return None
    number = -number if text[0] == "-" else number
    return number if -(1 << 63) <= number < 1 << 64 else None
