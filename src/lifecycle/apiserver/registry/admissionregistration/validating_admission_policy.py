"""ValidatingAdmissionPolicies: expressions that refuse, and what they write into the
audit log.

Upstream: `pkg/registry/admissionregistration/validatingadmissionpolicy/strategy.go`,
`pkg/apis/admissionregistration/validation/validation.go` (`validateValidation`,
`validateAuditAnnotation`), v1.36.
"""

from __future__ import annotations

import re

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    invalid,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.apiserver.admission.policy_expressions import Composition
from lifecycle.apiserver.registry.admissionregistration.policies import (
    PARAM_KIND,
    print_admission_policy,
    set_admission_policy_defaults,
    validate_expression,
    validate_policy,
)
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Column,
    Printer,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.enum import validate_enum
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.strategy import (
    METADATA_AND_SPEC_FIELDS,
    Strategy,
    UpdateStrategy,
)

REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
MAX_ANNOTATIONS = 20
NOTHING = "validations or auditAnnotations must contain at least one item"


def validate(policy: Object) -> list[FieldError]:
    """A new policy."""
    composition, errors = validate_policy(policy, literals=False)
    return errors + _validate_validations(composition, policy, policy.get("spec") or {})


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The same."""
    return validate(new)


def _validate_validations(
    composition: Composition, policy: Object, spec: Object
) -> list[FieldError]:
    validations, annotations = (
        spec.get("validations") or (),
        spec.get("auditAnnotations") or (),
    )
    if not validations and not annotations:
        return [
            required("spec.validations", NOTHING),
            required("spec.auditAnnotations", NOTHING),
        ]
    errors: list[FieldError] = []
    for index, validation in enumerate(validations):
        errors += _validate_validation(
            composition, validation, f"spec.validations[{index}]"
        )
    if len(annotations) > MAX_ANNOTATIONS:
        why = f"must not have more than {MAX_ANNOTATIONS} auditAnnotations"
        shown = internal_value(
            "[]admissionregistration/v1.AuditAnnotation", list(annotations)
        )
        errors.append(invalid("spec.auditAnnotations", shown, why))
    keys: set[str] = set()
    name = (policy.get("metadata") or {}).get("name")
    for index, item in enumerate(annotations):
        path, key = f"spec.auditAnnotations[{index}]", item.get("key") or ""
        if name:
            errors += [
                invalid(f"{path}.key", f"{name}/{key}", why)
                for why in content.qualified_name(f"{name}/{key}")
            ]
        else:
            why = "requires metadata.name be non-empty"
            errors.append(invalid(f"{path}.key", key, why))
        expression = (item.get("valueExpression") or "").strip()
        if not expression:
            errors.append(
                required(f"{path}.valueExpression", "valueExpression is not specified")
            )
        else:
            errors += validate_expression(
                composition,
                expression,
                ("string", "null_type"),
                f"{path}.valueExpression",
            )
        if key in keys:
            errors.append(duplicate(f"{path}.key", key))
        keys.add(key)
    return errors


def _validate_validation(
    composition: Composition, validation: Object, path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    expression, text = (
        validation.get("expression") or "",
        validation.get("messageExpression") or "",
    )
    if not expression.strip():
        errors.append(required(f"{path}.expression", "expression is not specified"))
    else:
        errors += validate_expression(
            composition, expression, ("bool",), f"{path}.expression"
        )
    if text and not text.strip():
        errors.append(
            invalid(f"{path}.messageExpression", text, "must be non-empty if specified")
        )
    elif text:
        errors += validate_expression(
            composition,
            text,
            ("string",),
            f"{path}.messageExpression",
            authorizer=False,
        )
    message = validation.get("message") or ""
    if message and not message.strip():
        errors.append(
            invalid(f"{path}.message", message, "must be non-empty if specified")
        )
    elif re.search(r"[\n\r]", message.strip()):
        errors.append(
            invalid(f"{path}.message", message, "must not contain line breaks")
        )
    reason = validation.get("reason")
    errors += validate_enum(f"{path}.reason", reason, REASONS)
    return errors


PRINTER = Printer(
    (
        NAME,
        Column(
            "Validations",
            "Validations indicates the number of validation rules defined in this"
            " configuration",
            "integer",
        ),
        PARAM_KIND,
        AGE,
    ),
    print_admission_policy,
)

STRATEGY = Strategy(
    set_defaults=set_admission_policy_defaults,
    generation=Generation.SPEC,
    validate=validate,
    allow_unconditional_update=False,
    validate_update=validate_update,
    subresources={
        "status": UpdateStrategy(
            update.prepare_for_status_only_update, reset_fields=METADATA_AND_SPEC_FIELDS
        )
    },
    printer=PRINTER,
)
