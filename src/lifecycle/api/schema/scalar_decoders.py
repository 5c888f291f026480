"""Decoders of values without parts: text, numbers, bytes.

Upstream: `sigs.k8s.io/json/internal/golang/encoding/json/decode.go` (`literalStore`),
`apimachinery/pkg/util/intstr/intstr.go` (`UnmarshalJSON`), v1.36.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from lifecycle.api.schema import scalars
from lifecycle.api.schema.decode_state import DecodeState, Path, cannot_unmarshal

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
    raise ValueError(cannot_unmarshal(value, path, "int32"))


def decode_bytes(value: Any, path: Path, state: DecodeState) -> Any:
    """Base64, written anew; or, as for any Go slice, a list of its elements."""
    if type(value) is str:
        try:
            return scalars.base64_bytes(value)
        except ValueError as error:
            state.save_error(error)
            return ""
    if type(value) is not list:
        state.save_type_error(value, path, "[]byte")
        return ""
    raw = bytearray()
    for index, item in enumerate(value):
        if item is not None and not (type(item) is int and 0 <= item < 256):
            state.save_type_error(item, (path, index), "byte")
            item = None
        raw.append(item or 0)
    return base64.b64encode(raw).decode()


def self_decoder(parse: Callable[[Any], Any], *, text_only: bool) -> Decoder:
    """Of a type with an `UnmarshalJSON` of its own: what it objects to ends the
    decoding, while a wrong type is only remembered elsewhere.
    """

    def decode_self(value: Any, path: Path, state: DecodeState) -> Any:
        if text_only and type(value) is not str:
            raise ValueError(cannot_unmarshal(value, path, "string"))
        return parse(value)

    return decode_self
