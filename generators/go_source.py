"""Reads the type declarations of Kubernetes' Go sources: no Go is needed, nothing runs.

The API packages are plain: one field a line, a tag behind it, no generics. What this
reads of a package: its structs with their fields in declaration order, and its other
named types (`type PodPhase string`). Interfaces and functions are no API types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

STAGING = "staging/src/k8s.io"
META = "apimachinery/pkg/apis/meta/v1"

PACKAGES = {
    **{
        name: f"api/{name}"
        for name in (
            "admissionregistration/v1", "apps/v1", "authentication/v1",
            "authorization/v1", "autoscaling/v1", "autoscaling/v2", "batch/v1",
            "certificates/v1", "coordination/v1", "core/v1", "discovery/v1",
            "events/v1", "flowcontrol/v1", "networking/v1", "node/v1", "policy/v1",
            "rbac/v1", "resource/v1", "scheduling/v1", "storage/v1",
        )
    },
    "apiextensions/v1": "apiextensions-apiserver/pkg/apis/apiextensions/v1",
    "apiregistration/v1": "kube-aggregator/pkg/apis/apiregistration/v1",
    "meta/v1": META,
}  # fmt: skip
"""The packages of the API versions that a default server serves, by the tables' name
for them; folders below `staging/src/k8s.io`.
"""

_TYPE = re.compile(r"type (\w+) (.+)")
_FIELD = re.compile(r"(?:(\w+)\s+)?([^\s`]+)(?:\s+`(.*)`)?")
_JSON_TAG = re.compile(r'json:"([^"]*)"')
_PROTOBUF_TAG = re.compile(r'protobuf:"\w+,(\d+),')
_IMPORT = re.compile(r'(?:(\w+)\s+)?"([^"]+)"')
_NAME = re.compile(r"(\w+)\.(?=\w)")


@dataclass(slots=True, frozen=True)
class GoField:
    """One line of a struct. `name` of an embedded type is the type's own. `json` is
    None without a tag; `options` are `omitempty`, `omitzero`, `inline`; `number` is
    protobuf's, 0 without a tag.
    """

    name: str
    type: str
    json: str | None
    options: tuple[str, ...]
    number: int


@dataclass(slots=True, frozen=True)
class GoPackage:
    """The declarations of one package, their types with the tables' package names:
    `metav1.Time` is `meta/v1.Time`; a type of the package itself has no prefix.
    """

    structs: dict[str, tuple[GoField, ...]]
    named: dict[str, str]


def package_folder(kubernetes: Path, package: str) -> Path:
    """Where a checkout of kubernetes/kubernetes keeps a package. Raises
    FileNotFoundError.
    """
    folder = kubernetes / STAGING / PACKAGES[package]
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder in the checkout")
    return folder


def read_package(kubernetes: Path, package: str) -> GoPackage:
    """All declarations of a package. Raises FileNotFoundError."""
    structs: dict[str, tuple[GoField, ...]] = {}
    named: dict[str, str] = {}
    for file in sorted(package_folder(kubernetes, package).glob("*.go")):
        if not file.name.endswith((".pb.go", "_test.go")):
            _read_file(file.read_text("utf-8"), structs, named)
    return GoPackage(structs, named)


def _read_file(
    text: str, structs: dict[str, tuple[GoField, ...]], named: dict[str, str]
) -> None:
    lines = iter(_without_comments(text).splitlines())
    imports: dict[str, str] = {}
    for line in lines:
        if line.startswith("import"):
            for spec in [line] if '"' in line else _until(lines, ")"):
                if match := _IMPORT.search(spec):
                    path = match[2]
                    imports[match[1] or path.rpartition("/")[2]] = _table_name(path)
        elif match := _TYPE.fullmatch(line.rstrip()):
            name, declaration = match[1], match[2].removeprefix("= ")
            if declaration == "struct {":
                fields = (_field(row, imports) for row in _until(lines, "}"))
                structs[name] = tuple(field for field in fields if field is not None)
            elif declaration == "struct{}":
                structs[name] = ()
            elif not declaration.startswith(("interface", "func")):
                named[name] = _qualified(declaration, imports)


def _without_comments(text: str) -> str:
    """API structs have no `//` inside their tags."""
    text = re.sub(r"(?ms)^[ \t]*/\*.*?\*/", "", text)
    return re.sub(r"(?m)(^|[ \t])//.*$", "", text)


def _until(lines: Iterator[str], end: str) -> list[str]:
    rows: list[str] = []
    for line in lines:
        if line.startswith(end):
            break
        if line.strip():
            rows.append(line.strip())
    return rows


def _field(row: str, imports: dict[str, str]) -> GoField | None:
    match = _FIELD.fullmatch(row)
    if match is None:  # the inside of a nested declaration
        return None
    type_ = _qualified(match[2], imports)
    tag = _JSON_TAG.search(match[3] or "")
    json, _, options = tag[1].partition(",") if tag else (None, "", "")
    name = match[1] or type_.lstrip("*").rpartition(".")[2]
    number = _PROTOBUF_TAG.search(match[3] or "")
    return GoField(
        name,
        type_,
        json,
        tuple(options.split(",")),
        int(number[1]) if number else 0,
    )


def _qualified(type_: str, imports: dict[str, str]) -> str:
    return _NAME.sub(lambda match: imports.get(match[1], match[1]) + ".", type_)


def _table_name(path: str) -> str:
    for name, folder in PACKAGES.items():
        if path == f"k8s.io/{folder}":
            return name
    return path.rpartition("/")[2]
