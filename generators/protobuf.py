"""`api/protobuf/fields.tsv`: which message has which fields, and how Go and JSON each
treat their absence.

Numbers and types come from the packages' `generated.proto`; the JSON name, whether Go
always writes the field (a plain value) or only when set (a pointer, slice or map) and
what its JSON tag leaves out come from the Go structs; the two are matched by the number
in the Go tag. A message without fields has one row with empty columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from generators.first_line import first_line
from generators.go_source import (
    PACKAGES,
    GoField,
    GoPackage,
    package_folder,
    read_package,
)
from generators.proto_source import ProtoField, read_proto

COLUMNS = "message number json type label wire omit"

PROTO_PACKAGES = {
    f"k8s.io.{folder}".replace("/", ".").replace("-", "_"): package
    for package, folder in PACKAGES.items()
}
"""By the names they have in `.proto` files."""

OWN_FORMS = {
    "Quantity": "Quantity",
    "IntOrString": "IntOrString",
    "RawExtension": "RawExtension",
    "meta/v1.Time": "Time",
    "meta/v1.MicroTime": "MicroTime",
    "meta/v1.FieldsV1": "FieldsV1",
    "meta/v1.Verbs": "Strings",
    "authentication/v1.ExtraValue": "Strings",
    "authorization/v1.ExtraValue": "Strings",
    "certificates/v1.ExtraValue": "Strings",
    "apiextensions/v1.JSON": "JSON",
    "apiextensions/v1.JSONSchemaPropsOrArray": "SchemaOrArray",
    "apiextensions/v1.JSONSchemaPropsOrBool": "SchemaOrBool",
    "apiextensions/v1.JSONSchemaPropsOrStringArray": "SchemaOrStrings",
}
"""Messages whose JSON is not an object of their fields, by the table's name for that
form.
"""

NOT_SERVED = {
    "apiextensions/v1": {"ConversionRequest", "ConversionResponse", "ConversionReview"},
    "autoscaling/v1": {
        "ContainerResourceMetricSource", "ContainerResourceMetricStatus",
        "ExternalMetricSource", "ExternalMetricStatus",
        "HorizontalPodAutoscalerCondition", "MetricSpec", "MetricStatus",
        "ObjectMetricSource", "ObjectMetricStatus", "PodsMetricSource",
        "PodsMetricStatus", "ResourceMetricSource", "ResourceMetricStatus",
    },
    "core/v1": {
        "AvoidPods", "PodLogOptions", "PodSignature", "PodStatusResult",
        "Preconditions", "PreferAvoidPodsEntry",
    },
    "meta/v1": {
        "ApplyOptions", "Duration", "GroupKind", "GroupResource", "GroupVersion",
        "GroupVersionKind", "GroupVersionResource", "List", "Patch", "RootPaths",
        "TableOptions", "Timestamp", "TypeMeta",
    },
}  # fmt: skip
"""Messages that no served object holds: they are only annotations, query parameters,
webhook traffic (JSON), or Go's internals.
"""


def generate(kubernetes: Path, version: str) -> bytes:
    """The table. Raises FileNotFoundError for a folder that is no checkout, ValueError
    for a field of a message that its struct does not have.
    """
    packages = {name: read_package(kubernetes, name) for name in PACKAGES}
    lists = _lists_and_maps(packages)
    messages: list[tuple[str, str]] = []
    for package in PACKAGES:
        left_out = NOT_SERVED.get(package, set())
        declared = read_proto(package_folder(kubernetes, package) / "generated.proto")
        for name, fields in declared.messages.items():
            full = f"{package}.{name}"
            if name in left_out or full in OWN_FORMS:
                continue
            struct = _struct(packages, package, name)
            by_number = {field.number: field for field in struct}
            rows = [f"{full}\t0" + "\t" * 5 + "\n"] if not fields else []
            for field in sorted(fields, key=lambda field: field.number):
                if field.number not in by_number:
                    raise ValueError(f"{full}: no Go field of number {field.number}")
                row = _row(package, field, by_number[field.number], lists)
                rows.append("\t".join((full, *row)) + "\n")
            messages.append((full, "".join(rows)))
    body = "".join(rows for _, rows in sorted(messages))
    source = f"generated.proto and types.go of Kubernetes {version}"
    line = first_line("Fields of the API's protobuf messages", source, "protobuf")
    return (line + "\t".join(COLUMNS.split()) + "\n" + body).encode()


def _lists_and_maps(packages: dict[str, GoPackage]) -> frozenset[str]:
    """Named Go types that can be nil: `type ResourceList map[…]`."""
    return frozenset(
        f"{package}.{name}"
        for package, declared in packages.items()
        for name, type_ in declared.named.items()
        if type_.startswith(("[]", "map["))
    )


def _struct(
    packages: dict[str, GoPackage], package: str, name: str
) -> tuple[GoField, ...]:
    """The fields of a struct, by way of its alias: `type List metav1.List`."""
    declared = packages[package]
    if name in declared.structs:
        return declared.structs[name]
    package, _, name = declared.named[name].rpartition(".")
    return packages[package].structs[name]


def _row(
    package: str, proto: ProtoField, go: GoField, lists: frozenset[str]
) -> Iterator[str]:
    yield str(proto.number)
    yield go.json or "*"
    yield _type(package, proto.type)
    yield proto.label
    local = go.type if "." in go.type else f"{package}.{go.type}"
    can_be_nil = go.type.startswith(("*", "[]", "map[")) or local in lists
    yield "set" if can_be_nil else "always"
    omits = [option for option in go.options if option in ("omitempty", "omitzero")]
    yield omits[-1] if omits else "keep"


def _type(package: str, type_: str) -> str:
    """`.k8s.io.api.core.v1.PodSpec` → `core/v1.PodSpec`; `PodSpec` is the package's."""
    path, _, name = type_.lstrip(".").rpartition(".")
    if path:
        full = f"{PROTO_PACKAGES[path]}.{name}" if path in PROTO_PACKAGES else name
    else:
        full = f"{package}.{name}" if name[0].isupper() else name
    return OWN_FORMS.get(full, full)
