"""ValidatingWebhookConfigurations: who may refuse what is written.

Upstream:
`pkg/registry/admissionregistration/validatingwebhookconfiguration/strategy.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.apiserver.registry.admissionregistration.webhooks import (
    webhook_configuration_strategy,
)

STRATEGY = webhook_configuration_strategy(mutating=False)
