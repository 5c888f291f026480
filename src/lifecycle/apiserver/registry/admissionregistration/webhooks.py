"""Webhooks, as both kinds of configuration have them.

Upstream: `pkg/apis/admissionregistration/v1/defaults.go`,
`pkg/apis/admissionregistration/validation/validation.go`
(`validateValidatingWebhookConfiguration`, `validateMutatingWebhookConfiguration`),
`pkg/printers/internalversion/printers.go` (`printMutatingWebhook`), v1.36.
"""

from __future__ import annotations

from functools import partial

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.admissionregistration.match_criteria import (
    validate_match_conditions,
    validate_rule,
)
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
)
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.label_selectors import validate_label_selector
from lifecycle.apiserver.registry.rest.object_meta import validate_object_meta
from lifecycle.apiserver.registry.rest.strategy import Strategy
from lifecycle.apiserver.registry.rest.webhook_clients import (
    set_service_reference_defaults,
    validate_review_versions,
    validate_webhook_client,
)

# --- defaults -------------------------------------------------------------------------


def set_webhook_defaults(configuration: Object, *, mutating: bool) -> None:
    """Fail closed, match equivalent requests, every namespace and object, ten
    seconds.
    """
    for webhook in configuration.get("webhooks") or ():
        set_service_reference_defaults(webhook.get("clientConfig"))
        set_default(webhook, "failurePolicy", "Fail")
        set_default(webhook, "matchPolicy", "Equivalent")
        set_default(webhook, "namespaceSelector", {})
        set_default(webhook, "objectSelector", {})
        set_default(webhook, "timeoutSeconds", 10)
        if mutating:
            set_default(webhook, "reinvocationPolicy", "Never")
        for rule in webhook.get("rules") or ():
            set_default(rule, "scope", "*")


# --- validation -----------------------------------------------------------------------


def validate_webhook_configuration(
    configuration: Object, *, mutating: bool
) -> list[FieldError]:
    """All errors of a configuration."""
    errors = validate_object_meta(
        configuration.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    names: set[str] = set()
    for index, hook in enumerate(configuration.get("webhooks") or ()):
        path = f"webhooks[{index}]"
        errors += _validate_webhook(hook, path, mutating=mutating)
        errors += _validate_review_versions(
            hook.get("admissionReviewVersions") or [], f"{path}.admissionReviewVersions"
        )
        name = hook.get("name") or ""
        if name and name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.add(name)
    return errors


def _validate_webhook(hook: Object, path: str, *, mutating: bool) -> list[FieldError]:
    errors = _validate_fully_qualified_name(hook.get("name") or "", f"{path}.name")
    for index, rule in enumerate(hook.get("rules") or ()):
        errors += validate_rule(rule, f"{path}.rules[{index}]")
    errors += _validate_one_of(hook, "failurePolicy", ("Fail", "Ignore"), path)
    errors += _validate_one_of(hook, "matchPolicy", ("Equivalent", "Exact"), path)
    effects = hook.get("sideEffects")
    if effects is None:
        errors.append(
            required(f"{path}.sideEffects", "must specify one of None, NoneOnDryRun")
        )
    errors += _validate_one_of(hook, "sideEffects", ("None", "NoneOnDryRun"), path)
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
        errors += _validate_one_of(
            hook, "reinvocationPolicy", ("IfNeeded", "Never"), path
        )
    errors += validate_webhook_client(
        hook.get("clientConfig") or {}, f"{path}.clientConfig"
    )
    return errors + validate_match_conditions(
        hook.get("matchConditions") or (), f"{path}.matchConditions"
    )


def _validate_one_of(
    hook: Object, key: str, values: tuple[str, ...], path: str
) -> list[FieldError]:
    value = hook.get(key)
    return (
        []
        if value is None or value in values
        else [not_supported(f"{path}.{key}", value, values)]
    )


def _validate_fully_qualified_name(name: str, path: str) -> list[FieldError]:
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


def _validate_review_versions(versions: list[str], path: str) -> list[FieldError]:
    if not versions:
        return [required(path, "must specify one of v1, v1beta1")]
    return validate_review_versions(versions, path)


# --- table ----------------------------------------------------------------------------


def print_webhook_configuration(obj: Object, now: float) -> Cells:
    """The cells of `kubectl get mutatingwebhookconfigurations` and the like."""
    return [obj["metadata"]["name"], len(obj.get("webhooks") or ()), age(obj, now)]


PRINTER = Printer(
    (
        NAME,
        Column(
            "Webhooks",
            "Webhooks indicates the number of webhooks registered in this"
            " configuration",
            "integer",
        ),
        AGE,
    ),
    print_webhook_configuration,
)


def webhook_configuration_strategy(*, mutating: bool) -> Strategy:
    """The rules of the two kinds, which differ in what a webhook may do."""

    def validate(configuration: Object) -> list[FieldError]:
        return validate_webhook_configuration(configuration, mutating=mutating)

    def validate_update(new: Object, old: Object) -> list[FieldError]:
        return validate(new)

    return Strategy(
        set_defaults=partial(set_webhook_defaults, mutating=mutating),
        generation=Generation.EXACT_CONTENT,
        validate=validate,
        allow_unconditional_update=False,
        validate_update=validate_update,
        printer=PRINTER,
    )
