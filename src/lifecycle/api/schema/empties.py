"""Empty lists and maps that the normal form leaves out.

A field that is `omitempty` vanishes when it is printed empty, and does not come back
from the store. While a request is worked on, Go still tells `[]` from nothing: it
prints the one as `[]`, the other as `null`, where it refuses a value, and a list that
is one value differs if something in it went from nothing to empty. So decoding notes
what it left out, and those few places put it back for a moment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

Empty = tuple[dict[str, Any], str, Any]
"""The struct, the field, and what was there."""


def is_empty(value: Any) -> bool:
    """Whether there is nothing in a value but empty lists and maps."""
    if isinstance(value, dict):
        return all(map(is_empty, value.values()))
    return bool(value == [])


class Unprinted(tuple[dict[str, Any], str, Any]):
    """One that is not printed either: what `metav1` declares keeps its tags."""

    __slots__ = ()


class Strict(list[str]):
    """What strict reading objects to. `empties`: what was left out beside that."""

    empties: Collection[Empty] = ()


@contextmanager
def restored(empties: Collection[Empty]) -> Iterator[None]:
    """Put back what was left out, and take it out again behind."""
    put = []
    for empty in empties:
        holder, key, value = empty
        if holder.get(key) is None and not isinstance(empty, Unprinted):
            put.append((holder, key, key in holder))
            holder[key] = value
    try:
        yield
    finally:
        for holder, key, was_null in put:
            if was_null:
                holder[key] = None
            else:
                holder.pop(key, None)


def kept(obj: dict[str, Any], strict: list[str], *paths: str) -> None:
    """Put back for good what was left out at these dotted paths. For rules that tell an
    empty value from none before anything is validated: defaults, admission.
    """
    if not isinstance(strict, Strict) or not strict.empties:
        return
    for path in paths:
        *above, last = path.split(".")
        holder: Any = obj
        for key in above:
            holder = None if holder is None else holder.get(key)
        for empty in strict.empties:
            if empty[0] is holder and empty[1] == last:
                holder[last] = empty[2]


def moved(
    empties: Collection[Empty], *copies: tuple[dict[str, Any], dict[str, Any]]
) -> list[Empty]:
    """The same of copies of the structs they were in: (struct, copy)."""
    homes = {id(old): new for old, new in copies}
    found: list[Empty] = []
    for empty in empties:
        here = (homes.get(id(empty[0]), empty[0]), empty[1], empty[2])
        found.append(Unprinted(here) if isinstance(empty, Unprinted) else here)
    return found


def moved_along(
    empties: Collection[Empty], before: dict[str, Any], obj: dict[str, Any]
) -> list[Empty]:
    """The same of an object some of whose parts (`spec` …) are copies by now: who
    changes a part copies it first.
    """
    return moved(
        empties,
        *(
            (part, obj[key])
            for key, part in before.items()
            if isinstance(part, dict) and isinstance(obj.get(key), dict)
        ),
    )


def within(value: Any, empties: Collection[Empty]) -> list[Empty]:
    """Those of the empties that were left out somewhere in a value, and still are."""
    if not empties:
        return []
    by_holder: dict[int, list[Empty]] = {}
    for empty in empties:
        if empty[0].get(empty[1]) is not None:
            continue
        by_holder.setdefault(id(empty[0]), []).append(empty)
    found: list[Empty] = []
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            found += by_holder.get(id(part), ())
            pending += part.values()
        elif isinstance(part, list):
            pending += part
    return found
