"""Conditions of flow schemas and priority levels.

Upstream: `pkg/apis/flowcontrol/validation/validation.go`
(`ValidateFlowSchemaStatus`, `ValidatePriorityLevelConfigurationStatus`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    required,
)
from lifecycle.api.http.wire import Object


def validate_conditions(obj: Object) -> list[FieldError]:
    """Each has a type, and there is one of each."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, condition in enumerate(
        (obj.get("status") or {}).get("conditions") or ()
    ):
        type_, path = condition.get("type", ""), f"status.conditions[{index}].type"
        if type_ in seen:
            errors.append(duplicate(path, type_))
        seen.add(type_)
        if not type_:
            errors.append(required(path))
    return errors
