"""Message classes made at run time from tables of names and numbers.

Beside the modules of a room, `fields.tsv` says (message, number, name, type, label) of
each field, `enums.tsv` (enum, number, name) of each value. From these, descriptors are
built when they are first needed; no generated code is involved. `generators/` makes the
tables from `.proto` files.

Upstream: what `protoc` would generate. Map keys are always strings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lifecycle.api.late_import import late_import
from lifecycle.api.tables import table_lines

if TYPE_CHECKING:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from google.protobuf.message import Message
else:
    descriptor_pb2 = late_import("google.protobuf.descriptor_pb2")
    descriptor_pool = late_import("google.protobuf.descriptor_pool")
    message_factory = late_import("google.protobuf.message_factory")

SCALARS = {"bool", "bytes", "double", "int32", "int64", "string", "uint32", "uint64"}

Row = Sequence[str]


def table_rows(room: str, name: str) -> list[Row]:
    """The rows of such a table, without the names of its columns. Raises
    FileNotFoundError.
    """
    return [line.split("\t") for line in table_lines(room, name)[1:]]


def declared_messages(package: str, room: str) -> dict[str, type[Message]]:
    """Every message class of a protobuf package, by its name; a dotted name stands
    inside another message. `room`: the Python package that has the tables.
    """
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{package.replace('.', '/')}.proto", package=package, syntax="proto3"
    )
    messages: dict[str, Any] = {}
    rows = table_rows(room, "fields.tsv")
    for row in rows:
        _declare(file, messages, row[0])
    known: dict[str, Any] = {}
    for name, number, value in table_rows(room, "enums.tsv"):
        outer, _, inner = name.rpartition(".")
        if name not in known:
            holder = _declare(file, messages, outer) if outer else file
            known[name] = holder.enum_type.add(name=inner or name)
        known[name].value.add(name=value, number=int(number))
    for row in rows:
        if row[4] != "empty":
            _add_field(package, messages[row[0]], known, row)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(
            pool.FindMessageTypeByName(f"{package}.{name}")
        )
        for name in messages
    }


def _declare(file: Any, messages: dict[str, Any], name: str) -> Any:
    if name not in messages:
        outer, _, inner = name.rpartition(".")
        holder = (
            _declare(file, messages, outer).nested_type if outer else file.message_type
        )
        messages[name] = holder.add(name=inner or name)
    return messages[name]


def _add_field(package: str, declared: Any, enums: Mapping[str, Any], row: Row) -> None:
    field = descriptor_pb2.FieldDescriptorProto
    full, number, name, kind, label = row
    target = declared
    if label == "map":  # on the wire: a list of messages with a key and a value
        entry = declared.nested_type.add(
            name="".join(part.capitalize() for part in name.split("_")) + "Entry"
        )
        entry.options.map_entry = True
        entry.field.add(
            name="key", number=1, type=field.TYPE_STRING, label=field.LABEL_OPTIONAL
        )
        declared.field.add(
            name=name,
            number=int(number),
            label=field.LABEL_REPEATED,
            type=field.TYPE_MESSAGE,
            type_name=f".{package}.{full}.{entry.name}",
        )
        target, name, number = entry, "value", "2"
    added = target.field.add(name=name, number=int(number))
    added.label = field.LABEL_REPEATED if label == "list" else field.LABEL_OPTIONAL
    if kind in SCALARS:
        added.type = getattr(field, f"TYPE_{kind.upper()}")
        return
    inside = f"{full}.{kind}"
    scope = inside if inside in enums else kind
    added.type = field.TYPE_ENUM if scope in enums else field.TYPE_MESSAGE
    added.type_name = f".{package}.{scope}"
