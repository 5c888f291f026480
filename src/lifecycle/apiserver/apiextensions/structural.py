"""What makes a schema structural: every field is declared outside of the logic.

`anyOf` and its kin may say more about fields, never bring new ones. Only such a schema
can say which fields there are, which pruning, defaulting and server-side apply depend
on.

Upstream: `apiextensions-apiserver/pkg/apiserver/schema/{validation,complete}.go`
(`ValidateStructural`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.field_errors import FieldError, forbidden, invalid, required
from lifecycle.api.go.regexp import parse_error
from lifecycle.api.http.wire import Object

ROOT, ITEM, FIELD = (
    "at the root",
    "for specified array items",
    "for specified object fields",
)
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
TYPES = ("array", "boolean", "integer", "number", "object", "string")
PRESERVE, EMBEDDED, INT_OR_STRING = (
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
)
_EMPTY_WHEN_NESTED = (
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    (PRESERVE, "must be false to be structural"),
    (EMBEDDED, "must be false to be structural"),
    (INT_OR_STRING, "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
)


def validate_structural(schema: Object, path: str) -> list[FieldError]:
    """Everything about a schema that is not structural, sorted as upstream sorts it."""
    errors = _invariants(schema, ROOT, path) + _completeness(schema, schema, path, path)
    return sorted(errors, key=str)


ANYTHING: Object = {"type": "object", PRESERVE: True}
"""The schema of a version that has none."""


def schema_of(version: Object) -> Object:
    """The schema of a definition's version. Definitions that came in as `v1beta1` may
    do without.
    """
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    return ANYTHING if schema is None else schema


def is_structural(schema: Object) -> bool:
    """Whether every field that a schema speaks of is declared."""
    return not cannot_be_structural(schema) and not validate_structural(schema, "")


_UNKNOWN_TO_STRUCTURAL = (
    "id",
    "$schema",
    "$ref",
    "patternProperties",
    "dependencies",
    "additionalItems",
    "definitions",
)


def cannot_be_structural(schema: Object) -> bool:
    """Whether a schema, or one below it, uses what a structural schema has no place
    for. Upstream: `NewStructural` fails.
    """
    if any(schema.get(key) for key in _UNKNOWN_TO_STRUCTURAL) or isinstance(
        schema.get("items"), list
    ):
        return True
    below = [schema.get("items"), schema.get("additionalProperties"), schema.get("not")]
    below += (schema.get("properties") or {}).values()
    for junctor in ("allOf", "anyOf", "oneOf"):
        below += schema.get(junctor) or ()
    return any(cannot_be_structural(each) for each in below if isinstance(each, dict))


def _invariants(schema: Object, level: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    type_, items = schema.get("type", ""), schema.get("items")
    if type_ == "array" and items is None:
        errors.append(required(f"{path}.items", "must be specified"))
    if items is not None:
        errors += _invariants(items, ITEM, f"{path}.items")
    properties = schema.get("properties") or {}
    for key, child in properties.items():
        errors += _invariants(child, FIELD, f"{path}.properties[{key}]")
    additional = schema.get("additionalProperties")
    if additional is not None:
        if level == ROOT:
            errors.append(
                forbidden(
                    f"{path}.additionalProperties", "must not be used at the root"
                )
            )
        if isinstance(additional, dict):
            errors += _invariants(additional, FIELD, f"{path}.additionalProperties")
    errors += _extensions(schema, path)
    all_of = schema.get("allOf") or []
    first_all_of = bool(all_of) and all_of[0].get("anyOf") == _INT_OR_STRING
    errors += _value_validation(
        schema, schema.get("anyOf") == _INT_OR_STRING, first_all_of, path
    )
    embedded = bool(schema.get(EMBEDDED))
    if embedded and type_ != "object":
        why = "must be object if x-kubernetes-embedded-resource is true"
        errors.append(
            invalid(f"{path}.type", type_, why)
            if type_
            else required(f"{path}.type", why)
        )
    elif not type_ and not schema.get(INT_OR_STRING) and not schema.get(PRESERVE):
        errors.append(required(f"{path}.type", f"must not be empty {level}"))
    if embedded and additional is not None:
        errors.append(
            forbidden(
                f"{path}.additionalProperties",
                "must not be used if x-kubernetes-embedded-resource is set",
            )
        )
    if level == ROOT and type_ and type_ != "object":
        errors.append(invalid(f"{path}.type", type_, "must be object at the root"))
    if level == ROOT or embedded:
        for key in ("kind", "apiVersion"):
            property_type = (properties.get(key) or {}).get("type", "")
            if key in properties and property_type != "string":
                errors.append(
                    invalid(
                        f"{path}.properties[{key}].type",
                        property_type,
                        "must be string",
                    )
                )
    if "metadata" in properties:
        errors += _metadata(
            properties["metadata"], level, embedded, f"{path}.properties[metadata]"
        )
    if embedded and not schema.get(PRESERVE) and not properties:
        why = (
            "must not be empty if x-kubernetes-embedded-resource is true without "
            "x-kubernetes-preserve-unknown-fields"
        )
        errors.append(required(f"{path}.properties", why))
    return errors


def _metadata(
    schema: Object, level: str, embedded: bool, path: str
) -> list[FieldError]:
    errors = []
    if (level == ROOT or embedded) and schema.get("type") != "object":
        errors.append(invalid(f"{path}.type", schema.get("type", ""), "must be object"))
    if level == ROOT:
        rest = {
            key: value
            for key, value in schema.items()
            if key not in ("type", "default")
        }
        if set(rest.get("properties") or ()) <= {"name", "generateName"}:
            rest.pop("properties", None)
        if rest:
            why = (
                "must not specify anything other than name and generateName, but "
                "metadata is implicitly specified"
            )
            errors.append(forbidden(path, why))
    return errors


def _extensions(schema: Object, path: str) -> list[FieldError]:
    if not schema.get(INT_OR_STRING):
        return []
    why = "must be false if x-kubernetes-int-or-string is true"
    return [
        invalid(f"{path}.{key}", True, why)
        for key in (PRESERVE, EMBEDDED)
        if schema.get(key)
    ]


def _value_validation(
    schema: Object, skip_any_of: bool, skip_first_all_of: bool, path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    if not skip_any_of:
        for index, each in enumerate(schema.get("anyOf") or ()):
            errors += _nested(each, False, f"{path}.anyOf[{index}]")
    for index, each in enumerate(schema.get("allOf") or ()):
        errors += _nested(
            each, skip_first_all_of and index == 0, f"{path}.allOf[{index}]"
        )
    for index, each in enumerate(schema.get("oneOf") or ()):
        errors += _nested(each, False, f"{path}.oneOf[{index}]")
    if schema.get("not") is not None:
        errors += _nested(schema["not"], False, f"{path}.not")
    pattern = schema.get("pattern")
    if pattern and (wrong := parse_error(pattern)):
        errors.append(
            invalid(
                f"{path}.pattern",
                pattern,
                f"must be a valid regular expression, but isn't: {wrong}",
            )
        )
    return errors


def _nested(schema: Object, skip_any_of: bool, path: str) -> list[FieldError]:
    errors = _value_validation(schema, skip_any_of, False, path)
    if schema.get("items") is not None:
        errors += _nested(schema["items"], False, f"{path}.items")
    for key, child in (schema.get("properties") or {}).items():
        errors += _nested(child, False, f"{path}.properties[{key}]")
    if schema.get("type"):
        errors.append(forbidden(f"{path}.type", "must be empty to be structural"))
    if schema.get("additionalProperties") is not None:
        errors.append(
            forbidden(
                f"{path}.additionalProperties", "must be undefined to be structural"
            )
        )
    errors += [
        forbidden(f"{path}.{key}", why)
        for key, why in _EMPTY_WHEN_NESTED
        if schema.get(key)
    ]
    if "metadata" in (schema.get("properties") or {}):
        errors.append(
            forbidden(
                f"{path}.properties[metadata]",
                "must not be specified in a nested context",
            )
        )
    return errors


def _completeness(
    value: Object, schema: Any, s_path: str, v_path: str
) -> list[FieldError]:
    """Whatever logic speaks of must be declared outside of it."""
    errors: list[FieldError] = []
    nested = [(value["not"], f"{v_path}.not")] if value.get("not") is not None else []
    for key in ("allOf", "anyOf", "oneOf"):
        nested += [
            (each, f"{v_path}.{key}[{index}]")
            for index, each in enumerate(value.get(key) or ())
        ]
    for each, here in nested:
        errors += _nested_completeness(each, schema, s_path, here)
    return errors


def _nested_completeness(
    value: Object, schema: Any, s_path: str, v_path: str
) -> list[FieldError]:
    if schema is None:
        return [required(s_path, f"because it is defined in {v_path}")]
    errors = _completeness(value, schema, s_path, v_path)
    if value.get("items") is not None:
        errors += _nested_completeness(
            value["items"], schema.get("items"), f"{s_path}.items", f"{v_path}.items"
        )
    for key, child in (value.get("properties") or {}).items():
        declared = (schema.get("properties") or {}).get(key)
        errors += _nested_completeness(
            child,
            declared,
            f"{s_path}.properties[{key}]",
            f"{v_path}.properties[{key}]",
        )
    return errors
