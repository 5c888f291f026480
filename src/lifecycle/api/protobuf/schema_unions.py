"""The three "either or" types inside a CustomResourceDefinition's schema.

JSON says `additionalProperties: false` or `additionalProperties: {type: string}`;
protobuf has a message with one field for each.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/v1/marshal.go`, v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.protobuf.leaves import Decode, Encode, raw_fields
from lifecycle.api.protobuf.wire_format import delimited

SCHEMA = "apiextensions/v1.JSONSchemaProps"
UNIONS = ("SchemaOrArray", "SchemaOrBool", "SchemaOrStrings")


def _first(fields: list[tuple[int, Any]], schema: Decode) -> Any:
    """The schema in field 1, if there is one."""
    return next((schema(value) for number, value in fields if number == 1), None)


def union_encoder(type: str, schema: Encode) -> Encode:
    """The encoder of a union, given the encoder of a schema."""

    def or_array(value: Any) -> bytes:
        if isinstance(value, list):
            return b"".join(delimited(b"\x12", schema(item)) for item in value)
        return delimited(b"\x0a", schema(value))

    def or_bool(value: Any) -> bytes:
        if isinstance(value, dict):
            return delimited(b"\x08\x01\x12", schema(value))
        return b"\x08\x01" if value else b"\x08\x00"

    def or_strings(value: Any) -> bytes:
        if isinstance(value, list):
            return b"".join(delimited(b"\x12", item.encode()) for item in value)
        return delimited(b"\x0a", schema(value))

    return {
        "SchemaOrArray": or_array,
        "SchemaOrBool": or_bool,
        "SchemaOrStrings": or_strings,
    }[type]


def union_decoder(type: str, schema: Decode) -> Decode:
    """The decoder of a union, given the decoder of a schema."""

    def or_array(data: bytes) -> Any:
        fields = raw_fields(data)
        many = [schema(value) for number, value in fields if number == 2]
        return many or _first(fields, schema)

    def or_bool(data: bytes) -> Any:
        fields = dict(raw_fields(data))
        return schema(fields[2]) if 2 in fields else bool(fields.get(1, 0))

    def or_strings(data: bytes) -> Any:
        fields = raw_fields(data)
        many = [value.decode() for number, value in fields if number == 2]
        return many or _first(fields, schema)

    return {
        "SchemaOrArray": or_array,
        "SchemaOrBool": or_bool,
        "SchemaOrStrings": or_strings,
    }[type]
