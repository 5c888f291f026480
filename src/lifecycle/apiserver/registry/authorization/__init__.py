"""`authorization.k8s.io`: may they? (asked, never stored).

Upstream: `pkg/registry/authorization`, `pkg/apis/authorization`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
