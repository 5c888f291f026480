"""CRI's wire format: protobuf messages made at run time from tables of names and
numbers.

`fields.tsv` holds every message of `runtime.v1`, `enums.tsv` the values of its enums,
`methods.tsv` the calls of its two services. `fill` writes plain dicts into a message,
`fields_of` reads them back: field names as in the table, enums by name, unset and zero
fields left out.

Upstream: `cri-api/pkg/apis/runtime/v1/api.proto` v0.36.2. `KeyValue.value` is
`bytes` since v1.36 and was `string` before: the same bytes on the wire.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from google.protobuf.message import Message

from lifecycle.api.protobuf.declared import declared_messages, table_rows

PACKAGE = "runtime.v1"


@dataclass(slots=True, frozen=True)
class Method:
    """One call: names of its messages; `answers` is `one` or `stream`."""

    service: str
    name: str
    request: str
    response: str
    answers: str

    @property
    def path(self) -> str:
        """What stands in the HTTP/2 request."""
        return f"/{PACKAGE}.{self.service}/{self.name}"


@cache
def methods() -> dict[str, Method]:
    """Every call, by its name: no name is used in both services."""
    return {row[1]: Method(*row) for row in table_rows(__package__, "methods.tsv")}


@cache
def _classes() -> dict[str, type[Message]]:
    """Every message class of the package, by its name."""
    return declared_messages(PACKAGE, __package__)


def message_class(name: str) -> type[Message]:
    """The class of a message such as `PodSandboxConfig`. Raises KeyError."""
    return _classes()[name]


def new(name: str, fields: Mapping[str, Any] | None = None) -> Message:
    """A message with these fields."""
    message = message_class(name)()
    if fields:
        fill(message, fields)
    return message


def fill(message: Any, fields: Mapping[str, Any]) -> None:
    """Write a dict into a message. Raises ValueError for a field, or an enum's name,
    that the message does not know.
    """
    for name, value in fields.items():
        field = message.DESCRIPTOR.fields_by_name.get(name)
        if field is None:
            raise ValueError(f"{message.DESCRIPTOR.name} has no field {name!r}")
        if value is None:
            continue
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            target = getattr(message, name)
            for key, item in value.items():
                if field.message_type.fields_by_name["value"].message_type is not None:
                    fill(target[key], item)
                else:
                    target[key] = item
        elif field.is_repeated:
            for item in value:
                if field.message_type is not None:
                    fill(getattr(message, name).add(), item)
                else:
                    getattr(message, name).append(_scalar(field, item))
        elif field.message_type is not None:
            getattr(
                message, name
            ).SetInParent()  # an empty message is there, and that says something
            fill(getattr(message, name), value)
        else:
            setattr(message, name, _scalar(field, value))


def _scalar(field: Any, value: Any) -> Any:
    if field.enum_type is not None and isinstance(value, str):
        known = field.enum_type.values_by_name.get(value)
        if known is None:
            raise ValueError(f"{field.enum_type.name} has no value {value!r}")
        return known.number
    if field.type == field.TYPE_BYTES and isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    return value


def fields_of(message: Any) -> dict[str, Any]:
    """What a message says, as plain dicts. Enums by name (by number if unknown); bytes
    stay bytes.
    """
    fields: dict[str, Any] = {}
    for field, value in message.ListFields():
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            nested = field.message_type.fields_by_name["value"].message_type is not None
            fields[field.name] = {
                key: fields_of(item) if nested else item for key, item in value.items()
            }
        elif field.is_repeated:
            fields[field.name] = [_plain(field, item) for item in value]
        else:
            fields[field.name] = _plain(field, value)
    return fields


def _plain(field: Any, value: Any) -> Any:
    if field.message_type is not None:
        return fields_of(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known else value
    return value
