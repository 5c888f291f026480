"""Configurations are JSON, and a field of the wrong type is refused in the words of
Go's decoder.

The plugins of upstream decode their configuration into structs before they look at
anything; what does not fit is named by the innermost struct and the whole path: `json:
cannot unmarshal number into Go struct field IPAMConfig.ipam.dataDir of type string`.
The first misfit in the order of the text is the one that is told.

Upstream: Go's `encoding/json` (`UnmarshalTypeError`); `containernetworking/cni`,
`pkg/types/types.go` (`PluginConf`, `DNS`), CNI v1.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lifecycle.api.go.json.decode import json_type


@dataclass(slots=True, frozen=True)
class Scalar:
    """A string, number or bool. `go_type`, here and below: the type as Go prints it."""

    kind: str
    go_type: str


@dataclass(slots=True, frozen=True)
class Slice:
    """A list; `item` is what is in it."""

    item: Shape
    go_type: str


@dataclass(slots=True, frozen=True)
class Struct:
    """An object; keys that are not among `fields` do not matter. `opaque`: it decodes
    itself, so its own fields are not named.
    """

    fields: Mapping[str, Shape]
    go_type: str
    opaque: bool = False

    @property
    def name(self) -> str:
        """Without its package; empty for a type that was written out in place."""
        return (
            ""
            if self.go_type.startswith("struct {")
            else self.go_type.rpartition(".")[2]
        )


@dataclass(slots=True, frozen=True)
class Table:
    """An object with any keys; `item` is what each of them has, None: anything."""

    go_type: str
    item: Shape | None = None


Shape = Scalar | Slice | Struct | Table

STRING, BOOL, INT = (
    Scalar("string", "string"),
    Scalar("bool", "bool"),
    Scalar("number", "int"),
)
IP = Scalar("string", "net.IP")
STRINGS = Slice(STRING, "[]string")
ROUTES = Slice(
    Struct({"dst": STRING, "gw": IP}, "types.route", opaque=True), "[]*types.Route"
)
DNS = Struct(
    {"nameservers": STRINGS, "domain": STRING, "search": STRINGS, "options": STRINGS},
    "types.DNS",
)
PLUGIN_CONF: Mapping[str, Shape] = {
    "cniVersion": STRING,
    "name": STRING,
    "type": STRING,
    "capabilities": Table("map[string]bool", BOOL),
    "ipam": Struct({"type": STRING}, "types.IPAM"),
    "dns": DNS,
    "prevResult": Table("map[string]interface {}"),
}
"""What every main plugin's configuration has."""


def misfit(
    value: Any, shape: Shape, place: tuple[str, ...] = (), struct: str = ""
) -> str:
    """What Go says of the first value of a wrong type; empty if all fit. `null` fits
    everything.
    """
    if value is None:
        return ""
    kind = json_type(value)
    match shape:
        case Struct() if kind == "object":
            known = (
                (value[key], shape.fields[key], key)
                for key in value
                if key in shape.fields
            )
            if shape.opaque:
                return _first(
                    misfit(field, field_shape, place, struct)
                    for field, field_shape, _ in known
                )
            return _first(
                misfit(field, field_shape, (*place, key), shape.name)
                for field, field_shape, key in known
            )
        case Slice() if kind == "array":
            return _first(misfit(item, shape.item, place, struct) for item in value)
        case Table() if kind == "object":
            each = Slice(shape.item, "") if shape.item is not None else None
            return misfit([*value.values()], each, place, struct) if each else ""
        case Scalar() if kind == shape.kind and not (
            shape is INT and isinstance(value, float)
        ):
            return ""
    given = f"number {value}" if shape is INT and kind == "number" else kind
    where = f"struct field {struct}.{'.'.join(place)}" if place else "value"
    return f"json: cannot unmarshal {given} into Go {where} of type {shape.go_type}"


def under_field_names(value: Mapping[str, Any], struct: Struct) -> dict[str, Any]:
    """An object's values under the names of the struct's fields. Go finds a field also
    if its name is written in other letters: containerd 1.6 says `ContainerPort` for
    `containerPort`.
    """
    names = {name.lower(): name for name in struct.fields}
    return {names.get(key.lower(), key): found for key, found in value.items()}


def _first(complaints: Iterable[str]) -> str:
    return next(filter(None, complaints), "")
