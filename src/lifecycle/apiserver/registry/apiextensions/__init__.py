"""`apiextensions.k8s.io`: kinds that users define.

Upstream: `apiextensions-apiserver/pkg/{registry,apis}`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
