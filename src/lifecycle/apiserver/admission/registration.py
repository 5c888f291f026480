"""Configurations of admission are checked before they are stored: webhooks that can be
called, policies that compile.

Upstream this is the validation of the six kinds. It needs the CEL compiler, which
belongs to this side of the house, so it runs where every write passes: as the last
mutating step, the moment before the object's own validation.

Upstream: `pkg/apis/admissionregistration/validation/validation.go`, v1.36. Left out:
expressions that were stored by an older version and are let through on an update.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid_object
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.admission.matching import EXEMPT, GROUP
from lifecycle.apiserver.admission.registration_policies import (
    validate_binding,
    validate_policy,
)
from lifecycle.apiserver.admission.registration_webhooks import (
    validate_webhook_configuration,
)


class Registration(Plugin):
    """Looks at webhook configurations, policies and bindings."""

    name = (
        "Registration"  # not one of upstream's plugins, so it comes after all of them
    )
    operations = frozenset({CREATE, UPDATE})
    resources = frozenset((GROUP, plural) for plural in EXEMPT)

    def admit(self, attributes: Attributes) -> None:
        """Raises StatusError 422 with all that is wrong."""
        obj = attributes.obj
        assert obj is not None
        kind = obj["kind"]
        errors: list[FieldError]
        if kind.endswith("WebhookConfiguration"):
            errors = validate_webhook_configuration(obj)
        elif kind.endswith("Binding"):
            errors = validate_binding(obj)
        else:
            errors = validate_policy(obj)
        if errors:
            meta = obj.get("metadata") or {}
            raise invalid_object(
                kind, GROUP, meta.get("name") or meta.get("generateName") or "", errors
            )
