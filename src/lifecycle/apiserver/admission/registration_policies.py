"""What is wrong with a policy or a binding. Every expression is compiled, and the
compiler's complaint is part of the answer.

Upstream: `pkg/apis/admissionregistration/validation/validation.go`
(`validateValidatingAdmissionPolicySpec`, `validateMutatingAdmissionPolicySpec`,
`validateParamRef`), v1.36.
"""

from __future__ import annotations

import re

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.admission.mutating_policy import EXPRESSIONS, RETURNS
from lifecycle.apiserver.admission.policy_expressions import Composition
from lifecycle.apiserver.admission.registration_webhooks import (
    validate_match_conditions,
    validate_rule,
)
from lifecycle.apiserver.cel.environment import CompileError
from lifecycle.apiserver.registry.rest.label_selectors import validate_label_selector

REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized")
ACTIONS = ("Audit", "Deny", "Warn")
MAX_ANNOTATIONS = 20
NOTHING = "validations or auditAnnotations must contain at least one item"
_RESERVED = frozenset(
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


def validate_policy(obj: Object) -> list[FieldError]:
    """All errors of a ValidatingAdmissionPolicy or MutatingAdmissionPolicy."""
    spec = obj.get("spec") or {}
    mutating = obj["kind"].startswith("Mutating")
    params = bool(spec.get("paramKind"))
    errors: list[FieldError] = []
    policy = spec.get("failurePolicy")
    if policy is None:
        errors.append(required("spec.failurePolicy"))
    elif policy not in ("Fail", "Ignore"):
        errors.append(not_supported("spec.failurePolicy", policy, ("Fail", "Ignore")))
    if spec.get("paramKind") is not None:
        errors += _param_kind(spec["paramKind"])
    constraints = spec.get("matchConstraints")
    if constraints is None:
        errors.append(required("spec.matchConstraints"))
    else:
        errors += validate_match_resources(constraints, "spec.matchConstraints")
        if not constraints.get("resourceRules"):
            errors.append(required("spec.matchConstraints.resourceRules"))
    errors += validate_match_conditions(
        spec.get("matchConditions") or (), "spec.matchConditions", params=params
    )
    composition = Composition(params=params, literals=mutating)
    for index, variable in enumerate(spec.get("variables") or ()):
        errors += _variable(composition, variable, f"spec.variables[{index}]")
    return errors + (
        _mutations(composition, spec)
        if mutating
        else _validations(composition, obj, spec)
    )


def _param_kind(kind: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    version, name = kind.get("apiVersion") or "", kind.get("kind") or ""
    if not version:
        errors.append(required("spec.paramKind.apiVersion"))
    elif version.count("/") > 1:
        errors.append(
            invalid(
                "spec.paramKind.apiVersion",
                version,
                f"unexpected GroupVersion string: {version}",
            )
        )
    if not name:
        errors.append(required("spec.paramKind.kind"))
    else:
        why = "may have mixed case, but should otherwise match: "
        errors += [
            invalid("spec.paramKind.kind", name, why + text)
            for text in content.dns1035_label(name.lower())
        ]
    return errors


def validate_match_resources(found: Object, path: str) -> list[FieldError]:
    """`matchConstraints` or `matchResources`."""
    errors: list[FieldError] = []
    policy = found.get("matchPolicy")
    if policy is None:
        errors.append(required(f"{path}.matchPolicy"))
    elif policy not in ("Equivalent", "Exact"):
        errors.append(
            not_supported(f"{path}.matchPolicy", policy, ("Equivalent", "Exact"))
        )
    for key in ("namespaceSelector", "objectSelector"):
        if found.get(key) is None:
            errors.append(required(f"{path}.{key}"))
        else:
            errors += validate_label_selector(found[key], f"{path}.{key}")
    for key in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(found.get(key) or ()):
            here, names = f"{path}.{key}[{index}]", rule.get("resourceNames") or []
            for position, name in enumerate(names):
                where = f"{here}.resourceNames[{position}]"
                errors += [
                    invalid(where, name, why)
                    for why in content.name_is_path_segment(name, False)
                ]
                if name in names[:position]:
                    errors.append(duplicate(where, name))
            errors += validate_rule(rule, here)
    return errors


def _variable(
    composition: Composition, variable: Object, path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    name, expression = variable.get("name") or "", variable.get("expression") or ""
    if not name.strip():
        errors.append(required(f"{path}.name", "name is not specified"))
    elif not re.fullmatch(r"[_a-zA-Z]\w*", name, re.ASCII) or name in _RESERVED:
        errors.append(
            invalid(f"{path}.name", name, "name is not a valid CEL identifier")
        )
    if not expression.strip():
        errors.append(required(f"{path}.expression", "expression is not specified"))
    elif not errors:
        try:
            composition.add(name, expression)
        except CompileError as error:
            errors.append(invalid(f"{path}.expression", expression, str(error)))
    return errors


def _compiled(
    composition: Composition,
    expression: str,
    returns: tuple[str, ...],
    path: str,
    *,
    authorizer: bool = True,
) -> list[FieldError]:
    try:
        composition.compile(expression, returns, authorizer=authorizer)
    except CompileError as error:
        return [invalid(path, expression, str(error))]
    return []


def _validations(
    composition: Composition, obj: Object, spec: Object
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
        errors += _validation(composition, validation, f"spec.validations[{index}]")
    if len(annotations) > MAX_ANNOTATIONS:
        why = f"must not have more than {MAX_ANNOTATIONS} auditAnnotations"
        errors.append(invalid("spec.auditAnnotations", list(annotations), why))
    keys: set[str] = set()
    for index, item in enumerate(annotations):
        path, key = f"spec.auditAnnotations[{index}]", item.get("key") or ""
        name = (obj.get("metadata") or {}).get("name") or ""
        whole = f"{name}/{key}"
        errors += [
            invalid(f"{path}.key", whole, why) for why in content.qualified_name(whole)
        ]
        expression = (item.get("valueExpression") or "").strip()
        if not expression:
            errors.append(
                required(f"{path}.valueExpression", "valueExpression is not specified")
            )
        else:
            errors += _compiled(
                composition,
                expression,
                ("string", "null_type"),
                f"{path}.valueExpression",
            )
        if key in keys:
            errors.append(duplicate(f"{path}.key", key))
        keys.add(key)
    return errors


def _validation(
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
        errors += _compiled(composition, expression, ("bool",), f"{path}.expression")
    if text and not text.strip():
        errors.append(
            invalid(f"{path}.messageExpression", text, "must be non-empty if specified")
        )
    elif text:
        errors += _compiled(
            composition,
            text,
            ("string",),
            f"{path}.messageExpression",
            authorizer=False,
        )
    message = validation.get("message") or ""
    if message and not message.strip():
        errors.append(
            invalid(
                f"{path}.message", message, "message must be non-empty if specified"
            )
        )
    elif re.search(r"[\n\r]", message.strip()):
        errors.append(
            invalid(f"{path}.message", message, "message must not contain line breaks")
        )
    reason = validation.get("reason")
    if reason is not None and reason not in REASONS:
        errors.append(not_supported(f"{path}.reason", reason, REASONS))
    return errors


def _mutations(composition: Composition, spec: Object) -> list[FieldError]:
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
            if mutation.get(other) is not None:
                errors.append(
                    forbidden(
                        f"{path}.{other}",
                        f"{other} can only be specified when patchType is {kind}",
                    )
                )
            elif mutation.get(key) is None:
                errors.append(
                    required(
                        f"{path}.{key}", f"{key} is required when patchType is {kind}"
                    )
                )
            elif not (mutation[key].get("expression") or "").strip():
                errors.append(
                    required(f"{path}.{key}.expression", "expression is not specified")
                )
            else:
                expression = mutation[key]["expression"]
                errors += _compiled(
                    composition,
                    expression,
                    (RETURNS[kind],),
                    f"{path}.{key}.expression",
                )
    policy = spec.get("reinvocationPolicy")
    if not policy:
        errors.append(required("spec.reinvocationPolicy"))
    elif policy not in ("IfNeeded", "Never"):
        errors.append(
            not_supported("spec.reinvocationPolicy", policy, ("IfNeeded", "Never"))
        )
    return errors


def validate_binding(obj: Object) -> list[FieldError]:
    """All errors of a binding of either kind."""
    spec = obj.get("spec") or {}
    errors: list[FieldError] = []
    name = spec.get("policyName") or ""
    if not name:
        errors.append(required("spec.policyName"))
    errors += [
        invalid("spec.policyName", name, why)
        for why in (content.name_is_dns_subdomain(name, False) if name else ())
    ]
    if spec.get("paramRef") is not None:
        errors += _param_ref(spec["paramRef"])
    if spec.get("matchResources") is not None:
        errors += validate_match_resources(
            spec["matchResources"], "spec.matchResouces"
        )  # upstream's own spelling
    if obj["kind"].startswith("Validating"):
        errors += _actions(spec.get("validationActions") or [])
    return errors


def _param_ref(reference: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    name, selector, path = (
        reference.get("name") or "",
        reference.get("selector"),
        "spec.paramRef",
    )
    if name:
        errors += [
            invalid(f"{path}.name", name, why)
            for why in content.name_is_path_segment(name, False)
        ]
        if selector is not None:
            errors.append(
                forbidden(f"{path}.name", "name and selector are mutually exclusive")
            )
    if selector is not None:
        errors += validate_label_selector(selector, f"{path}.selector")
        if name:
            errors.append(
                forbidden(
                    f"{path}.selector", "name and selector are mutually exclusive"
                )
            )
    if not name and selector is None:
        errors.append(required(path, "one of name or selector must be specified"))
    action = reference.get("parameterNotFoundAction")
    if not action:
        errors.append(required(f"{path}.parameterNotFoundAction"))
    elif action not in ("Allow", "Deny"):
        errors.append(
            not_supported(f"{path}.parameterNotFoundAction", action, ("Deny", "Allow"))
        )
    return errors


def _actions(actions: list[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    path = "spec.validationActions"
    for index, action in enumerate(actions):
        if action not in ACTIONS:
            errors.append(not_supported(f"{path}[{index}]", action, ACTIONS))
        if action in actions[:index]:
            errors.append(duplicate(f"{path}[{index}]", action))
    if {"Deny", "Warn"} <= set(actions):
        why = (
            "must not contain both Deny and Warn (repeating the same validation failure"
            " information in the API response and headers serves no purpose)"
        )
        errors.append(invalid(path, actions, why))
    if not actions:
        errors.append(required(path, "at least one validation action is required"))
    return errors
