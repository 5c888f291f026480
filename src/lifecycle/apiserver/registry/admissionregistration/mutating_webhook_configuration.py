"""MutatingWebhookConfigurations: who may change what is written.

Upstream: `pkg/registry/admissionregistration/mutatingwebhookconfiguration/strategy.go`,
v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.admissionregistration.webhooks import (
    PRINTER,
    set_webhook_defaults,
    validate_webhook_configuration,
)
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.strategy import Strategy


def set_defaults(configuration: Object) -> None:
    """Of each webhook."""
    set_webhook_defaults(configuration, mutating=True)


def validate(configuration: Object) -> list[FieldError]:
    """A new configuration."""
    return validate_webhook_configuration(configuration, mutating=True)


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The same."""
    return validate(new)


STRATEGY = Strategy(
    set_defaults=set_defaults,
    generation=Generation.CONTENT,
    validate=validate,
    allow_unconditional_update=False,
    validate_update=validate_update,
    printer=PRINTER,
)
