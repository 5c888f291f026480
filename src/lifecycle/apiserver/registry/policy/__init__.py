"""`policy`: what disruptions must leave alone.

Upstream: `pkg/registry/policy`, `pkg/apis/policy`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
