"""The core group, `v1`: pods, and what they stand on.

Upstream: `pkg/registry/core`, `pkg/apis/core`, v1.36.
"""

from lifecycle.apiserver.registry.core import (
    component_status,
    config_map,
    endpoints,
    event,
    namespace,
    service_account,
)
from lifecycle.apiserver.registry.core.secret import strategy as secret
from lifecycle.apiserver.registry.core.service import strategy as service

STRATEGIES = {
    ("v1", "ComponentStatus"): component_status.STRATEGY,
    ("v1", "ConfigMap"): config_map.STRATEGY,
    ("v1", "Endpoints"): endpoints.STRATEGY,
    ("v1", "Event"): event.STRATEGY,
    ("v1", "Namespace"): namespace.STRATEGY,
    ("v1", "Secret"): secret.STRATEGY,
    ("v1", "Service"): service.STRATEGY,
    ("v1", "ServiceAccount"): service_account.STRATEGY,
}
