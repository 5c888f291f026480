"""Tables of what a `.proto` file declares, as rooms of `src` read them.

A message is a row for each of its fields, in the order of their numbers, with a label:
`one`, `list` or `map`; a message without fields is a row that is labelled `empty`. An
enum is a row for each of its values, in the order of the file. Messages and enums are
sorted by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from generators.first_line import first_line
from generators.proto_source import ProtoField

Row = tuple[object, ...]

FIELDS = "message number name type label"
ENUMS = "enum number name"


def field_rows(messages: Mapping[str, Iterable[ProtoField]]) -> list[Row]:
    """For a table of `FIELDS`."""
    rows: list[Row] = []
    for message, fields in sorted(messages.items()):
        own = [
            (message, field.number, field.name, field.type, field.label)
            for field in sorted(fields, key=lambda field: field.number)
        ]
        rows += own or [(message, 0, "-", "-", "empty")]
    return rows


def enum_rows(enums: Mapping[str, Iterable[tuple[str, int]]]) -> list[Row]:
    """For a table of `ENUMS`."""
    return [
        (enum, number, name)
        for enum, values in sorted(enums.items())
        for name, number in values
    ]


def table(
    what: str, source: str, command: str, columns: str, rows: Iterable[Row]
) -> bytes:
    """The file: what it is and from what it was made, its columns' names, its rows."""
    lines = [columns.split(), *rows]
    body = "".join("\t".join(map(str, line)) + "\n" for line in lines)
    return (first_line(what, source, command) + body).encode()
