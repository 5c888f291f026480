"""What OpenAPI does not say: the Go declarations behind the API types, as a table.

Two servers that agree on every field can still print different JSON: Go writes fields
in the order of the struct, leaves out an empty field only if it is tagged `omitempty`
(and never an empty struct, unless `omitzero`), and names types in its error messages.
These facts are in `types.tsv`, one struct after the other, in declaration order: Go
name, JSON name, tags (`e` omitempty, `z` omitzero, `i` inline), Go type. A test holds
the table against the published OpenAPI documents: same types, same fields.

Upstream: `k8s.io/api/*/*/types.go`, `apimachinery/pkg/apis/meta/v1/types.go`,
`apiextensions-apiserver` and `kube-aggregator` types, v1.36.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from lifecycle.api.bounded_cache import short_pair_cache
from lifecycle.api.tables import table_lines

SCALARS = {"string", "bool", "int32", "int64", "int", "float64", "byte"}


class GoField(NamedTuple):
    """One struct field. `type` is fully qualified: `*int32`, `[]core/v1.Container`,
    `map[core/v1.ResourceName]resource.Quantity`. `embedded`: the structs, one in the
    other, that brought it here.
    """

    go_name: str
    json_name: str
    omit_empty: bool
    omit_zero: bool
    inline: bool
    type: str
    embedded: tuple[str, ...] = ()


@cache
def _blocks() -> dict[str, list[str]]:
    blocks: dict[str, list[str]] = {}
    current: list[str] = []
    for line in table_lines(__package__, "types.tsv"):
        if line[0] == "\t":
            current.append(line)
        else:
            name, _, alias = line.partition(" ")
            current = blocks[name] = [alias] if alias else []
    return blocks


def _qualify(type_: str, package: str) -> str:
    prefix, base = split_type(type_)
    if base not in SCALARS and "." not in base and not base.startswith("interface"):
        base = f"{package}.{base}"
    if prefix.startswith("map["):  # map keys are strings under another name
        key, _, rest = prefix.removeprefix("map[").partition("]")
        if key not in SCALARS and "." not in key:
            key = f"{package}.{key}"
        prefix = f"map[{key}]{rest}"
    return prefix + base


def split_type(type_: str) -> tuple[str, str]:
    """A Go type taken apart: `[]*core/v1.Pod` → (`[]*`, `core/v1.Pod`)."""
    rest = type_
    while True:
        if rest.startswith("*"):
            rest = rest[1:]
        elif rest.startswith("[]"):
            rest = rest[2:]
        elif rest.startswith("map["):
            rest = rest[rest.index("]") + 1 :]
        else:
            return type_[: len(type_) - len(rest)], rest


@cache
def alias_of(name: str) -> str | None:
    """What a named non-struct type stands for (`core/v1.PodPhase` → `string`), or None
    for a struct or an unknown name.
    """
    block = _blocks().get(name)
    if not block or block[0][0] == "\t":
        return None
    return _qualify(block[0], name.rpartition(".")[0])


def is_struct(name: str) -> bool:
    """Is there a struct of that name in the table?"""
    block = _blocks().get(name)
    return block is not None and (not block or block[0][0] == "\t")


@cache
def declared_fields(name: str) -> tuple[GoField, ...]:
    """The fields of a struct as declared. Raises KeyError for an unknown struct."""
    package = name.rpartition(".")[0]
    rows = []
    for line in _blocks()[name]:
        go_name, json_name, tags, type_ = line[1:].split("\t")
        rows.append(
            GoField(
                go_name,
                json_name,
                "e" in tags,
                "z" in tags,
                "i" in tags,
                _qualify(type_, package),
            )
        )
    return tuple(rows)


@cache
def json_fields(name: str) -> tuple[GoField, ...]:
    """The fields of a struct as JSON sees them: embedded structs flattened, in the
    order in which Go prints them.
    """
    rows: list[GoField] = []
    for field in declared_fields(name):
        if field.inline:
            rows.extend(
                part._replace(embedded=(field.go_name, *part.embedded))
                for part in json_fields(field.type.lstrip("*"))
            )
        else:
            rows.append(field)
    return tuple(rows)


@short_pair_cache(1024)
def struct_for(api_version: str, kind: str) -> str | None:
    """The struct behind a kind: (`apps/v1`, `Deployment`) → `apps/v1.Deployment`;
    shared kinds (`DeleteOptions`) live in `meta/v1`.
    """
    group, _, version = api_version.rpartition("/")
    name = f"{group.partition('.')[0] or 'core'}/{version}.{kind}"
    if is_struct(name):
        return name
    shared = f"meta/v1.{kind}"
    return shared if is_struct(shared) else None


def go_type_name(type_: str) -> str:
    """A type as Go's error messages print it: `[]core/v1.Container` →
    `[]v1.Container`.
    """
    prefix, base = split_type(type_)
    if prefix.startswith("map["):
        key, _, rest = prefix.removeprefix("map[").partition("]")
        prefix = f"map[{key.rpartition('/')[2]}]{rest}"
    if base == "byte":
        base = "uint8"
    if base.startswith("interface"):
        return prefix + "interface {}"
    return prefix + base.rpartition("/")[2]
