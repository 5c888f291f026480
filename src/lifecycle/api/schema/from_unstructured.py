"""What Go says when a map of plain values does not fit a struct.

A strategic merge patch never becomes text on the server: the patched map is turned into
the struct directly, by reflection, and what does not fit is reported in the words of
that conversion, not in those of a JSON decoder.

Upstream: `apimachinery/pkg/runtime/converter.go` (`fromUnstructured`), v1.36. Left out:
of several values that do not fit, upstream reports the first in the order of the
struct's fields; here it is the first in the order of the map.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.schema.decode_state import DecodeState, Path
from lifecycle.api.schema.gotypes import alias_of, go_type_name, is_struct, struct_for
from lifecycle.api.schema.struct_decoder import struct_decoder

_KINDS = {
    bool: "bool",
    int: "int64",
    float: "float64",
    str: "string",
    list: "slice",
    dict: "map",
}


class _Complaints(DecodeState):
    """Wrong types, in the words of the conversion."""

    __slots__ = ()

    def save_type_error(self, value: Any, path: Path, type_: str) -> None:
        self.saved = self.saved or _conversion_error(
            _KINDS.get(type(value), "invalid"), type_
        )


def _conversion_error(source: str, type_: str) -> str:
    if type_.startswith("[]"):
        return f"cannot restore slice from {source}"
    if type_.startswith("map["):
        return f"cannot restore map from {source}"
    if is_struct(type_):
        return f"cannot restore struct from: {source}"
    base = alias_of(type_) or type_
    target = "string" if base.endswith("UID") else base
    if (source, target) == ("int64", "string") or (
        source == "float64" and target.startswith("int")
    ):  # Go could, JSON does not
        return f"cannot convert {source} to {go_type_name(type_)}"
    return f"unrecognized type: {target}"


def conversion_complaint(obj: Any, api_version: str, kind: str) -> str:
    """Why a map cannot become an object of a kind; empty if it can."""
    struct = struct_for(api_version, kind)
    if struct is None:
        return ""
    state = _Complaints()
    try:
        struct_decoder(struct)(obj, (), state)
    except ValueError as error:
        return str(error)
    return state.saved
