"""`rbac.authorization.k8s.io`: roles, and who has them.

Upstream: `pkg/registry/rbac`, `pkg/apis/rbac`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
