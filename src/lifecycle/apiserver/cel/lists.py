"""Lists: sorted or not, their sum, least and greatest, where something is in them; and
lists as sets.

Upstream: `apiserver/pkg/cel/library/lists.go`, v1.36. Left out: the exact type of
`sum`, `min` and `max`; to the compiler they may be anything.
"""

from __future__ import annotations

import datetime
import itertools
from typing import Any

from lifecycle.apiserver.cel.declare import T, any_value, declared, function
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


def functions() -> list[Any]:
    """Declarations."""
    anything = T.List(T.DYN)
    declarations = [
        function("isSorted", _is_sorted, (T.BOOL, (anything,))),
        function("sum", _sum, (T.DYN, (anything,))),
        function("min", _least, (T.DYN, (anything,))),
        function("max", _greatest, (T.DYN, (anything,))),
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
