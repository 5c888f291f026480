"""Which requests a webhook or a policy is about: rules, `matchConstraints` and
`matchResources`, `matchConditions`.

Upstream: `pkg/apis/admissionregistration/v1/defaults.go`
(`SetDefaults_MatchResources`),
`pkg/apis/admissionregistration/validation/validation.go` (`validateRuleWithOperations`,
`validateMatchResources`, `validateMatchConditions`), v1.36. Left out: expressions that
were stored by an older version and are let through on an update.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
    too_many,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.admission.policy_expressions import (
    base_environment,
)
from lifecycle.apiserver.cel.environment import CompileError
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.enum import validate_enum
from lifecycle.apiserver.registry.rest.label_selectors import validate_label_selector

OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
SCOPES = ("*", "Cluster", "Namespaced")
MAX_CONDITIONS = 64


def set_match_resources_defaults(match: Object | None) -> None:
    """Equivalent requests, every namespace and object, either scope."""
    if match is None:
        return
    set_default(match, "matchPolicy", "Equivalent")
    set_default(match, "namespaceSelector", {})
    set_default(match, "objectSelector", {})
    for key in ("resourceRules", "excludeResourceRules"):
        for rule in match.get(key) or ():
            set_default(rule, "scope", "*")


def validate_rule(rule: Object, path: str) -> list[FieldError]:
    """A `RuleWithOperations`."""
    errors: list[FieldError] = []
    operations = rule.get("operations") or []
    if not operations:
        errors.append(required(f"{path}.operations"))
    if len(operations) > 1 and "*" in operations:
        errors.append(
            invalid(
                f"{path}.operations",
                operations,
                "if '*' is present, must not specify other operations",
            )
        )
    for index, operation in enumerate(operations):
        if operation not in OPERATIONS:
            errors.append(
                not_supported(f"{path}.operations[{index}]", operation, OPERATIONS)
            )
    for key, what in (("apiGroups", "groups"), ("apiVersions", "versions")):
        values = rule.get(key) or []
        if not values:
            errors.append(required(f"{path}.{key}"))
        if len(values) > 1 and "*" in values:
            why = f"if '*' is present, must not specify other API {what}"
            errors.append(invalid(f"{path}.{key}", values, why))
        if key == "apiVersions":
            errors += [
                required(f"{path}.{key}[{index}]")
                for index, value in enumerate(values)
                if not value
            ]
    errors += _validate_resources(rule.get("resources") or [], f"{path}.resources")
    scope = rule.get("scope")
    errors += validate_enum(f"{path}.scope", scope, SCOPES)
    return errors


def _validate_resources(resources: list[str], path: str) -> list[FieldError]:
    """Upstream: `validateResources`. Of several entries without a subresource only the
    last one counts against `*`, there as here.
    """
    errors: list[FieldError] = [] if resources else [required(path)]
    any_subresource, any_resource = set[str](), set[str]()
    plain = False
    for index, text in enumerate(resources):
        here = f"{path}[{index}]"
        if not text:
            errors.append(required(here))
            continue
        resource, slash, subresource = text.partition("/")
        if not slash:
            plain = text != "*"
            continue
        if resource in any_subresource:
            errors.append(
                invalid(
                    here, text, f"if '{resource}/*' is present, must not specify {text}"
                )
            )
        if subresource in any_resource:
            errors.append(
                invalid(
                    here,
                    text,
                    f"if '*/{subresource}' is present, must not specify {text}",
                )
            )
        if subresource == "*":
            any_subresource.add(resource)
        if resource == "*":
            any_resource.add(subresource)
    if len(resources) > 1 and "*/*" in resources:
        errors.append(
            invalid(
                path, resources, "if '*/*' is present, must not specify other resources"
            )
        )
    if "*" in resources and plain:
        why = "if '*' is present, must not specify other resources without subresources"
        errors.append(invalid(path, resources, why))
    return errors


_MUTATING = tuple(operation for operation in OPERATIONS if operation != "DELETE")


def validate_match_resources(
    resources: Object, path: str, *, mutating: bool = False
) -> list[FieldError]:
    """`matchConstraints` or `matchResources`. `mutating`: of a policy that changes
    objects, and there is nothing to change in a deletion.
    """
    errors: list[FieldError] = []
    policy = resources.get("matchPolicy")
    if policy is None:
        errors.append(required(f"{path}.matchPolicy"))
    elif policy not in ("Equivalent", "Exact"):
        errors.append(
            not_supported(f"{path}.matchPolicy", policy, ("Equivalent", "Exact"))
        )
    for key in ("namespaceSelector", "objectSelector"):
        if resources.get(key) is None:
            errors.append(required(f"{path}.{key}"))
        else:
            errors += validate_label_selector(resources[key], f"{path}.{key}")
    for key in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(resources.get(key) or ()):
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
    if mutating:
        errors += [
            not_supported(f"{path}.resourceRules.operations", operation, _MUTATING)
            for rule in resources.get("resourceRules") or ()
            for operation in rule.get("operations") or ()
            if operation not in _MUTATING
        ]
    return errors


def validate_match_conditions(
    conditions: Sequence[Object], path: str, *, params: bool = False
) -> list[FieldError]:
    """`matchConditions`: named expressions that say yes or no."""
    errors: list[FieldError] = []
    if len(conditions) > MAX_CONDITIONS:
        errors.append(too_many(path, len(conditions), MAX_CONDITIONS))
    names: set[str] = set()
    for index, condition in enumerate(conditions):
        here, name = f"{path}[{index}]", condition.get("name") or ""
        expression = (condition.get("expression") or "").strip()
        if not expression:
            errors.append(required(f"{here}.expression"))
        else:
            try:
                base_environment(params, True).compile(expression, ("bool",))
            except CompileError as error:
                errors.append(invalid(f"{here}.expression", expression, str(error)))
        if not name:
            errors.append(required(f"{here}.name"))
        else:
            errors += [
                invalid(f"{here}.name", name, why)
                for why in content.qualified_name(name)
            ]
            if name in names:
                errors.append(duplicate(f"{here}.name", name))
        names.add(name)
    return errors
