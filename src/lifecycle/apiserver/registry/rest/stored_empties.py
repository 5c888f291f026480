"""Empty lists that do not survive the store.

Most kinds are stored as protobuf, which knows no difference between a list that is
empty and one that is not there. So a Role created with `rules: []` comes back with
`rules: null`: the field is not `omitempty`, and there is nothing in it. Definitions of
custom resources and API services are stored as JSON and keep what was said.

Upstream: `apimachinery/pkg/runtime/serializer/protobuf`,
`apiserver/pkg/storage/etcd3/store.go` (what a write answers with is decoded from what
was written), v1.36.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from lifecycle.api.http.wire import Object
from lifecycle.api.schema.empties import Empty
from lifecycle.api.schema.gotypes import (
    alias_of,
    is_struct,
    json_fields,
    split_type,
    struct_for,
)

_STORED_AS_JSON = ("apiextensions/", "apiregistration/")


class _Plan(NamedTuple):
    """What to look at in a struct: fields to empty, and fields that lead to structs
    with such fields.
    """

    empties: tuple[str, ...]
    inner: tuple[tuple[str, str], ...]


@cache
def _plan(struct: str) -> _Plan:
    empties: list[str] = []
    inner: list[tuple[str, str]] = []
    for field in json_fields(struct):
        prefix, base = split_type(field.type)
        while (alias := alias_of(base)) is not None:
            more, base = split_type(alias)
            prefix += more
        collection = "[]" in prefix or "map[" in prefix
        if (
            collection
            and base != "byte"
            and not field.omit_empty
            and not prefix.startswith("*")
        ):
            empties.append(field.json_name)
        if (
            is_struct(base)
            and "map[" not in prefix
            and not base.startswith("meta/v1.")
            and any(_plan(base))
        ):
            inner.append((field.json_name, base))
    return _Plan(tuple(empties), tuple(inner))


def forget_empty_lists(obj: Object) -> list[Empty]:
    """What reading an object back from the store does to its empty lists. In place;
    what they were.
    """
    forgotten: list[Empty] = []
    struct = struct_for(obj.get("apiVersion", ""), obj.get("kind", ""))
    if struct is not None and not struct.startswith(_STORED_AS_JSON):
        _forget(obj, struct, forgotten)
    return forgotten


def _forget(value: Any, struct: str, forgotten: list[Empty]) -> None:
    plan = _plan(struct)
    for name in plan.empties:
        item = value.get(name)
        if item is not None and not item:
            value[name] = None
            forgotten.append((value, name, item))
    for name, inner in plan.inner:
        item = value.get(name)
        if not item:
            continue
        for one in item if isinstance(item, list) else (item,):
            _forget(one, inner, forgotten)
