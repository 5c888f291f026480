"""`batch`: pods that end.

Upstream: `pkg/registry/batch`, `pkg/apis/batch`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
