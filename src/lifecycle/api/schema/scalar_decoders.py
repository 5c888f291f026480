"""Decoders of values without parts: text, numbers, bytes.

Upstream: `sigs.k8s.io/json/internal/golang/encoding/json/decode.go` (`literalStore`),
`apimachinery/pkg/util/intstr/intstr.go` (`UnmarshalJSON`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.api.go_json.decode import json_type
from lifecycle.api.schema import scalars
from lifecycle.api.schema.decode_state import DecodeState, Path

Decoder = Callable[[Any, Path, DecodeState], Any]


def scalar_decoder(base: str, type_: str) -> Decoder:
    """Of a Go type `base`; refusals call it `type_`, which may be an alias."""
    if base in ("string", "types.UID"):

        def decode_string(value: Any, path: Path, state: DecodeState) -> Any:
            if type(value) is str:
                return value
            state.save_type_error(value, path, type_)
            return ""

        return decode_string
    if base == "bool":

        def decode_bool(value: Any, path: Path, state: DecodeState) -> Any:
            if value is True or value is False:
                return value
            state.save_type_error(value, path, type_)
            return False

        return decode_bool
    if base == "float64":

        def decode_float(value: Any, path: Path, state: DecodeState) -> Any:
            if type(value) is float or type(value) is int:
                return value
            state.save_type_error(value, path, type_)
            return 0

        return decode_float
    limit = 1 << (31 if base == "int32" else 63)

    def decode_int(value: Any, path: Path, state: DecodeState) -> Any:
        if type(value) is int and -limit <= value < limit:
            return value
        state.save_type_error(value, path, type_)
        return 0

    return decode_int


def decode_int_or_string(value: Any, path: Path, state: DecodeState) -> Any:
    """Raises ValueError: the type decodes itself, and its refusal ends all."""
    if type(value) is str:
        return value
    if type(value) is int and -(1 << 31) <= value < 1 << 31:
        return value
    json_value = json_type(value)
    if json_value == "number":
        json_value = f"number {value!r}"
    raise ValueError(f"json: cannot unmarshal {json_value} into Go value of type int32")


def decode_bytes(value: Any, path: Path, state: DecodeState) -> Any:
    """Base64, written anew. Raises ValueError for what is none."""
    if type(value) is not str:
        state.save_type_error(value, path, "[]byte")
        return ""
    return scalars.base64_bytes(value)
