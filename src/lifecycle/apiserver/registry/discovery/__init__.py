"""`discovery.k8s.io`: where the pods of a Service are.

Upstream: `pkg/registry/discovery`, `pkg/apis/discovery`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
