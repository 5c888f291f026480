"""`node.k8s.io`: how nodes run containers.

Upstream: `pkg/registry/node`, `pkg/apis/node`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
