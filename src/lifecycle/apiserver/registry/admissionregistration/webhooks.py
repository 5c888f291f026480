"""Webhooks, as both kinds of configuration have them.

Upstream: `pkg/apis/admissionregistration/v1/defaults.go`,
`pkg/apis/admissionregistration/validation/validation.go`
(`validateValidatingWebhookConfiguration`, `validateMutatingWebhookConfiguration`),
`pkg/printers/internalversion/printers.go` (`printMutatingWebhook`), v1.36; for
`v1beta1`, which took more, the same files and
`pkg/apis/admissionregistration/v1beta1/defaults.go`, v1.20.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
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
    REVIEW_VERSIONS,
    set_service_reference_defaults,
    validate_review_versions,
    validate_webhook_client,
)

# --- defaults -------------------------------------------------------------------------


_DEFAULTS: Object = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "timeoutSeconds": 10,
}
_DEFAULTS_V1BETA1: Object = {
    "failurePolicy": "Ignore",
    "matchPolicy": "Exact",
    "timeoutSeconds": 30,
    "sideEffects": "Unknown",
}


def set_webhook_defaults(configuration: Object, *, mutating: bool) -> None:
    """Fail closed, match equivalent requests, every namespace and object, ten
    seconds.
    """
    for webhook in configuration.get("webhooks") or ():
        _set_defaults(webhook, _DEFAULTS, mutating=mutating)


def set_webhook_defaults_v1beta1(configuration: Object, *, mutating: bool) -> None:
    """Fail open, match what is named, half a minute; what a webhook does elsewhere is
    not known, and it reads reviews of its own age.
    """
    for webhook in configuration.get("webhooks") or ():
        _set_defaults(webhook, _DEFAULTS_V1BETA1, mutating=mutating)
        if not webhook.get("admissionReviewVersions"):
            webhook["admissionReviewVersions"] = ["v1beta1"]


def _set_defaults(webhook: Object, defaults: Object, *, mutating: bool) -> None:
    set_service_reference_defaults(webhook.get("clientConfig"))
    set_default(webhook, "failurePolicy", defaults["failurePolicy"])
    set_default(webhook, "matchPolicy", defaults["matchPolicy"])
    set_default(webhook, "namespaceSelector", {})
    set_default(webhook, "objectSelector", {})
    for key in ("timeoutSeconds", "sideEffects"):
        if key in defaults:
            set_default(webhook, key, defaults[key])
    if mutating:
        set_default(webhook, "reinvocationPolicy", "Never")
    for rule in webhook.get("rules") or ():
        set_default(rule, "scope", "*")


# --- validation -----------------------------------------------------------------------


_NO_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_SIDE_EFFECTS = ("None", "NoneOnDryRun", "Some", "Unknown")


@dataclass(frozen=True, slots=True)
class ValidationOptions:
    """What is asked of new webhooks today, and was not asked once. Upstream:
    `validationOptions`.
    """

    require_no_side_effects: bool = True
    require_recognized_review_version: bool = True
    require_unique_names: bool = True

    def on_update(self, old: Object) -> ValidationOptions:
        """What is stored already may stay as it is."""
        hooks = old.get("webhooks") or ()
        names = [hook.get("name") for hook in hooks]
        versions = [hook.get("admissionReviewVersions") or () for hook in hooks]
        return ValidationOptions(
            self.require_no_side_effects
            and all(hook.get("sideEffects") in _NO_SIDE_EFFECTS for hook in hooks),
            self.require_recognized_review_version
            and all(not each or set(each) & set(REVIEW_VERSIONS) for each in versions),
            self.require_unique_names and len(set(names)) == len(names),
        )


STRICT = ValidationOptions()
V1BETA1 = ValidationOptions(require_no_side_effects=False, require_unique_names=False)


def validate_webhook_configuration(
    configuration: Object, *, mutating: bool, options: ValidationOptions = STRICT
) -> list[FieldError]:
    """All errors of a configuration."""
    errors = validate_object_meta(
        configuration.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    names: set[str] = set()
    for index, hook in enumerate(configuration.get("webhooks") or ()):
        path = f"webhooks[{index}]"
        errors += _validate_webhook(hook, path, options, mutating=mutating)
        errors += _validate_review_versions(
            hook.get("admissionReviewVersions") or [],
            f"{path}.admissionReviewVersions",
            options,
        )
        name = hook.get("name") or ""
        if options.require_unique_names and name and name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.add(name)
    return errors


def _validate_webhook(
    hook: Object, path: str, options: ValidationOptions, *, mutating: bool
) -> list[FieldError]:
    errors = _validate_fully_qualified_name(hook.get("name") or "", f"{path}.name")
    for index, rule in enumerate(hook.get("rules") or ()):
        errors += validate_rule(rule, f"{path}.rules[{index}]")
    errors += _validate_one_of(hook, "failurePolicy", ("Fail", "Ignore"), path)
    errors += _validate_one_of(hook, "matchPolicy", ("Equivalent", "Exact"), path)
    allowed = _NO_SIDE_EFFECTS if options.require_no_side_effects else _SIDE_EFFECTS
    if hook.get("sideEffects") is None:
        why = f"must specify one of {', '.join(allowed)}"
        errors.append(required(f"{path}.sideEffects", why))
    errors += _validate_one_of(hook, "sideEffects", allowed, path)
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


def _validate_review_versions(
    versions: list[str], path: str, options: ValidationOptions
) -> list[FieldError]:
    if not versions:
        return [required(path, "must specify one of v1, v1beta1")]
    recognized = options.require_recognized_review_version
    return validate_review_versions(versions, path, recognized=recognized)


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

    validate = partial(validate_webhook_configuration, mutating=mutating)

    def rules(options: ValidationOptions) -> Strategy:
        return Strategy(
            generation=Generation.EXACT_CONTENT,
            validate=partial(validate, options=options),
            allow_unconditional_update=False,
            validate_update=lambda new, old: validate(
                new, options=options.on_update(old)
            ),
            printer=PRINTER,
        )

    v1beta1 = replace(
        rules(V1BETA1),
        set_defaults=partial(set_webhook_defaults_v1beta1, mutating=mutating),
    )
    return replace(
        rules(STRICT),
        set_defaults=partial(set_webhook_defaults, mutating=mutating),
        earlier={"admissionregistration.k8s.io/v1beta1": v1beta1},
    )
