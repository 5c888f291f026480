"""`authentication.k8s.io`: who is it? (asked, never stored).

Upstream: `pkg/registry/authentication`, `pkg/apis/authentication`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
