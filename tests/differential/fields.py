"""Every field of every kind, one odd value at a time: what random cases meet once in a year.

A new object with the value, a stored one patched to it, and its status. All are dry runs, so that one object serves for many.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any

from tests.differential.case import Case, Step
from tests.differential.objects import Objects
from tests.differential.published import Kind, Published, Schema
from tests.differential.scenes import EVERYBODYS, MERGE

ODD: dict[str, tuple[Any, ...]] = {
    "string": ("<&>",),
    "integer": (-1,),
    "number": (-1,),
    "array": ([],),
    "object": ({},),
}
"""JSON that is printed in two ways, a number that is too small, and nothing that is something."""
AT_ONCE = 25
DEEPEST = 6
_SKIPPED = {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"), ("metadata", "managedFields")}
_Path = tuple[Any, ...]


class Fields:
    """Cases for all fields of the kinds that match."""

    def __init__(self, published: Published, kinds: str = "") -> None:
        self._published = published
        self._kinds = re.compile(kinds)
        self._objects = Objects(published, Random(1))

    def cases(self) -> Iterator[Case]:
        """Some fields in each; the last are those of a status."""
        for kind in self._published.kinds:
            if self._kinds.search(f"{kind.api_version}/{kind.kind}"):
                yield from self._of(kind)

    def _of(self, kind: Kind) -> Iterator[Case]:
        plain = self._objects.plain(kind)
        one = f"{kind.collection}/{plain['metadata']['name']}"
        made = Step("POST", kind.collection, plain)
        fields = list(self._fields(self._published.schemas[kind.schema]))
        spec = [field for field in fields if field[0][0] != "status"]
        creates = [Step("POST", f"{kind.collection}?dryRun=All", changed(plain, *field)) for field in spec]
        for steps in _batches(creates):
            yield Case(steps)
        if "get" not in kind.verbs or kind.kind in EVERYBODYS:
            return
        patches = [Step("PATCH", f"{one}?dryRun=All", changed({}, *field), MERGE) for field in spec]
        if any(name == "status" for name, _, _ in kind.subresources):
            status = [field for field in fields if field[0][0] == "status"]
            patches += [Step("PATCH", f"{one}/status?dryRun=All", changed({}, *field), MERGE) for field in status]
        for steps in _batches(patches):
            yield Case((made, *steps))

    def _fields(self, schema: Schema, path: _Path = (), above: tuple[str, ...] = ()) -> Iterator[tuple[_Path, Any]]:
        name, shape = self._published.resolve(schema)
        if len(path) > DEEPEST or path in _SKIPPED or (name and name in above):
            return
        type_ = shape.get("type") or ("object" if "properties" in shape else "string")
        if path and shape.get("format") not in ("date-time", "micro-time", "byte"):
            yield from ((path, value) for value in ODD.get(type_, ()))
        below = (*above, name)
        for key, part in shape.get("properties", {}).items():
            yield from self._fields(part, (*path, key), below)
        if type_ == "array":
            yield from self._fields(shape.get("items", {}), (*path, 0), below)
        elif isinstance(shape.get("additionalProperties"), dict):
            yield from self._fields(shape["additionalProperties"], (*path, "a"), below)


def _batches(steps: list[Step]) -> Iterator[tuple[Step, ...]]:
    for start in range(0, len(steps), AT_ONCE):
        yield tuple(steps[start : start + AT_ONCE])


def changed(obj: dict[str, Any], path: _Path, value: Any) -> dict[str, Any]:
    """A copy with the value at the path; what is missing on the way is made."""
    found = copy.deepcopy(obj)
    place: Any = found
    for key, inner in pairwise(path):
        empty: Any = [] if inner == 0 else {}
        if isinstance(place, list) and not place:
            place.append(empty)
        elif isinstance(place, dict) and not isinstance(place.get(key), type(empty)):
            place[key] = empty
        place = place[key]
    if isinstance(place, list):
        place[:1] = [copy.deepcopy(value)]
    else:
        place[path[-1]] = copy.deepcopy(value)
    return found
