"""What is wrong with a webhook configuration, and with the rules that policies share
with it.

Upstream: `pkg/apis/admissionregistration/validation/validation.go`
(`validateValidatingWebhookConfiguration`, `validateRuleWithOperations`),
`apiserver/pkg/util/webhook/validation.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
    too_many,
)
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.admission.policy_expressions import base_environment
from lifecycle.apiserver.cel.environment import CompileError
from lifecycle.apiserver.registry.rest.label_selectors import validate_label_selector
from lifecycle.apiserver.registry.rest.webhook_clients import validate_webhook_client

OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
SCOPES = ("*", "Cluster", "Namespaced")
REVIEW_VERSIONS = ("v1", "v1beta1")
MAX_CONDITIONS = 64


def validate_webhook_configuration(obj: Object) -> list[FieldError]:
    """All errors of a validating or mutating webhook configuration."""
    errors: list[FieldError] = []
    names: set[str] = set()
    for index, hook in enumerate(obj.get("webhooks") or ()):
        path = f"webhooks[{index}]"
        errors += _webhook(hook, path, mutating=obj["kind"].startswith("Mutating"))
        errors += _review_versions(
            hook.get("admissionReviewVersions") or [], f"{path}.admissionReviewVersions"
        )
        name = hook.get("name") or ""
        if name and name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.add(name)
    return errors


def _webhook(hook: Object, path: str, *, mutating: bool) -> list[FieldError]:
    errors = _qualified(hook.get("name") or "", f"{path}.name")
    for index, rule in enumerate(hook.get("rules") or ()):
        errors += validate_rule(rule, f"{path}.rules[{index}]")
    errors += _one_of(hook, "failurePolicy", ("Fail", "Ignore"), path)
    errors += _one_of(hook, "matchPolicy", ("Equivalent", "Exact"), path)
    effects = hook.get("sideEffects")
    if effects is None:
        errors.append(
            required(f"{path}.sideEffects", "must specify one of None, NoneOnDryRun")
        )
    errors += _one_of(hook, "sideEffects", ("None", "NoneOnDryRun"), path)
    timeout = hook.get("timeoutSeconds")
    if timeout is not None and not 1 <= timeout <= 30:
        errors.append(
            invalid(
                f"{path}.timeoutSeconds",
                timeout,
                "the timeout value must be between 1 and 30 seconds",
            )
        )
    for key in ("namespaceSelector", "objectSelector"):
        errors += validate_label_selector(hook.get(key), f"{path}.{key}")
    if mutating:
        errors += _one_of(hook, "reinvocationPolicy", ("IfNeeded", "Never"), path)
    errors += validate_webhook_client(
        hook.get("clientConfig") or {}, f"{path}.clientConfig"
    )
    return errors + validate_match_conditions(
        hook.get("matchConditions") or (), f"{path}.matchConditions"
    )


def _one_of(
    hook: Object, key: str, values: tuple[str, ...], path: str
) -> list[FieldError]:
    value = hook.get(key)
    return (
        []
        if value is None or value in values
        else [not_supported(f"{path}.{key}", value, values)]
    )


def _qualified(name: str, path: str) -> list[FieldError]:
    """A name of at least three segments. Upstream: `IsFullyQualifiedName`."""
    if not name:
        return [required(path)]
    if messages := content.dns1123_subdomain(name):
        return [invalid(path, name, ",".join(messages))]
    if name.count(".") < 2:
        return [
            invalid(
                path,
                name,
                "should be a domain with at least three segments separated by dots",
            )
        ]
    return []


def _review_versions(versions: list[str], path: str) -> list[FieldError]:
    if not versions:
        return [required(path, "must specify one of v1, v1beta1")]
    errors: list[FieldError] = []
    for index, version in enumerate(versions):
        if version in versions[:index]:
            errors.append(invalid(f"{path}[{index}]", version, "duplicate version"))
        errors += [
            invalid(f"{path}[{index}]", version, why)
            for why in content.dns1035_label(version)
        ]
    if not set(versions) & set(REVIEW_VERSIONS):
        errors.append(
            invalid(path, versions, "must include at least one of v1, v1beta1")
        )
    return errors


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
    errors += _resources(rule.get("resources") or [], f"{path}.resources")
    scope = rule.get("scope")
    if scope is not None and scope not in SCOPES:
        errors.append(not_supported(f"{path}.scope", scope, SCOPES))
    return errors


def _resources(resources: list[str], path: str) -> list[FieldError]:
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


def validate_match_conditions(
    conditions: Iterable[Object], path: str, *, params: bool = False
) -> list[FieldError]:
    """`matchConditions`: named expressions that say yes or no."""
    found = list(conditions)
    errors: list[FieldError] = []
    if len(found) > MAX_CONDITIONS:
        errors.append(too_many(path, len(found), MAX_CONDITIONS))
    names: set[str] = set()
    for index, condition in enumerate(found):
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
