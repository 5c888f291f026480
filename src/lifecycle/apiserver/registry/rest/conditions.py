"""Conditions as `metav1` has them: what newer kinds say of their state.

Upstream: `apimachinery/pkg/apis/meta/v1/validation/validation.go`
(`ValidateConditions`), v1.36.
"""

from __future__ import annotations

import re

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.rest.object_meta import validate_label_name

_REASON_LENGTH = 1024
_MESSAGE_LENGTH = 32 * 1024
_STATUSES = ("False", "True", "Unknown")
_REASON = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_NOT_A_REASON = content.regex_error(
    "a condition reason must start with alphabetic character, optionally followed by a"
    " string of alphanumeric characters or '_,:', and must end with an alphanumeric"
    " character or '_'",
    "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?",
    "my_name",
    "MY_NAME",
    "MyName",
    "ReasonA,ReasonB",
    "ReasonA:ReasonB",
)


def validate_conditions(conditions: list[Object], path: str) -> list[FieldError]:
    """Conditions as `metav1` has them."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        here, type_ = f"{path}[{index}]", condition.get("type", "")
        if type_ in seen:
            errors.append(duplicate(f"{here}.type", type_))
        seen.add(type_)
        errors += validate_label_name(type_, f"{here}.type")
        status = condition.get("status", "")
        if status not in _STATUSES:
            errors.append(not_supported(f"{here}.status", status, _STATUSES))
        generation = condition.get("observedGeneration", 0)
        if generation < 0:
            why = "must be greater than or equal to zero"
            errors.append(invalid(f"{here}.observedGeneration", generation, why))
        if condition.get("lastTransitionTime") is None:
            errors.append(required(f"{here}.lastTransitionTime"))
        reason = condition.get("reason", "")
        if not reason:
            errors.append(required(f"{here}.reason"))
        elif not _REASON.fullmatch(reason):
            errors.append(invalid(f"{here}.reason", reason, _NOT_A_REASON))
        if len(reason.encode()) > _REASON_LENGTH:
            errors.append(too_long(f"{here}.reason", _REASON_LENGTH))
        if len(condition.get("message", "").encode()) > _MESSAGE_LENGTH:
            errors.append(too_long(f"{here}.message", _MESSAGE_LENGTH))
    return errors
