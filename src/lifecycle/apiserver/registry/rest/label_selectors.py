"""Label selectors inside objects.

Upstream: `apimachinery/pkg/apis/meta/v1/validation/validation.go`
(`ValidateLabelSelector`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, Named, forbidden, invalid, required
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_label_name,
    validate_labels,
)


def validate_label_selector(selector: Object | None, path: str) -> list[FieldError]:
    """`matchLabels` and `matchExpressions`; no selector at all is fine."""
    if not selector:
        return []
    errors = validate_labels(selector.get("matchLabels"), f"{path}.matchLabels")
    for index, requirement in enumerate(selector.get("matchExpressions") or ()):
        errors += validate_requirement(requirement, f"{path}.matchExpressions[{index}]")
    return errors


def validate_requirement(
    requirement: Object, path: str, *, compares: bool = False, check_values: bool = True
) -> list[FieldError]:
    """One of `matchExpressions`. Those of node selectors (`compares`) also know `Gt`
    and `Lt`.
    """
    errors: list[FieldError] = []
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    if operator in ("In", "NotIn"):
        if not values:
            errors.append(
                required(
                    f"{path}.values",
                    "must be specified when `operator` is 'In' or 'NotIn'",
                )
            )
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            errors.append(
                forbidden(
                    f"{path}.values",
                    "may not be specified when `operator` is 'Exists' or"
                    " 'DoesNotExist'",
                )
            )
    elif compares and operator in ("Gt", "Lt"):
        if len(values) != 1:
            errors.append(
                required(
                    f"{path}.values",
                    "must be specified single value when `operator` is 'Lt' or 'Gt'",
                )
            )
    else:
        errors.append(
            invalid(
                f"{path}.operator", Named(operator), "not a valid selector operator"
            )
        )
    errors += validate_label_name(requirement.get("key", ""), f"{path}.key")
    for index, value in enumerate(values if check_values else ()):
        errors += [
            invalid(f"{path}.values[{index}]", value, why)
            for why in content.label_value(value)
        ]
    return errors


def selector_is_usable(selector: Object) -> bool:
    """Can the selector be turned into a matcher? Upstream:
    `metav1.LabelSelectorAsSelector` without an error.
    """
    for key, value in (selector.get("matchLabels") or {}).items():
        if content.qualified_name(key) or content.label_value(value):
            return False
    return not any(
        validate_requirement(requirement, "")
        for requirement in selector.get("matchExpressions") or ()
    )


def selector_is_empty(selector: Object | None) -> bool:
    """Does the selector say nothing?"""
    return not selector or not (
        selector.get("matchLabels") or selector.get("matchExpressions")
    )


def selector_matches(selector: Object, labels: Object) -> bool:
    """Do the labels satisfy the selector?"""
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            return False
    for requirement in selector.get("matchExpressions") or ():
        key, operator, values = (
            requirement["key"],
            requirement["operator"],
            requirement.get("values") or (),
        )
        if operator == "In" and labels.get(key) not in values:
            return False
        if operator == "NotIn" and key in labels and labels[key] in values:
            return False
        if operator == "Exists" and key not in labels:
            return False
        if operator == "DoesNotExist" and key in labels:
            return False
    return True
