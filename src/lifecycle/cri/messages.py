"""CRI's wire format: protobuf messages made at run time from tables of names and
numbers.

A message is a list of (number, name, type, label) facts; `fields.tsv` holds them for
every message of `runtime.v1`, `enums.tsv` the values of its enums, `methods.tsv` the
calls of its two services. From these, descriptors are built when they are first needed;
no generated code is involved. `fill` writes plain dicts into a message, `fields_of`
reads them back: field names as in the table, enums by name, unset and zero fields left
out.

Upstream: `cri-api/pkg/apis/runtime/v1/api.proto` v0.36.2. Map keys are always strings.
`KeyValue.value` is `bytes` since v1.36 and was `string` before: the same bytes on the
wire.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

from lifecycle.api.tables import table_lines

PACKAGE = "runtime.v1"

Field = descriptor_pb2.FieldDescriptorProto

_SCALARS = {
    "bool": Field.TYPE_BOOL,
    "bytes": Field.TYPE_BYTES,
    "double": Field.TYPE_DOUBLE,
    "int32": Field.TYPE_INT32,
    "int64": Field.TYPE_INT64,
    "string": Field.TYPE_STRING,
    "uint32": Field.TYPE_UINT32,
    "uint64": Field.TYPE_UINT64,
}


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


def _rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in table_lines(__package__, name)[1:]]


@cache
def methods() -> dict[str, Method]:
    """Every call, by its name: no name is used in both services."""
    return {row[1]: Method(*row) for row in _rows("methods.tsv")}


def _declare(file: Any, nested: dict[str, Any], name: str) -> Any:
    """The declaration of a message; a dotted name stands inside another message."""
    if name not in nested:
        outer, _, inner = name.rpartition(".")
        holder = (
            _declare(file, nested, outer).nested_type if outer else file.message_type
        )
        nested[name] = holder.add(name=inner or name)
    return nested[name]


def _add_field(
    declared: Any, enums: Mapping[str, str], full: str, row: list[str]
) -> None:
    _, number, name, kind, label = row
    target = declared
    if label == "map":  # on the wire: a list of messages with a key and a value
        entry = declared.nested_type.add(
            name="".join(part.capitalize() for part in name.split("_")) + "Entry"
        )
        entry.options.map_entry = True
        entry.field.add(
            name="key", number=1, type=Field.TYPE_STRING, label=Field.LABEL_OPTIONAL
        )
        declared.field.add(
            name=name,
            number=int(number),
            label=Field.LABEL_REPEATED,
            type=Field.TYPE_MESSAGE,
            type_name=f".{PACKAGE}.{full}.{entry.name}",
        )
        target, name, number = entry, "value", "2"
    field = target.field.add(name=name, number=int(number))
    field.label = Field.LABEL_REPEATED if label == "list" else Field.LABEL_OPTIONAL
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
        return
    scope = enums.get(f"{full}.{kind}") or enums.get(kind)
    field.type = Field.TYPE_ENUM if scope else Field.TYPE_MESSAGE
    field.type_name = f".{PACKAGE}.{scope or kind}"


@cache
def _classes() -> dict[str, type[Message]]:
    """Every message class of the package, by its name."""
    file = descriptor_pb2.FileDescriptorProto(
        name="runtime/v1/api.proto", package=PACKAGE, syntax="proto3"
    )
    nested: dict[str, Any] = {}
    rows = _rows("fields.tsv")
    for row in rows:
        _declare(file, nested, row[0])
    enums: dict[str, Any] = {}
    for name, number, value in _rows("enums.tsv"):
        outer, _, inner = name.rpartition(".")
        if name not in enums:
            holder = (
                _declare(file, nested, outer).enum_type if outer else file.enum_type
            )
            enums[name] = holder.add(name=inner or name)
        enums[name].value.add(name=value, number=int(number))
    for row in rows:
        if row[4] != "empty":
            _add_field(nested[row[0]], {name: name for name in enums}, row[0], row)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(
            pool.FindMessageTypeByName(f"{PACKAGE}.{name}")
        )
        for name in nested
    }


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
    if field.type == Field.TYPE_BYTES and isinstance(value, str):
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
