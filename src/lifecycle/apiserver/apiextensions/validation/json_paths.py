"""What points into objects: the replicas of a Scale, columns, selectable fields.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`
(`ValidateCustomResourceDefinitionSubresources`,
`ValidateCustomResourceColumnDefinition`, `ValidateCustomResourceSelectableFields`,
`validateSimpleJSONPath`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    invalid,
    required,
    too_many,
)
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.apiextensions.field_paths import PathError, field_at

COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS = (
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
)
MAX_SELECTABLE = 8


def validate_scale_subresource(scale: Object, here: str) -> list[FieldError]:
    """Paths below `.spec` and `.status`."""
    errors: list[FieldError] = []
    for key, prefix in (
        ("specReplicasPath", ".spec."),
        ("statusReplicasPath", ".status."),
    ):
        path = scale.get(key, "")
        if not path:
            errors.append(required(f"{here}.{key}"))
        else:
            errors += _validate_simple_json_path(
                path, f"{here}.{key}", (prefix,), prefix[:-1]
            )
    selector = scale.get("labelSelectorPath")
    if selector:
        errors += _validate_simple_json_path(
            selector,
            f"{here}.labelSelectorPath",
            (".spec.", ".status."),
            "either .spec or .status",
        )
    return errors


def validate_column_definition(column: Object, here: str) -> list[FieldError]:
    """A name, a type that tables know, a path."""
    errors: list[FieldError] = []
    if not column.get("name"):
        errors.append(required(f"{here}.name"))
    types = f"must be one of {','.join(COLUMN_TYPES)}"
    if not column.get("type"):
        errors.append(required(f"{here}.type", types))
    elif column["type"] not in COLUMN_TYPES:
        errors.append(invalid(f"{here}.type", column["type"], types))
    if column.get("format") and column["format"] not in COLUMN_FORMATS:
        errors.append(
            invalid(
                f"{here}.format",
                column["format"],
                f"must be one of {','.join(COLUMN_FORMATS)}",
            )
        )
    if not column.get("jsonPath"):
        errors.append(required(f"{here}.JSONPath"))
    else:
        errors += _validate_simple_json_path(
            column["jsonPath"], f"{here}.JSONPath", (), ""
        )
    return errors


def validate_selectable_fields(
    version: Object, schema: Object, here: str
) -> list[FieldError]:
    """Paths to scalars that the schema has, each once."""
    errors: list[FieldError] = []
    seen: set[tuple[str, ...]] = set()
    for index, field in enumerate(version.get("selectableFields") or ()):
        path, place = field.get("jsonPath", ""), f"{here}[{index}].jsonPath"
        if not path:
            errors.append(required(place))
            continue
        try:
            steps, node = field_at(path, schema, brackets=False)
        except PathError as error:
            errors.append(invalid(place, path, f"is an invalid path: {error}"))
            continue
        if steps[:1] == ("metadata",):
            errors.append(invalid(place, path, "must not point to fields in metadata"))
        if (node or {}).get("type") not in ("string", "boolean", "integer"):
            why = (
                "must point to a field of type string, boolean or integer. Enum string"
                " fields and strings with formats are allowed."
            )
            errors.append(invalid(place, path, why))
        if steps in seen:
            errors.append(duplicate(place, path))
        seen.add(steps)
    if len(seen) > MAX_SELECTABLE:
        errors.append(too_many(here, len(seen), MAX_SELECTABLE))
    return errors


def _validate_simple_json_path(
    path: str, here: str, prefixes: tuple[str, ...], where: str
) -> list[FieldError]:
    if not path:
        return [invalid(here, path, "must not be empty")]
    if path[0] != ".":
        return [invalid(here, path, "must be a simple json path starting with .")]
    if path == ".":
        return (
            [invalid(here, path, "must be a json path in the dot notation")]
            if not prefixes
            else []
        )
    if prefixes and not path.startswith(prefixes):
        return [invalid(here, path, f"should be a json path under {where}")]
    return []
