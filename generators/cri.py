"""`cri/{fields,enums,methods}.tsv`: the container runtime interface as tables.

From `staging/src/k8s.io/cri-api/pkg/apis/runtime/v1/api.proto`, whole: every message of
`runtime.v1` with its fields' numbers, names, types and labels (`one`, `list`, `map`;
`empty` for a message without fields), the values of its enums, and the calls of its two
services. Messages and enums are sorted by name, calls stand as in the file.
"""

from __future__ import annotations

from pathlib import Path

from generators.first_line import first_line
from generators.proto_source import read_proto

SOURCE = "staging/src/k8s.io/cri-api/pkg/apis/runtime/v1/api.proto"


def generate(kubernetes: Path, version: str) -> dict[str, bytes]:
    """The three tables by file name. Raises FileNotFoundError for a folder that is no
    checkout of kubernetes/kubernetes.
    """
    declared = read_proto(kubernetes / SOURCE)
    fields = []
    for message, rows in sorted(declared.messages.items()):
        for row in sorted(rows, key=lambda row: row.number):
            fields.append((message, row.number, row.name, row.type, row.label))
        if not rows:
            fields.append((message, 0, "-", "-", "empty"))
    enums = [
        (enum, number, name)
        for enum, values in sorted(declared.enums.items())
        for name, number in values
    ]
    methods = [
        (call.service, call.name, call.request, call.response,
         "stream" if call.streams else "one")
        for call in declared.methods
    ]  # fmt: skip
    tables: dict[str, tuple[str, str, list[tuple[object, ...]]]] = {
        "fields.tsv": ("messages of CRI", "message number name type label", [*fields]),
        "enums.tsv": ("enums of CRI", "enum number name", [*enums]),
        "methods.tsv": (
            "calls of CRI", "service method request response answers", [*methods]
        ),
    }  # fmt: skip
    return {
        name: _table(what, columns, rows, version)
        for name, (what, columns, rows) in tables.items()
    }


def _table(
    what: str, columns: str, rows: list[tuple[object, ...]], version: str
) -> bytes:
    lines = [columns.split(), *rows]
    body = "".join("\t".join(map(str, line)) + "\n" for line in lines)
    source = f"cri-api's api.proto of Kubernetes {version}"
    return (first_line(f"The {what}", source, "cri") + body).encode()
