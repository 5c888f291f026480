"""The protobuf form of an OpenAPI v2 document, as the gnostic library defines it.

Numbers below are the field numbers of its `OpenAPIv2.proto`. Extensions
(`x-kubernetes-…`) travel as text in YAML; JSON is YAML, so JSON it is.

Upstream: `github.com/google/gnostic-models/openapiv2/OpenAPIv2.proto` (`Document`,
`Schema`, `Operation`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.protobuf.wire_format import delimited, tag, varint
from lifecycle.api.wire import Object

_BYTES = [tag(number, 2) for number in range(32)]


def _message(number: int, payload: bytes) -> bytes:
    return delimited(_BYTES[number], payload)


def _string_field(number: int, value: str) -> bytes:
    return _message(number, value.encode()) if value else b""


def _any(value: Any) -> bytes:
    return _string_field(2, fast_json.dumps(value).decode() + "\n")


def _extensions(number: int, holder: Object) -> bytes:
    """`x-…` keys as NamedAny."""
    return b"".join(
        _message(number, _string_field(1, key) + _message(2, _any(value)))
        for key, value in holder.items()
        if key.startswith("x-")
    )


def _named_pairs(number: int, values: Iterable[tuple[str, bytes]]) -> bytes:
    return b"".join(
        _message(number, _string_field(1, name) + _message(2, encoded))
        for name, encoded in values
    )


def encode_schema(schema: Object) -> bytes:
    """A `Schema` message."""
    parts = [
        _string_field(1, schema.get("$ref", "")),
        _string_field(2, schema.get("format", "")),
        _string_field(4, schema.get("description", "")),
        b"".join(_string_field(19, name) for name in schema.get("required", ())),
        b"".join(_message(20, _any(value)) for value in schema.get("enum", ())),
    ]
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        parts.append(_message(21, _message(1, encode_schema(additional))))
    elif additional is not None:
        parts.append(_message(21, tag(2, 0) + varint(int(additional))))
    if "type" in schema:
        parts.append(_message(22, _string_field(1, schema["type"])))
    if "items" in schema:
        parts.append(_message(23, _message(1, encode_schema(schema["items"]))))
    if "properties" in schema:
        properties = (
            (name, encode_schema(value)) for name, value in schema["properties"].items()
        )
        parts.append(_message(25, _named_pairs(1, properties)))
    parts.append(_extensions(31, schema))
    return b"".join(parts)


def _operation(operation: Object) -> bytes:
    parameters = b"".join(
        _message(8, _message(1, _message(2, _message(3, _query_parameter(parameter)))))
        for parameter in operation.get("parameters", ())
    )
    head = _string_field(3, operation.get("description", "")) + _string_field(
        5, operation.get("operationId", "")
    )
    return head + parameters + _extensions(13, operation)


def _query_parameter(parameter: Object) -> bytes:
    described = _string_field(2, parameter["in"]) + _string_field(
        3, parameter["description"]
    )
    return (
        described
        + _string_field(4, parameter["name"])
        + _string_field(6, parameter["type"])
    )


def encode_document(document: Object) -> bytes:
    """A whole `Document`; of its paths the patches only."""
    info = document["info"]
    paths = (
        (path, _message(8, _operation(item["patch"])))
        for path, item in document["paths"].items()
    )
    definitions = (
        (name, encode_schema(schema))
        for name, schema in document["definitions"].items()
    )
    return b"".join(
        (
            _string_field(1, document["swagger"]),
            _message(
                2, _string_field(1, info["title"]) + _string_field(2, info["version"])
            ),
            _message(8, _named_pairs(2, paths)),
            _message(9, _named_pairs(1, definitions)),
        )
    )
