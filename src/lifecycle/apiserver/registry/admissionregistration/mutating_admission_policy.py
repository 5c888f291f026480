"""MutatingAdmissionPolicies: expressions that make patches.

Upstream: `pkg/registry/admissionregistration/mutatingadmissionpolicy/strategy.go`,
`pkg/apis/admissionregistration/validation/validation.go`
(`validateMutatingAdmissionPolicySpec`, `validateMutation`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.admission.mutating_policy import EXPRESSIONS, RETURNS
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
from lifecycle.apiserver.registry.rest.enum import validate_required_enum
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.strategy import Strategy


def validate(policy: Object) -> list[FieldError]:
    """A new policy."""
    composition, errors = validate_policy(policy, literals=True)
    return errors + _validate_mutations(composition, policy.get("spec") or {})


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The same."""
    return validate(new)


def _validate_mutations(composition: Composition, spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    mutations = spec.get("mutations") or ()
    if not mutations:
        errors.append(
            required("spec.mutations", "mutations must contain at least one item")
        )
    for index, mutation in enumerate(mutations):
        path, kind = f"spec.mutations[{index}]", mutation.get("patchType") or ""
        if not kind:
            errors.append(required(f"{path}.patchType"))
        elif kind not in RETURNS:
            errors.append(not_supported(f"{path}.patchType", kind, sorted(RETURNS)))
        else:
            key = EXPRESSIONS[kind]
            other = next(name for name in EXPRESSIONS.values() if name != key)
            if mutation.get(key) is None:
                why = f"must be specified when patchType is {kind}"
                errors.append(required(f"{path}.{key}", why))
            elif not (mutation[key].get("expression") or "").strip():
                errors.append(required(f"{path}.{key}.expression"))
            else:
                expression = mutation[key]["expression"]
                errors += validate_expression(
                    composition,
                    expression,
                    (RETURNS[kind],),
                    f"{path}.{key}.expression",
                )
            if mutation.get(other) is not None:
                why = f"must not be specified when patchType is {kind}"
                errors.append(invalid(f"{path}.{other}", f"{{{other}}}", why))
    policy = spec.get("reinvocationPolicy")
    errors += validate_required_enum(
        "spec.reinvocationPolicy", policy, ("IfNeeded", "Never")
    )
    return errors


PRINTER = Printer(
    (
        NAME,
        Column(
            "Mutations",
            "Mutation indicates the number of mutations rules defined in this"
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
    printer=PRINTER,
)
