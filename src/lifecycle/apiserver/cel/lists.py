"""Lists: sorted or not, their sum, least and greatest, where something is in them;
lists made of lists; and lists as sets.

Upstream: `apiserver/pkg/cel/library/lists.go`, v1.36, cel-go's `ext/{lists,sets}.go`,
v0.26. Left out: the exact type of results; to the compiler they may be anything.
`sortBy`, which is a macro.
"""

from __future__ import annotations

import datetime
import itertools
from typing import Any

from lifecycle.apiserver.cel.cost import charge_text
from lifecycle.apiserver.cel.declare import T, any_value, comparable, declared, function
from lifecycle.apiserver.cel.strings import positions


def _is_sorted(items: list[Any]) -> bool:
    return all(before <= after for before, after in itertools.pairwise(items))


def _sum(items: list[Any]) -> Any:
    if not items:
        return 0
    if not all(
        isinstance(item, int | float | datetime.timedelta)
        and not isinstance(item, bool)
        for item in items
    ):
        raise ValueError("no such overload")
    total = items[0]
    for item in items[1:]:
        total = total + item
    return total


def _least(items: list[Any]) -> Any:
    if not items:
        raise ValueError("min called on empty list")
    return min(items)


def _greatest(items: list[Any]) -> Any:
    if not items:
        raise ValueError("max called on empty list")
    return max(items)


def _index_of(items: list[Any], value: Any) -> int:
    return next((i for i, item in enumerate(items) if _same(item, value)), -1)


def _last_index_of(items: list[Any], value: Any) -> int:
    return next(
        (i for i in range(len(items) - 1, -1, -1) if _same(items[i], value)), -1
    )


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _contains(items: list[Any], values: list[Any]) -> bool:
    return all(_index_of(items, item) >= 0 for item in values)


def _equivalent(one: list[Any], other: list[Any]) -> bool:
    return _contains(one, other) and _contains(other, one)


def _intersects(one: list[Any], other: list[Any]) -> bool:
    return any(_index_of(one, item) >= 0 for item in other)


def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    where = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise ValueError(f"{where}, negative indexes not supported")
    if start > end:
        why = "start index must be less than or equal to end index"
        raise ValueError(f"{where}, {why}")
    if len(items) < end:
        raise ValueError(f"{where}, list is length {len(items)}")
    return list(items)[start:end]


def _flatten(items: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise ValueError("level must be non-negative")
    if depth == 0:
        return list(items)
    flat: list[Any] = []
    for item in items:
        flat += _flatten(item, depth - 1) if isinstance(item, list) else [item]
    return flat


def _sort(items: list[Any]) -> list[Any]:
    items = list(items)
    if items and isinstance(items[0], list | dict | None):
        raise ValueError("list elements must be comparable")
    if any(type(item) is not type(items[0]) for item in items):
        raise ValueError("list elements must have the same type")
    return sorted(items)


def _range(count: int) -> list[int]:
    charge_text(max(0, count) * 100)  # an element costs what a hundred letters do
    return list(range(count))


def _distinct(items: list[Any]) -> list[Any]:
    seen: list[Any] = []
    for item in items:
        if _index_of(seen, item) < 0:
            seen.append(item)
    return seen


def _reversed(items: list[Any]) -> list[Any]:
    return list(items)[::-1]


def functions() -> list[Any]:
    """Declarations."""
    anything = T.List(T.DYN)
    declarations = [
        function("isSorted", _is_sorted, (T.BOOL, (anything,))),
        function("sum", _sum, (T.DYN, (anything,))),
        function("min", _least, (T.DYN, (anything,))),
        function("max", _greatest, (T.DYN, (anything,))),
        function("slice", _slice, (anything, (anything, T.INT, T.INT))),
        function("sort", _sort, *((T.List(k), (T.List(k),)) for k in comparable())),
        function("reverse", _reversed, (anything, (anything,))),
        function("distinct", _distinct, (anything, (anything,))),
        function("lists.range", _range, (T.List(T.INT), (T.INT,)), member=False),
        declared(
            "flatten",
            [
                (_flatten, [(anything, (anything,))]),
                (_flatten, [(anything, (anything, T.INT))]),
            ],
        ),
    ]
    sets = (
        ("contains", _contains),
        ("equivalent", _equivalent),
        ("intersects", _intersects),
    )
    declarations += [
        function(f"sets.{name}", test, (T.BOOL, (anything, anything)), member=False)
        for name, test in sets
    ]
    of_strings = positions()
    for name, implementation in (
        ("indexOf", _index_of),
        ("lastIndexOf", _last_index_of),
    ):
        of_lists = [
            (implementation, [(T.INT, (anything, kind))]) for kind in any_value()
        ]
        declarations.append(declared(name, [*of_strings[name], *of_lists]))
    return declarations
