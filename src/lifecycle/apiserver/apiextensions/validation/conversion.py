"""How a definition's versions become one another.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`
(`validateCustomResourceConversion`, `validateConversionReviewVersions`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.rest.enum import validate_required_enum
from lifecycle.apiserver.registry.rest.webhook_clients import (
    validate_review_versions,
    validate_webhook_client,
)


def validate_conversion(conversion: Object | None) -> list[FieldError]:
    """`spec.conversion`: a webhook is described completely, or not at all."""
    if conversion is None:
        return []
    strategy, webhook = conversion.get("strategy", ""), conversion.get("webhook")
    here = "spec.conversion"
    errors: list[FieldError] = []
    errors += validate_required_enum(
        f"{here}.strategy", strategy, ("None", "Webhook"), plain=True
    )
    config = (webhook or {}).get("clientConfig")
    versions = (webhook or {}).get("conversionReviewVersions") or []
    if strategy != "Webhook":
        if config is not None:
            why = "should not be set when strategy is not set to Webhook"
            errors.append(forbidden(f"{here}.webhookClientConfig", why))
        if versions:
            why = "should not be set when strategy is not set to Webhook"
            errors.append(forbidden(f"{here}.conversionReviewVersions", why))
        return errors
    if config is None:
        errors.append(
            required(
                f"{here}.webhookClientConfig",
                "required when strategy is set to Webhook",
            )
        )
    else:
        errors += validate_webhook_client(config, f"{here}.webhookClientConfig")
    if not versions:
        errors.append(required(f"{here}.conversionReviewVersions"))
        return errors
    return errors + validate_review_versions(
        versions, f"{here}.conversionReviewVersions"
    )
