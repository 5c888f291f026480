"""JSONPath as kubectl speaks it: a text with `{…}` in it, each of which is looked up in the object and printed.

`{.items[*].metadata.name}`, `{range .items[?(@.kind=="Pod")]}{.metadata.name}{"\\n"}{end}`, `{..image}`: values of one lookup are separated
by a space; text goes out as it is, anything with an inside as JSON. What is missing prints as nothing.

Upstream: `client-go/util/jsonpath/parser.go` (`Parser`), `jsonpath.go` (`JSONPath.FindResults`, `evalFilter`), v1.36.2.
Left out: nested filters, which upstream does not have either.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lifecycle.kubectl.discovery.cached_discovery import go_json
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.printing.key_order import in_key_order

_MISSING = object()
_FIELD = re.compile(r"(?:\\.|[^\s.\[\]|,{}()\\])+")
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_OPERATOR = re.compile(r"\s*(==|!=|<=|>=|<|>)\s*")
_ARRAY = re.compile(r"^(-?\d*)(:-?\d*)?(:-?\d*)?$")


@dataclass(slots=True, frozen=True)
class Text:
    """Printed as it is."""

    text: str


@dataclass(slots=True, frozen=True)
class Path:
    """A lookup: steps from the root (`$`, also unsaid) or from the current object (`@`)."""

    steps: tuple[tuple[Any, ...], ...]
    current: bool = False


@dataclass(slots=True, frozen=True)
class Range:
    """A part that is repeated for each value of a lookup."""

    over: Path
    body: tuple[Any, ...]


def parse(template: str) -> tuple[Any, ...]:
    """The template's parts. Raises CommandError for what is none."""
    try:
        nodes, rest = _nodes(_pieces(template), 0, False)
    except ValueError as wrong:
        raise CommandError(f"error parsing jsonpath {template}, {wrong}") from None
    assert rest == len(_pieces(template))
    return tuple(nodes)


def _pieces(template: str) -> list[tuple[bool, str]]:
    """(is an action, its text) in order; braces inside quotes do not count."""
    found: list[tuple[bool, str]] = []
    at = 0
    while at < len(template):
        brace = template.find("{", at)
        if brace < 0:
            found.append((False, template[at:]))
            break
        if brace > at:
            found.append((False, template[at:brace]))
        at = brace + 1
        start = at
        while at < len(template) and template[at] != "}":
            quoted = _STRING.match(template, at)
            at = quoted.end() if quoted else at + 1
        if at >= len(template):
            action = template[start:]
            raise ValueError("unterminated array" if action.count("[") > action.count("]") else "unclosed action")
        found.append((True, template[start:at].strip()))
        at += 1
    return found


def _nodes(pieces: Sequence[tuple[bool, str]], at: int, inside: bool) -> tuple[list[Any], int]:
    nodes: list[Any] = []
    while at < len(pieces):
        action, text = pieces[at]
        at += 1
        if not action:
            nodes.append(Text(text))
        elif text == "end":
            if not inside:
                raise ValueError("not in range, nothing to end")
            return nodes, at
        elif re.match(r"range\s", text):
            body, at = _nodes(pieces, at, True)
            nodes.append(Range(_path(text[5:].strip()), tuple(body)))
        elif _STRING.fullmatch(text):
            nodes.append(Text(_unquoted(text)))
        else:
            nodes += [_path(part) for part in text.split()]
    if inside:
        raise ValueError("unterminated range")
    return nodes, at


def _unquoted(text: str) -> str:
    inner = text[1:-1]
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t", "r": "\r"}.get(m[1], m[1]), inner)


def _path(text: str) -> Path:
    current = text.startswith("@")
    at = 1 if text[:1] in ("@", "$") else 0
    steps: list[tuple[Any, ...]] = []
    while at < len(text):
        if text.startswith("..", at):
            steps.append(("recursive",))
            at += 2
            if match := _FIELD.match(text, at):
                steps.append(_field(match[0]))
                at = match.end()
        elif text[at] == "[":
            step, at = _bracket(text, at)
            steps.append(step)
        elif text[at] == ".":
            match = _FIELD.match(text, at + 1)
            if match:
                steps.append(_field(match[0]))
                at = match.end()
            else:
                at += 1
        elif at == 0 and (match := _FIELD.match(text)):
            raise ValueError(f"unrecognized identifier {match[0]}")
        else:
            raise ValueError(f"unrecognized character in action: U+{ord(text[at]):04X} '{text[at]}'")
    return Path(tuple(steps), current)


def _field(text: str) -> tuple[Any, ...]:
    name = re.sub(r"\\(.)", r"\1", text)
    return ("wildcard",) if name == "*" else ("field", name)


def _bracket(text: str, at: int) -> tuple[tuple[Any, ...], int]:
    start, depth, at = at + 1, 1, at + 1
    while at < len(text) and depth:
        quoted = _STRING.match(text, at)
        if quoted:
            at = quoted.end()
            continue
        depth += {"[": 1, "]": -1}.get(text[at], 0)
        at += 1
    if depth:
        raise ValueError("unterminated array")
    inside = text[start : at - 1].strip()
    if inside.startswith("?("):
        if not inside.endswith(")"):
            raise ValueError("unterminated filter")
        return _filter(inside[2:-1]), at
    return _inside(inside), at


def _inside(inside: str) -> tuple[Any, ...]:
    if inside == "*":
        return ("wildcard",)
    if _STRING.fullmatch(inside):
        return ("field", _unquoted(inside))
    match = _ARRAY.match(inside)
    if match and inside:
        first, second, third = match.groups()
        if second is None:
            return ("index", int(first))
        bounds = [int(part) if part else None for part in (first, second[1:], (third or ":")[1:])]
        return ("slice", *bounds)
    if "," in inside:
        return ("union", tuple(_inside(part.strip()) for part in inside.split(",")))
    raise ValueError(f"invalid array index {inside}")


def _filter(text: str) -> tuple[Any, ...]:
    at = 0
    while at < len(text):
        quoted = _STRING.match(text, at)
        if quoted:
            at = quoted.end()
        elif operator := _OPERATOR.match(text, at):
            return "filter", _operand(text[:at].strip()), operator[1], _operand(text[operator.end() :].strip())
        else:
            at += 1
    return "filter", _operand(text.strip()), "exists", None


def _operand(text: str) -> Any:
    if text.startswith(("@", "$")):
        return _path(text)
    if _STRING.fullmatch(text):
        return Text(_unquoted(text))
    try:
        return (json.loads(text),)
    except ValueError:
        raise ValueError(f"unrecognized identifier {text}") from None


def find_results(path: Path, root: Any, current: Any) -> list[Any]:
    """All values that a lookup finds, in order. Raises CommandError for an index that is out of bounds."""
    values = [current if path.current else root]
    for step in path.steps:
        values = [found for value in values for found in _step(step, value, root)]
    return values


def _step(step: tuple[Any, ...], value: Any, root: Any) -> list[Any]:
    kind = step[0]
    if kind == "field":
        return [value[step[1]]] if isinstance(value, dict) and step[1] in value else []
    if kind == "wildcard":
        return _children(value)
    if kind == "recursive":
        return _all_below(value)
    if kind == "union":
        return [found for part in step[1] for found in _step(part, value, root)]
    if value is None:
        return []
    if not isinstance(value, list):
        raise CommandError(f"{_shown(value)} is not array or slice")
    if kind == "filter":
        return [item for item in value if _matches(step, item, root)]
    if kind == "slice":
        return value[slice(*step[1:])]
    index = step[1] + len(value) if step[1] < 0 else step[1]
    if not 0 <= index < len(value):
        raise CommandError(f"array index out of bounds: index {step[1]}, length {len(value)}")
    return [value[index]]


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    return list(value) if isinstance(value, list) else []


def _all_below(value: Any) -> list[Any]:
    children = _children(value)
    found = [value] if children else []
    for child in children:
        found += _all_below(child)
    return found


def _matches(step: tuple[Any, ...], item: Any, root: Any) -> bool:
    left, right = (_value(operand, item, root) for operand in (step[1], step[3]))
    operator = step[2]
    if operator == "exists":
        return left is not _MISSING
    if left is _MISSING or right is _MISSING:
        return False
    if operator in ("==", "!="):
        return bool((left == right) == (operator == "=="))
    try:
        less, more = left < right, left > right
    except TypeError:
        raise CommandError("unrecognized filter operand types") from None
    return {"<": less, ">": more, "<=": not more, ">=": not less}[operator]


def _value(operand: Any, item: Any, root: Any) -> Any:
    if operand is None:
        return None
    if isinstance(operand, Text):
        return operand.text
    if isinstance(operand, tuple):
        return operand[0]
    found = find_results(operand, root, item)
    return found[0] if found else _MISSING


def execute(nodes: Sequence[Any], root: Any, current: Any = _MISSING) -> str:
    """What a parsed template prints for an object."""
    at = root if current is _MISSING else current
    text = []
    for node in nodes:
        if isinstance(node, Text):
            text.append(node.text)
        elif isinstance(node, Range):
            text += [execute(node.body, root, value) for value in find_results(node.over, at, at)]
        else:
            text.append(" ".join(_shown(value) for value in find_results(node, at, at)))
    return "".join(text)


def results(template: str, root: Any) -> list[Any]:
    """The values of all lookups of a template, in order."""
    return [value for node in parse(template) if isinstance(node, Path) for value in find_results(node, root, root)]


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (dict, list)):
        return go_json(in_key_order(value)).decode()
    return "" if value is None else f"{value}"
