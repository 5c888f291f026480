"""The protobuf form of an OpenAPI v2 document, as the gnostic library defines it.

Numbers below are the field numbers of its `OpenAPIv2.proto`. Extensions
(`x-kubernetes-…`) travel as text in YAML; JSON is YAML, so JSON it is.

Upstream: `github.com/google/gnostic-models/openapiv2/OpenAPIv2.proto` (`Document`,
`PathItem`, `Operation`, `Parameter`, `Schema`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.protobuf.wire_format import delimited, tag, varint

_BYTES = [tag(number, 2) for number in range(32)]


def _message(number: int, payload: bytes) -> bytes:
    return delimited(_BYTES[number], payload)


def _string_field(number: int, value: str) -> bytes:
    return _message(number, value.encode()) if value else b""


def _strings(number: int, values: Iterable[str]) -> bytes:
    return b"".join(_string_field(number, value) for value in values)


def _true(number: int, value: object) -> bytes:
    return tag(number, 0) + varint(1) if value else b""


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


_VERBS = (
    (2, "get"),
    (3, "put"),
    (4, "post"),
    (5, "delete"),
    (6, "options"),
    (7, "head"),
    (8, "patch"),
)


def _path_item(item: Object) -> bytes:
    verbs = (
        _message(number, _operation(item[verb]))
        for number, verb in _VERBS
        if verb in item
    )
    return b"".join(verbs) + _parameters(9, item)


def _operation(operation: Object) -> bytes:
    return b"".join(
        (
            _strings(1, operation.get("tags", ())),
            _string_field(3, operation.get("description", "")),
            _string_field(5, operation.get("operationId", "")),
            _strings(6, operation.get("produces", ())),
            _strings(7, operation.get("consumes", ())),
            _parameters(8, operation),
            _message(9, _responses(operation.get("responses", {}))),
            _strings(10, operation.get("schemes", ())),
            _extensions(13, operation),
        )
    )


def _parameters(number: int, holder: Object) -> bytes:
    return b"".join(
        _message(
            number,
            _message(2, _string_field(1, parameter["$ref"]))
            if "$ref" in parameter
            else _message(1, _parameter(parameter)),
        )
        for parameter in holder.get("parameters", ())
    )


def _parameter(parameter: Object) -> bytes:
    """A `Parameter`: one for the body is another message than one of the query, and
    that has other numbers than one of the path.
    """
    place = parameter["in"]
    described = _string_field(3, parameter.get("description", ""))
    required = _true(1, parameter.get("required"))
    if place == "body":
        body = (
            _string_field(1, parameter.get("description", "")),
            _string_field(2, parameter["name"]),
            _string_field(3, place),
            _true(4, parameter.get("required")),
            _message(5, encode_schema(parameter["schema"])),
        )
        return _message(1, b"".join(body))
    kind, typed, unique = (3, 6, 20) if place == "query" else (4, 5, 19)
    other = (
        required,
        _string_field(2, place),
        described,
        _string_field(4, parameter["name"]),
        _string_field(typed, parameter["type"]),
        _true(unique, parameter.get("uniqueItems")),
    )
    return _message(2, _message(kind, b"".join(other)))


def _responses(responses: Object) -> bytes:
    def response(value: Object) -> bytes:
        encoded = _string_field(1, value["description"])
        if "schema" in value:
            encoded += _message(2, _message(1, encode_schema(value["schema"])))
        return _message(1, encoded)

    return _named_pairs(
        1, ((code, response(value)) for code, value in responses.items())
    )


def _security(document: Object) -> bytes:
    requirements = (
        _message(12, _named_pairs(1, ((name, b"") for name in each)))
        for each in document.get("security", ())
    )
    definitions = (
        (
            name,
            _message(
                2,
                _string_field(1, each["type"])
                + _string_field(2, each["name"])
                + _string_field(3, each["in"])
                + _string_field(4, each.get("description", "")),
            ),
        )
        for name, each in document.get("securityDefinitions", {}).items()
    )
    return b"".join(requirements) + _message(13, _named_pairs(1, definitions))


def encode_document(document: Object) -> bytes:
    """A whole `Document`."""
    info = document["info"]
    title = _string_field(1, info["title"]) + _string_field(2, info["version"])

    def pairs_of(number: int, key: str, encode: Callable[[Object], bytes]) -> bytes:
        values = document.get(key, {}).items()
        return _named_pairs(number, ((name, encode(value)) for name, value in values))

    return b"".join(
        (
            _string_field(1, document["swagger"]),
            _message(2, title),
            _message(8, pairs_of(2, "paths", _path_item)),
            _message(9, pairs_of(1, "definitions", encode_schema)),
            _message(10, pairs_of(1, "parameters", _parameter)),
            _security(document),
        )
    )
