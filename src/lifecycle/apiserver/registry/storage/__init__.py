"""`storage.k8s.io`: classes of volumes, and their drivers.

Upstream: `pkg/registry/storage`, `pkg/apis/storage`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
