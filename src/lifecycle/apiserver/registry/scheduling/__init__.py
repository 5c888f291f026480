"""`scheduling.k8s.io`: which pods are more important.

Upstream: `pkg/registry/scheduling`, `pkg/apis/scheduling`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
