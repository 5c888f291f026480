"""Values as the rules of a schema see them: times and spans of time instead of texts,
bytes instead of base64.

A text may be of its format and yet be none of these: the format takes more than Go's
parsers do. Then every rule that looks at it fails with their words.

Upstream: `apiserver/pkg/cel/common/values.go` (`UnstructuredToVal`), v1.36. Left out:
the zone of a time, which cel-go keeps and prints, and the library here has no room for;
the year 0, which it does not know. What is inside of the value that a rule is about
stays a text where it cannot be read; cel-go fails only rules that look at it.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from lifecycle.api.http.wire import Object
from lifecycle.api.late_import import late_import
from lifecycle.apiserver.apiextensions.times import (
    parse_date_time,
    parse_span,
    seconds_until,
)
from lifecycle.apiserver.cel.escaping import RESERVED, escaped

if TYPE_CHECKING:
    from google.protobuf import duration_pb2, timestamp_pb2
else:
    duration_pb2 = late_import("google.protobuf.duration_pb2")
    timestamp_pb2 = late_import("google.protobuf.timestamp_pb2")


class FormatError(ValueError):
    """A text cannot be read as its format says; a rule fails with the message."""


def cel_value(value: Any, schema: Object | None, *, is_resource: bool = False) -> Any:
    """A value as rules see it: dates are times, names that CEL could not write are
    escaped, unknown fields are not there. Raises FormatError for a text that is not
    what it should be; what is inside of the value stays a text then.
    """
    schema = schema or {}
    if isinstance(value, str):
        return _read(value, schema.get("format"))
    if isinstance(value, list):
        return [_inside(item, schema.get("items")) for item in value]
    if not isinstance(value, dict):
        return value
    properties, additional = (
        schema.get("properties"),
        schema.get("additionalProperties"),
    )
    if properties is None and not is_resource:
        inner = additional if isinstance(additional, dict) else None
        return {key: _inside(item, inner) for key, item in value.items()}
    seen: dict[str, Any] = {}
    for key, item in value.items():
        if is_resource and key == "metadata":
            seen[key] = {
                name: item[name] for name in ("name", "generateName") if name in item
            }
        elif is_resource and key in ("apiVersion", "kind"):
            seen[key] = item
        elif key in (properties or {}):
            child = (properties or {})[key]
            seen[escaped(key)] = _inside(
                item,
                child,
                is_resource=bool(child.get("x-kubernetes-embedded-resource")),
            )
            if key in RESERVED:  # rules may also say `self.namespace`
                seen[key] = seen[escaped(key)]
    return seen


def _inside(value: Any, schema: Object | None, *, is_resource: bool = False) -> Any:
    try:
        return cel_value(value, schema, is_resource=is_resource)
    except FormatError:
        return value


def _read(value: str, form: str | None) -> Any:
    try:
        if form == "date":
            return timestamp_pb2.Timestamp(seconds=seconds_until(value))
        if form == "date-time":
            seconds, nanos = parse_date_time(value)
            return timestamp_pb2.Timestamp(seconds=seconds, nanos=nanos)
        if form == "byte":
            return _bytes(value)
        if form == "duration":
            seconds, nanos = divmod(abs(span := parse_span(value)), 10**9)
            sign = -1 if span < 0 else 1
            return duration_pb2.Duration(seconds=sign * seconds, nanos=sign * nanos)
    except ValueError as error:
        raise FormatError(f"Invalid {form} formatted string {value}: {error}") from None
    return value


def _bytes(value: str) -> bytearray:
    """The format has the letters of the usual base64, the reader those for URLs. An
    array, since the library ends what is `bytes` at the first zero.
    """
    unknown = [place for place, char in enumerate(value) if char in "+/"]
    if unknown:
        raise ValueError(f"illegal base64 data at input byte {unknown[0]}")
    return bytearray(base64.b64decode(value))
