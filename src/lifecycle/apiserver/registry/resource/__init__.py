"""`resource.k8s.io`: devices, and claims to them.

Upstream: `pkg/registry/resource`, `pkg/apis/resource`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
