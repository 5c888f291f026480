"""`cri/{fields,enums,methods}.tsv`: the container runtime interface as tables.

From `staging/src/k8s.io/cri-api/pkg/apis/runtime/v1/api.proto`, whole: every message of
`runtime.v1` with its fields' numbers, names, types and labels, the values of its enums,
and the calls of its two services, which stand as in the file.
"""

from __future__ import annotations

from pathlib import Path

from generators.proto_source import read_proto
from generators.proto_tables import (
    ENUMS,
    FIELDS,
    Row,
    enum_rows,
    field_rows,
    table,
)

SOURCE = "staging/src/k8s.io/cri-api/pkg/apis/runtime/v1/api.proto"


def generate(kubernetes: Path, version: str) -> dict[str, bytes]:
    """The three tables by file name. Raises FileNotFoundError for a folder that is no
    checkout of kubernetes/kubernetes.
    """
    declared = read_proto(kubernetes / SOURCE)
    methods: list[Row] = [
        (call.service, call.name, call.request, call.response,
         "stream" if call.streams else "one")
        for call in declared.methods
    ]  # fmt: skip
    source = f"cri-api's api.proto of Kubernetes {version}"
    tables: dict[str, tuple[str, str, list[Row]]] = {
        "fields.tsv": ("messages", FIELDS, field_rows(declared.messages)),
        "enums.tsv": ("enums", ENUMS, enum_rows(declared.enums)),
        "methods.tsv": ("calls", "service method request response answers", methods),
    }
    return {
        name: table(f"The {what} of CRI", source, "cri", columns, rows)
        for name, (what, columns, rows) in tables.items()
    }
