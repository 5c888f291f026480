"""`api/schema/types.tsv`: the structs of the API types as Go declares them.

From `types.go` and its like in `k8s.io/api`, `k8s.io/apimachinery` (meta/v1),
`k8s.io/apiextensions-apiserver` and `k8s.io/kube-aggregator`. A struct's name stands on
a line of its own, its fields follow, indented: Go name, JSON name, tags (`e` omitempty,
`z` omitzero, `i` inline, `-` none), Go type. Named types that are no structs come last,
with what they stand for.
"""

from __future__ import annotations

from pathlib import Path

from generators.first_line import first_line
from generators.go_source import PACKAGES, GoField, read_package

OWN_JSON = {
    "apiextensions/v1": {
        "JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool",
        "JSONSchemaPropsOrStringArray",
    },
    "meta/v1": {"Duration", "FieldsV1", "MicroTime", "Time"},
}  # fmt: skip
"""Structs that marshal themselves: their fields say nothing about their JSON."""

NOT_ASKED_FOR = {
    "apiextensions/v1": {"cborMajorType"},
    "core/v1": {"List"},  # an alias of meta/v1's
    "meta/v1": {
        "GroupKind", "GroupResource", "GroupVersion", "GroupVersionKind",
        "GroupVersionResource", "InternalEvent", "Patch", "PatchOptions", "Table",
        "TableColumnDefinition", "TableOptions", "TableRow", "TableRowCondition",
        "Timestamp", "WatchEvent",
    },
}  # fmt: skip
"""Types that are never decoded from a request's body by this table: what the server
only writes (tables, watch events), query parameters of their own, and Go's internals.
"""

WRITTEN_OUT = {
    "apiextensions/v1": {
        "FieldValueErrorReason": "string", "ValidationRules": "[]ValidationRule",
    },
}  # fmt: skip
"""Named types that the table replaces by what they stand for."""

TAGS = {"omitempty": "e", "omitzero": "z", "inline": "i"}


def generate(kubernetes: Path, version: str) -> bytes:
    """The table. Raises FileNotFoundError for a folder that is no checkout."""
    structs: list[tuple[str, str]] = []
    named: list[str] = []
    for package in PACKAGES:
        declared = read_package(kubernetes, package)
        written_out = WRITTEN_OUT.get(package, {})
        left_out = OWN_JSON.get(package, set()) | NOT_ASKED_FOR.get(package, set())
        left_out |= written_out.keys()
        for name, fields in declared.structs.items():
            if name not in left_out:
                full = f"{package}.{name}"
                rows = "".join(_row(field, written_out) for field in fields)
                structs.append((full, f"{full}\n{rows}"))
        for name, type_ in declared.named.items():
            if name not in left_out:
                named.append(f"{package}.{name} {type_}\n")
    body = "".join(block for _, block in sorted(structs)) + "".join(sorted(named))
    source = f"the Go types of Kubernetes {version}"
    line = first_line("The API's structs, as Go declares them", source, "types")
    return (line + body).encode()


def _row(field: GoField, written_out: dict[str, str]) -> str:
    tags = "".join(TAGS[option] for option in field.options if option in TAGS) or "-"
    base = field.type.lstrip("*")
    type_ = field.type.removesuffix(base) + written_out.get(base, base)
    return f"\t{field.name}\t{field.json or '-'}\t{tags}\t{type_}\n"
