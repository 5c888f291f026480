"""The parts of an object that a patch left alone.

A patch names a few fields of an object that is in normal form already. To read all of
it anew would let the smallest patch cost what the whole object costs: what a Node says
of its images is longer than the rest of it. So what is the very same part as before is
taken out, only the rest is read, and then it is put back: as a copy, since defaults and
admission change in place what they are given.

The metadata itself is always read, as there are readers who ask whether it has a uid;
its labels, annotations and managed fields are parts like any other.

Upstream: `apiserver/pkg/endpoints/handlers/patch.go` (`smpPatcher`), v1.36, which reads
everything anew and finds the same there.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from lifecycle.api.http.wire import Object
from lifecycle.api.schema.gotypes import is_struct, json_fields
from lifecycle.api.schema.struct_decoder import decodes_itself


class LeftAlone(NamedTuple):
    """Of a struct: its parts as they were, and the structs of which some parts were."""

    parts: dict[str, Any]
    inner: dict[str, LeftAlone]


@cache
def _fields(struct: str) -> dict[str, tuple[int, str]]:
    """Of each field by its JSON name: its place, and its type if that is a struct."""
    fields: dict[str, tuple[int, str]] = {}
    for place, field in enumerate(json_fields(struct)):
        type_ = field.type.removeprefix("*")
        has_parts = is_struct(type_) and not decodes_itself(type_)
        fields[field.json_name] = place, type_ if has_parts else ""
    return fields


def take_out(obj: Object, live: Object, struct: str) -> tuple[Object, LeftAlone]:
    """What is new or different in `obj`, and what it shares with `live`, which is in
    normal form. `struct`: the Go type of both.
    """
    changed: Object = {}
    left = LeftAlone({}, {})
    fields = _fields(struct)
    for key, value in obj.items():
        before: Any = live.get(key)
        kind = type(value)
        if key in fields and kind is type(before) and kind in (dict, list):
            inner = fields[key][1]
            if value is before and inner != "meta/v1.ObjectMeta":
                left.parts[key] = value
                continue
            if inner and kind is dict:
                value, left.inner[key] = take_out(value, before, inner)
        changed[key] = value
    return changed, left


def put_back(
    decoded: Object, left: LeftAlone, struct: str, untouchable: str = ""
) -> None:
    """Complete in place what decoding made of what was new or different.

    `untouchable`: a part that nobody may change on the way, so that it need not be a
    copy (a Node's status, where the Node is written). Neither need the managed fields:
    who books anew makes new entries.
    """
    fields = _fields(struct)
    for key, inner in left.inner.items():
        if inner.parts or inner.inner:
            put_back(decoded.setdefault(key, {}), inner, fields[key][1])
    if left.parts:
        parts = {
            key: part if key in (untouchable, "managedFields") else _copy(part)
            for key, part in left.parts.items()
        }
        whole = {**decoded, **parts}
        decoded.clear()
        decoded.update(sorted(whole.items(), key=lambda pair: fields[pair[0]][0]))


def _copy(value: Any) -> Any:
    """Of the containers; what is in them in the end nobody can change."""
    if type(value) is dict:
        return {
            key: _copy(item) if type(item) in (dict, list) else item
            for key, item in value.items()
        }
    return [_copy(item) if type(item) in (dict, list) else item for item in value]
