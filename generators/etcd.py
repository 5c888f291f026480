"""`etcd/{fields,enums}.tsv`: the messages of etcd's calls that a store makes.

From etcd's `rpc.proto` and `kv.proto`, as Kubernetes vendors them: what `CALLS` ask and
answer, and every message and enum in those. Names are without their package.
"""

from __future__ import annotations

from pathlib import Path

from generators.first_line import first_line
from generators.proto_source import ProtoField, read_proto

API = "vendor/go.etcd.io/etcd/api/v3"
SOURCES = (f"{API}/etcdserverpb/rpc.proto", f"{API}/mvccpb/kv.proto")
CALLS = (
    "Range", "Txn", "Compact", "Watch", "LeaseGrant", "LeaseRevoke", "Status",
)  # fmt: skip


def generate(kubernetes: Path, version: str) -> dict[str, bytes]:
    """The tables by file name. Raises FileNotFoundError for a folder that is no
    checkout of kubernetes/kubernetes.
    """
    files = [read_proto(kubernetes / source) for source in SOURCES]
    messages = {name: rows for file in files for name, rows in file.messages.items()}
    enums = {name: values for file in files for name, values in file.enums.items()}
    wanted = [
        name
        for file in files
        for call in file.methods
        if call.name in CALLS
        for name in (call.request, call.response)
    ]
    needed: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name in messages and name not in needed:
            needed.add(name)
            wanted += [_type(row) for row in messages[name]]
            wanted += [f"{name}.{_type(row)}" for row in messages[name]]
    fields: list[tuple[object, ...]] = []
    for name in sorted(needed):
        for row in sorted(messages[name], key=lambda row: row.number):
            fields.append((name, row.number, row.name, _type(row), row.label))
        if not messages[name]:
            fields.append((name, 0, "-", "-", "empty"))
    used = {f"{row[0]}.{row[3]}" for row in fields} | {row[3] for row in fields}
    values: list[tuple[object, ...]] = [
        (name, number, value)
        for name, all_values in sorted(enums.items())
        if name in used
        for value, number in all_values
    ]
    columns = "message number name type label"
    return {
        "fields.tsv": _table("messages", columns, fields, version),
        "enums.tsv": _table("enums", "enum number name", values, version),
    }


def _type(row: ProtoField) -> str:
    return row.type.rpartition(".")[2] if row.type.startswith("mvccpb.") else row.type


def _table(
    what: str, columns: str, rows: list[tuple[object, ...]], version: str
) -> bytes:
    body = "".join(
        "\t".join(map(str, line)) + "\n" for line in [columns.split(), *rows]
    )
    source = f"etcd's rpc.proto and kv.proto, vendored by Kubernetes {version},"
    return (first_line(f"The {what} of etcd's calls", source, "etcd") + body).encode()
