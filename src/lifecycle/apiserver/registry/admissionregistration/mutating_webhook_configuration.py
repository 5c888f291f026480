"""MutatingWebhookConfigurations: who may change what is written.

Upstream: `pkg/registry/admissionregistration/mutatingwebhookconfiguration/strategy.go`,
v1.36.
"""

from __future__ import annotations

from lifecycle.apiserver.registry.admissionregistration.webhooks import (
    webhook_configuration_strategy,
)

STRATEGY = webhook_configuration_strategy(mutating=True)
