"""JSONPath as kubectl speaks it: a text with `{…}` in it, each of which is looked up in
the object and printed.

`{.items[*].metadata.name}`, `{range
.items[?(@.kind=="Pod")]}{.metadata.name}{"\\n"}{end}`, `{..image}`: values of one
lookup are separated by a space; text goes out as it is, anything with an inside as
JSON. What is missing prints as nothing. Maps, which have no order in Go, are gone
through by key here.

Upstream: `client-go/util/jsonpath/jsonpath.go` (`JSONPath.FindResults`, `evalArray`,
`evalFilter`), `client-go/third_party/forked/golang/template/funcs.go` (`Equal`,
`Less`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.api.go.json.encode import marshal
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.printing import jsonpath_parser as syntax
from lifecycle.kubectl.printing.key_order import in_key_order

_GO_TYPES = {
    dict: "map[string]interface {}",
    list: "[]interface {}",
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
}


def parse(template: str) -> tuple[Any, ...]:
    """The template's parts. Raises CommandError for what is none."""
    try:
        return syntax.parse(template)
    except ValueError as error:
        raise CommandError(f"error parsing jsonpath {template}, {error}") from None


def execute(parts: Sequence[Any], root: Any, *, strict: bool = False) -> str:
    """What a parsed template prints for an object. Raises CommandError for lookups that
    make no sense there.
    """
    return "".join(
        " ".join(_eval_to_text(value) for value in values)
        for values in find_all(parts, root, strict=strict)
    )


def find_all(
    parts: Sequence[Any], root: Any, *, strict: bool = False
) -> list[list[Any]]:
    """The results of each part of a template, in order; those between a `range` and its
    `end` once for each value.

    `strict`: a field that is not there is an error.
    """
    return _block(parts, 0, root, strict, inside=False)


def _block(
    parts: Sequence[Any], at: int, root: Any, strict: bool, *, inside: bool
) -> list[list[Any]]:
    """The results from part `at` on, to the `end` of this block. What no `end` closes
    is gone through once more after the loop.
    """
    full_result: list[list[Any]] = []
    while at < len(parts):
        part = parts[at]
        at += 1
        word = _first_word(part)
        if word == "end":
            if not inside:
                raise CommandError("not in range, nothing to end")
            return full_result
        if word != "range":
            full_result.append(_evaluated(part, root, strict))
            continue
        for value in _steps(part.steps[1:], [root], strict):
            full_result += _block(parts, at, value, strict, inside=True)
        at = _after_end(parts, at)
    return full_result


def _after_end(parts: Sequence[Any], start: int) -> int:
    depth, at = 1, start
    while at < len(parts) and depth:
        depth += {"range": 1, "end": -1}.get(_first_word(parts[at]), 0)
        at += 1
    return start if depth else at


def _first_word(part: Any) -> str:
    first = part.steps[0] if isinstance(part, syntax.Action) and part.steps else None
    return (
        first.name
        if isinstance(first, syntax.Word) and first.name in ("range", "end")
        else ""
    )


def _evaluated(part: Any, root: Any, strict: bool) -> list[Any]:
    return (
        [part.value]
        if isinstance(part, syntax.Literal)
        else _steps(part.steps, [root], strict)
    )


def _steps(steps: Sequence[Any], values: list[Any], strict: bool) -> list[Any]:
    for step in steps:
        values = _step(step, values, strict)
    return values


def _step(step: Any, values: list[Any], strict: bool) -> list[Any]:
    if isinstance(step, syntax.Field):
        results = [
            value[step.name]
            for value in values
            if isinstance(value, dict) and step.name in value
        ]
        if strict and values and not results:
            raise CommandError(f"{step.name} is not found")
        return results
    if isinstance(step, syntax.Slice):
        return [
            results
            for value in values
            if value is not None
            for results in _sliced(step, value)
        ]
    if isinstance(step, syntax.Wildcard):
        return [child for value in values for child in _children(value)]
    if isinstance(step, syntax.Recursive):
        return _all_below(values)
    if isinstance(step, syntax.Union):
        return [
            results for part in step.parts for results in _steps(part, values, strict)
        ]
    if isinstance(step, syntax.Filter):
        return [item for value in values for item in _filtered(step, value, strict)]
    if isinstance(step, syntax.Literal):
        return (
            [step.value]
            if isinstance(step.value, str)
            else [step.value for _ in values]
        )
    raise CommandError(f"unrecognized identifier {step.name}")


def _sliced(step: syntax.Slice, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise CommandError(f"{_GO_TYPES[type(value)]} is not array or slice")
    size = len(value)
    start = step.start or 0
    stop = size if step.stop is None else step.stop
    start += size if start < 0 else 0
    stop += size if stop < 0 or (stop == 0 and step.derived) else 0
    if start == stop:
        return []
    for bound, inside in ((start, 0 <= start < size), (stop - 1, 0 <= stop <= size)):
        if not inside:
            raise CommandError(
                f"array index out of bounds: index {bound}, length {size}"
            )
    if start > stop:
        raise CommandError(
            f"starting index {start} is greater than ending index {stop}"
        )
    if step.step is not None and step.step <= 0:
        raise CommandError("step must be > 0")
    return value[start : stop : step.step]


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    if isinstance(value, str):
        return list(value.encode())
    return list(value) if isinstance(value, list) else []


def _all_below(values: list[Any]) -> list[Any]:
    results = []
    for value in values:
        children = _children(value) if isinstance(value, (dict, list)) else []
        if children:
            results += [value, *_all_below(children)]
    return results


def _filtered(step: syntax.Filter, value: Any, strict: bool) -> list[Any]:
    if not isinstance(value, list):
        raise CommandError(
            f"{go_sprint(value)} is not array or slice and cannot be filtered"
        )
    return [item for item in value if _matches(step, item, strict)]


def _matches(step: syntax.Filter, item: Any, strict: bool) -> bool:
    lefts = _steps(step.left, [item], strict and step.operator != "exists")
    if step.operator == "exists":
        return bool(lefts)
    if not lefts:
        return False
    rights = _steps(step.right, [item], strict) if len(lefts) == 1 else []
    if len(lefts) > 1 or len(rights) > 1:
        raise CommandError("can only compare one element at a time")
    return bool(rights) and _compared(lefts[0], step.operator, rights[0])


def _compared(left: Any, operator: str, right: Any) -> bool:
    if operator not in ("<", ">", "==", "!=", "<=", ">="):
        raise CommandError(f"unrecognized filter operator {operator}")
    for value in (left, right):
        if not isinstance(value, (str, bool, int, float)):
            raise CommandError("invalid type for comparison")
    if type(left) is not type(right):
        raise CommandError("incompatible types for comparison")
    if operator in ("==", "!="):
        return bool((left == right) == (operator == "=="))
    if isinstance(left, bool):
        raise CommandError("invalid type for comparison")
    return bool(
        {
            "<": left < right,
            ">": left > right,
            "<=": left <= right,
            ">=": left >= right,
        }[operator]
    )


def go_sprint(value: Any) -> str:
    """A value as Go's `fmt.Sprint` prints it: `map[a:1 b:2]`, `[x y]`, `<nil>`."""
    if isinstance(value, dict):
        return (
            "map["
            + " ".join(f"{key}:{go_sprint(value[key])}" for key in sorted(value))
            + "]"
        )
    if isinstance(value, list):
        return "[" + " ".join(go_sprint(item) for item in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return "<nil>" if value is None else str(value)


def _eval_to_text(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return marshal(in_key_order(value))
    return "null" if value is None else go_sprint(value)
