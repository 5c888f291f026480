"""`-o custom-columns=NAME:.metadata.name,…` and `--sort-by`: a table of one's own, in
an order of one's own.

Upstream: `kubectl/pkg/cmd/get/customcolumn.go` (`CustomColumnsPrinter`,
`RelaxedJSONPathExpression`), `sorter.go` (`SortObjects`, `isLess`), v1.36.2. Left out:
rows that compare equal keep the server's order; upstream's sort is not stable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cmp_to_key
from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import parse_quantity
from lifecycle.kubectl.failures import CommandError, Exit, PartlyPrinted
from lifecycle.kubectl.printing.columns import align
from lifecycle.kubectl.printing.jsonpath import find_all, go_sprint, parse
from lifecycle.kubectl.printing.terminal import escaped

Lookup = tuple[Any, ...]
"""A parsed JSONPath."""

_relaxed = re.compile(r"^\{\.?([^{}]+)\}$|^\.?([^{}]+)$")


def relaxed_jsonpath(text: str) -> str:
    """`metadata.name`, `.metadata.name` and `{metadata.name}` as `{.metadata.name}`.
    Raises CommandError for anything else.
    """
    if not text:
        return text
    match = _relaxed.match(text)
    if match is None:
        raise CommandError(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or"
            " '{name1.name2}' or '{.name1.name2}'"
        )
    return "{." + (match[1] or match[2]) + "}"


def parse_spec(spec: str) -> list[tuple[str, Lookup]]:
    """(header, lookup) of each column. Raises CommandError."""
    columns = []
    for part in spec.split(","):
        header, colon, path = part.partition(":")
        if not colon:
            raise CommandError(
                f"unexpected custom-columns spec: {part}, expected"
                " <header>:<json-path-expr>"
            )
        columns.append((header, _lookup(path)))
    return columns


def parse_template(text: str) -> list[tuple[str, Lookup]]:
    """The columns of a file: a line of headers, a line of lookups. Raises
    CommandError.
    """
    lines = text.splitlines()
    for number, what in ((1, "header"), (2, "spec")):
        if len(lines) < number:
            raise CommandError(
                f"invalid template, missing {what} line. Expected format is one line of"
                " space separated headers, one line of space separated column specs."
            )
    headers, specs = lines[0].split(), lines[1].split()
    if len(headers) != len(specs):
        raise CommandError(
            f"number of headers ({len(headers)}) and field specifications"
            f" ({len(specs)}) don't match"
        )
    return [
        (header, _lookup(spec)) for header, spec in zip(headers, specs, strict=True)
    ]


def _lookup(text: str) -> Lookup:
    return parse(relaxed_jsonpath(text))


def _values(path: Lookup, obj: Any) -> list[Any]:
    return [value for values in find_all(path, obj) for value in values]


def render_columns(
    objects: Sequence[Object],
    columns: Sequence[tuple[str, Lookup]],
    *,
    no_headers: bool = False,
    remembered: list[int] | None = None,
) -> str:
    """The table: several values of one lookup joined by commas, `<none>` where there is
    none; `remembered` as in `columns.align`. Raises PartlyPrinted.
    """
    rows = [] if no_headers else [[header for header, _ in columns]]
    for obj in objects:
        try:
            cells = [_values(path, obj) for _, path in columns]
        except CommandError as error:
            raise PartlyPrinted(str(error), align(rows, remembered)) from None
        rows.append(
            [escaped(",".join(map(go_sprint, values))) or "<none>" for values in cells]
        )
    return align(rows, remembered)


def sort_objects(
    objects: Sequence[Any], field: str, of: Any = lambda item: item
) -> list[Any]:
    """Sorted by a lookup; those without a value come first. `of` gives the object of an
    item.

    Raises CommandError if no object has the field, and for values that have no order.
    """
    expression = relaxed_jsonpath(field)
    path = _lookup(field)
    keyed: list[tuple[list[Any], Any]] = [
        (_values(path, of(item))[:1], item) for item in objects
    ]
    if objects and not any(values for values, _ in keyed):
        raise CommandError(
            f"couldn't find any field with path {go_quote(expression)} in the list of"
            " objects"
        )
    try:
        keyed.sort(key=cmp_to_key(_in_order))
    except ValueError as error:
        raise Exit(
            f"Field {expression} in *unstructured.Unstructured is an unsortable type:"
            f" interface, err: {error}\n"
        ) from None
    return [item for _, item in keyed]


def _in_order(left: tuple[list[Any], Any], right: tuple[list[Any], Any]) -> int:
    return _compare(left[0], right[0])


def sort_rows(rows: Sequence[Object], field: str) -> list[Object]:
    """The same of rows of a table, by the objects that came with them."""
    return sort_objects(rows, field, lambda row: row.get("object") or {})


def _compare(left: list[Any], right: list[Any]) -> int:
    if not left or not right:
        return len(left) - len(right)
    return -1 if is_less(left[0], right[0]) else 1 if is_less(right[0], left[0]) else 0


def is_less(left: Any, right: Any) -> bool:
    """The order of two values: text that reads as two quantities by size, other text by
    letter; an integer has no place among other numbers. Raises ValueError for what has
    no order.
    """
    if left is None or right is None:
        return left is None and right is not None
    if type(left) not in _GO_TYPES:
        name = {bool: "bool", list: "[]interface {}"}.get(
            type(left), "map[string]interface {}"
        )
        raise ValueError(f"unsortable type: {name}")
    if type(left) is not type(right):
        raise ValueError("unsortable interface: interface")
    if isinstance(left, str):
        try:
            return bool(parse_quantity(left) < parse_quantity(right))
        except ValueError:
            return left < right
    return bool(left < right)


_GO_TYPES = (str, int, float)
