"""The one table: which message has which fields, and how Go and JSON each treat their
absence.

Protobuf itself would call every field optional. What is really written follows from the
Go types: a plain value is always written, even when empty (`wire` = `always`), a
pointer, slice or map only when there is something to write (`set`). And what JSON shows
follows from the Go tags: `omitempty` drops zeros and nils (but never a struct),
`omitzero` drops empty structs too, `keep` shows `null`, `""`, `0` or `{}`.

Upstream: `generated.proto` (names and numbers), `types.go` (pointers and tags) of
`k8s.io/api`, `k8s.io/apimachinery`, `k8s.io/apiextensions-apiserver` and
`k8s.io/kube-aggregator`, v0.36.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lifecycle.api.bounded_cache import short_pair_cache
from lifecycle.api.tables import table_lines

INLINE = "*"
"""In place of a JSON name: the fields of the nested message stand in JSON beside their
parent's.
"""

_META_KINDS = frozenset(
    {"Status", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions",
    "GetOptions", "ListOptions", "WatchEvent"}
)  # fmt: skip
"""Kinds of `meta/v1` that every group and version knows."""

_META_OF_CORE = frozenset(
    {"APIVersions", "APIGroup", "APIGroupList", "APIResourceList"}
)


@dataclass(slots=True, frozen=True)
class Field:
    """One row of the table.

    `type` is a protobuf scalar, a message of the table (`core/v1.Container`) or one of
    the types with a JSON form of their own (`Time`, `Quantity`, …). `label` is `one`,
    `list` or `map` (keys are strings, `type` is the values').
    """

    number: int
    name: str
    type: str
    label: str
    always: bool
    omit: str


@cache
def messages() -> dict[str, tuple[Field, ...]]:
    """Every message and its fields in ascending order of their numbers, as they are
    written.
    """
    table: dict[str, list[Field]] = {}
    for line in table_lines(__package__, "fields.tsv")[1:]:
        message, number, name, type, label, wire, omit = line.split("\t")
        fields = table.setdefault(message, [])
        if name:  # a message without fields has one empty row
            fields.append(Field(int(number), name, type, label, wire == "always", omit))
    return {message: tuple(fields) for message, fields in table.items()}


@short_pair_cache(1024)
def message_for(api_version: str, kind: str) -> str | None:
    """The message of a kind, e.g. `rbac/v1.Role`; None where protobuf cannot say it."""
    group, _, version = api_version.rpartition("/")
    message = f"{group.partition('.')[0] or 'core'}/{version}.{kind}"
    if message in messages():
        return message
    if (api_version, kind) == (
        "meta.k8s.io/v1beta1",
        "PartialObjectMetadata",
    ):  # the same fields
        return f"meta/v1.{kind}"
    if kind in _META_KINDS or (kind in _META_OF_CORE and api_version == "v1"):
        return f"meta/v1.{kind}"
    return None


def is_supported(api_version: str, kind: str) -> bool:
    """Whether objects of a kind (or lists: `PodList`) have a protobuf form."""
    return message_for(api_version, kind) is not None
