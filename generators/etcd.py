"""`etcd/{fields,enums}.tsv`: the messages of etcd's calls that a store makes.

From etcd's `rpc.proto` and `kv.proto`, as Kubernetes vendors them: what `CALLS` ask and
answer, and every message and enum in those. Names are without their package.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from generators.proto_source import read_proto
from generators.proto_tables import ENUMS, FIELDS, enum_rows, field_rows, table

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
    messages = {
        name: [replace(field, type=_bare(field.type)) for field in fields]
        for file in files
        for name, fields in file.messages.items()
    }
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
        if name not in needed and (name in messages or name in enums):
            needed.add(name)
            for field in messages.get(name, ()):
                wanted += [field.type, f"{name}.{field.type}"]
    fields = field_rows({name: messages[name] for name in needed & messages.keys()})
    values = enum_rows({name: enums[name] for name in needed & enums.keys()})
    source = f"etcd's rpc.proto and kv.proto, vendored by Kubernetes {version},"
    return {
        "fields.tsv": table(
            "The messages of etcd's calls", source, "etcd", FIELDS, fields
        ),
        "enums.tsv": table("The enums of etcd's calls", source, "etcd", ENUMS, values),
    }


def _bare(name: str) -> str:
    return name.removeprefix("mvccpb.")
