"""`networking.k8s.io`: what leads to Services, and what may not.

Upstream: `pkg/registry/networking`, `pkg/apis/networking`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
