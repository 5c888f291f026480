"""What policies of both kinds have: what they match, parameters and variables. Every
expression is compiled, and the compiler's complaint is part of the answer.

Upstream: `pkg/apis/admissionregistration/v1/defaults.go`,
`pkg/apis/admissionregistration/validation/validation.go`
(`validateValidatingAdmissionPolicySpec`, `validateParamKind`, `validateVariable`),
`pkg/printers/internalversion/printers.go` (`printValidatingAdmissionPolicy`), v1.36.
"""

from __future__ import annotations

import re

from lifecycle.api.field_errors import (
    FieldError,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.apiserver.admission.policy_expressions import Composition
from lifecycle.apiserver.cel.environment import CompileError
from lifecycle.apiserver.registry.admissionregistration.match_criteria import (
    set_match_resources_defaults,
    validate_match_conditions,
    validate_match_resources,
)
from lifecycle.apiserver.registry.printers.printer import (
    Cells,
    Column,
)
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.object_meta import validate_object_meta

_CEL_RESERVED = frozenset(
    [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)


# --- defaults -------------------------------------------------------------------------


def set_admission_policy_defaults(policy: Object) -> None:
    """Fail closed; match equivalent requests everywhere."""
    spec = policy.setdefault("spec", {})
    set_default(spec, "failurePolicy", "Fail")
    set_match_resources_defaults(spec.get("matchConstraints"))


# --- validation -----------------------------------------------------------------------


def validate_policy(
    policy: Object, *, literals: bool
) -> tuple[Composition, list[FieldError]]:
    """What is wrong with the part that both kinds have, and a compiler that knows the
    policy's variables. `literals`: expressions may build objects.
    """
    spec = policy.get("spec") or {}
    params = bool(spec.get("paramKind"))
    errors = validate_object_meta(
        policy.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    failure_policy = spec.get("failurePolicy")
    if failure_policy is None:
        errors.append(required("spec.failurePolicy"))
    elif failure_policy not in ("Fail", "Ignore"):
        errors.append(
            not_supported("spec.failurePolicy", failure_policy, ("Fail", "Ignore"))
        )
    if spec.get("paramKind") is not None:
        errors += _validate_param_kind(spec["paramKind"])
    constraints = spec.get("matchConstraints")
    if constraints is None:
        errors.append(required("spec.matchConstraints"))
    else:
        errors += validate_match_resources(
            constraints, "spec.matchConstraints", mutating=literals
        )
        if not constraints.get("resourceRules"):
            errors.append(required("spec.matchConstraints.resourceRules"))
    errors += validate_match_conditions(
        spec.get("matchConditions") or (), "spec.matchConditions", params=params
    )
    composition = Composition(params=params, literals=literals)
    for index, variable in enumerate(spec.get("variables") or ()):
        errors += _validate_variable(composition, variable, f"spec.variables[{index}]")
    return composition, errors


def _validate_param_kind(kind: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    version, name = kind.get("apiVersion") or "", kind.get("kind") or ""
    path = "spec.paramKind.apiVersion"
    group, _, short = version.rpartition("/")
    if not version:
        errors.append(required(path))
    elif version.count("/") > 1:
        why = f"unexpected GroupVersion string: {version}"
        errors.append(invalid(path, version, why))
    else:
        if group and (messages := content.dns1123_subdomain(group)):
            errors.append(invalid(path, group, ",".join(messages)))
        if not short:
            errors.append(invalid(path, version, "version must be specified"))
        elif messages := content.dns1035_label(short):
            errors.append(invalid(path, short, ",".join(messages)))
    if not name:
        errors.append(required("spec.paramKind.kind"))
    else:
        why = "may have mixed case, but should otherwise match: "
        if messages := content.dns1035_label(name.lower()):
            detail = why + ",".join(messages)
            errors.append(invalid("spec.paramKind.kind", name, detail))
    return errors


def _validate_variable(
    composition: Composition, variable: Object, path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    name, expression = variable.get("name") or "", variable.get("expression") or ""
    if not name.strip():
        errors.append(required(f"{path}.name", "name is not specified"))
    elif not re.fullmatch(r"[_a-zA-Z]\w*", name, re.ASCII) or name in _CEL_RESERVED:
        errors.append(invalid(f"{path}.name", name, "must be a valid CEL identifier"))
    if not expression.strip():
        errors.append(required(f"{path}.expression", "expression is not specified"))
    else:
        try:
            composition.add(name, expression)
        except CompileError as error:
            errors.append(invalid(f"{path}.expression", expression, str(error)))
    return errors


def validate_expression(
    composition: Composition,
    expression: str,
    returns: tuple[str, ...],
    path: str,
    *,
    authorizer: bool = True,
) -> list[FieldError]:
    """An expression compiles, and has one of some types."""
    try:
        composition.compile(expression, returns, authorizer=authorizer)
    except CompileError as error:
        return [invalid(path, expression, str(error))]
    return []


# --- table ----------------------------------------------------------------------------


def print_admission_policy(obj: Object, now: float) -> Cells:
    """The cells of `kubectl get validatingadmissionpolicies`, or of mutating ones."""
    spec = obj.get("spec") or {}
    param = spec.get("paramKind")
    rules = spec.get("validations") or spec.get("mutations") or ()
    kind = (
        "<unset>"
        if param is None
        else f"{param.get('apiVersion', '')}/{param.get('kind', '')}"
    )
    return [obj["metadata"]["name"], len(rules), kind, age(obj, now)]


PARAM_KIND = Column(
    "ParamKind",
    "ParamKind specifies the kind of resources used to parameterize this policy",
)
