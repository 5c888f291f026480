"""Objects inside of objects: parts of a custom resource that are resources themselves.

Where a schema says `x-kubernetes-embedded-resource`, there stands a version, a kind and
metadata, and these are held to what they are held to elsewhere: brought to their normal
form when the object is read, and checked before it is stored.

Upstream: `apiextensions-apiserver/pkg/apiserver/schema/objectmeta` (`Coerce`,
`Validate`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.decode_state import DecodeState
from lifecycle.api.schema.struct_decoder import struct_decoder
from lifecycle.api.validation import content
from lifecycle.apiserver.apiextensions.structural import EMBEDDED
from lifecycle.apiserver.registry.rest.object_meta import validate_object_meta


def embedded(value: Any, schema: Any, path: str = "") -> Iterator[tuple[Object, str]]:
    """Each object inside of a value, with its path; outer ones first."""
    if not isinstance(schema, dict):
        return
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from embedded(item, schema.get("items"), f"{path}[{index}]")
    elif isinstance(value, dict):
        if schema.get(EMBEDDED):
            yield value, path
        properties = schema.get("properties") or {}
        for key, part in value.items():
            if key in properties:
                below = f"{path}.{key}" if path else key
                yield from embedded(part, properties[key], below)
            else:
                more = schema.get("additionalProperties")
                yield from embedded(part, more, f"{path}[{key}]")


def coerce(obj: Object, schema: Object) -> FieldError | None:
    """Bring what the objects inside say of themselves to its normal form, in place. The
    first that cannot be read, if there is one.
    """
    for inner, path in embedded(obj, schema):
        for key in ("apiVersion", "kind"):
            if key in inner and not isinstance(inner[key], str):
                return invalid(f"{path}.{key}", inner[key], "must be a string")
        if inner.get("metadata") is not None:
            state = DecodeState()
            try:
                read = struct_decoder("meta/v1.ObjectMeta")(
                    inner["metadata"], (), state
                )
            except ValueError as error:
                return invalid(f"{path}.metadata", inner["metadata"], str(error))
            if state.saved:
                return invalid(f"{path}.metadata", inner["metadata"], state.saved)
            if not read.get("creationTimestamp"):
                read.pop("creationTimestamp", None)
            inner["metadata"] = read
    return None


def validate(obj: Object, schema: Object) -> list[FieldError]:
    """What is wrong with the objects inside."""
    return [
        error
        for inner, path in embedded(obj, schema)
        for error in _validate(inner, path)
    ]


def _validate(inner: Object, path: str) -> Iterator[FieldError]:
    for key in ("apiVersion", "kind"):
        if key not in inner:
            yield required(f"{path}.{key}")
    for key in ("apiVersion", "kind"):
        if key in inner and not isinstance(inner[key], str):
            yield invalid(f"{path}.{key}", inner[key], "must be a string")
        elif key in inner and not inner[key]:
            yield invalid(f"{path}.{key}", inner[key], "must not be empty")
    version, kind = inner.get("apiVersion"), inner.get("kind")
    if isinstance(version, str) and version.count("/") > 1:
        why = f"unexpected GroupVersion string: {version}"
        yield invalid(f"{path}.apiVersion", version, why)
    if isinstance(kind, str) and kind:
        problems = content.dns1035_label(kind.lower())
        if problems:
            why = "may have mixed case, but should otherwise match: "
            yield invalid(f"{path}.kind", kind, why + ",".join(problems))
    metadata = inner.get("metadata")
    if isinstance(metadata, dict):
        named = {**metadata, "name": metadata.get("name") or "fakename"}
        yield from validate_object_meta(
            named,
            bool(metadata.get("namespace")),
            content.name_is_path_segment,
            f"{path}.metadata",
        )
