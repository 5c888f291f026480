"""`admissionregistration.k8s.io`: webhooks and policies that admission asks.

Upstream: `pkg/registry/admissionregistration`, `pkg/apis/admissionregistration`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
