"""Tables of custom resources, from a definition's `additionalPrinterColumns`.

Upstream:
`apiextensions-apiserver/pkg/registry/customresource/tableconvertor/tableconvertor.go`,
`pkg/apiserver/helpers.go` (`serveDefaultColumnsIfEmpty`), v1.36. Left out of JSONPath:
ranges, recursive descent, unions; of filters, all but one comparison with `==` or `!=`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.bounded_cache import short_lru_cache
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import human_duration
from lifecycle.api.loop.clock import parse_time
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
)

_DEFAULT = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}

Step = Callable[[Any], list[Any]]

_STEP = re.compile(
    r"""\.(?P<field>(?:[^.\[\\]|\\.)+)
      | \[['"](?P<quoted>[^'"]+)['"]\]
      | \[(?P<index>-?\d+)\]
      | \[(?P<all>\*)\]
      | \[\?\(\s*+@(?P<path>[^=!]*+)(?P<operator>==|!=)
        \s*+(?P<literal>"[^"]*+"|'[^']*+'|[^)]++)\s*+\)\]""",
    re.VERBOSE,
)
"""Nothing in it is tried in a second way: a path is as long as its author likes."""

LONGEST_COLUMNS = 8 * 1024
"""Bytes of a version's columns that are remembered; longer ones are read anew."""


@short_lru_cache(512)
def json_path(path: str) -> Callable[[Any], list[Any]]:
    """A function from an object to everything a path finds in it. Raises ValueError for
    a path that is not understood.
    """
    steps: list[Step] = []
    position = 0
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None:
            raise ValueError(f'unrecognized column definition "{path}"')
        steps.append(_step(match))
        position = match.end()

    def find(obj: Any) -> list[Any]:
        results = [obj]
        for step in steps:
            results = [result for value in results for result in step(value)]
        return results

    return find


def _step(match: re.Match[str]) -> Step:
    key = match["field"] or match["quoted"]
    if key is not None:
        name = re.sub(r"\\(.)", r"\1", key)
        return lambda value: (
            [value[name]] if isinstance(value, dict) and name in value else []
        )
    if match["index"] is not None:
        index = int(match["index"])
        return lambda value: value[index:][:1] if isinstance(value, list) else []
    if match["all"]:
        return lambda value: (
            list(value.values())
            if isinstance(value, dict)
            else value
            if isinstance(value, list)
            else []
        )
    inner, negated = json_path(match["path"].rstrip()), match["operator"] == "!="
    literal = match["literal"].rstrip()
    operand = literal[1:-1] if literal[0] in "\"'" else literal

    def keep(value: Any) -> list[Any]:
        items = value if isinstance(value, list) else []
        return [
            i
            for i in items
            if any((_text(v) == operand) is not negated for v in inner(i))
        ]

    return keep


@short_lru_cache(256, LONGEST_COLUMNS)
def custom_printer(columns: bytes) -> Printer:
    """The printer of a custom resource's version, from its columns as JSON; without any
    it shows the age. At a path that is not understood the columns end, as upstream's
    do: a definition is not checked for that.
    """
    chosen: list[Object] = []
    readers: list[tuple[str, Callable[[Any], list[Any]]]] = []
    with contextlib.suppress(ValueError):
        for column in fast_json.loads(columns) or [_DEFAULT]:
            readers.append((column["type"], json_path(column["jsonPath"])))
            chosen.append(column)

    def row(obj: Object, now: float) -> Cells:
        return [
            obj["metadata"]["name"],
            *(_cell(type, find(obj), now) for type, find in readers),
        ]

    return Printer((NAME, *(_column(column) for column in chosen)), row)


def _column(column: Object) -> Column:
    description: Any = column.get("description")
    if not description:
        described = (
            "Custom resource definition column (in JSONPath format):"
            f" {column['jsonPath']}"
        )
        description = AGE.description if column is _DEFAULT else described
    return Column(
        column["name"],
        description,
        column["type"],
        column.get("format", ""),
        column.get("priority", 0),
    )


def _cell(type: str, results: list[Any], now: float) -> Any:
    """The first thing found, as the column's type allows; None for anything else."""
    value = results[0] if results else None
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if type == "string":
        return _text(value)
    if type == "integer":
        return int(value) if number else None
    if type == "number":
        return value if number else None
    if type == "boolean":
        return value if isinstance(value, bool) else None
    if type == "date" and isinstance(value, str):
        try:
            return human_duration(now - parse_time(value))
        except ValueError:
            return "<invalid>"
    return None


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else fast_json.dumps(value).decode()
