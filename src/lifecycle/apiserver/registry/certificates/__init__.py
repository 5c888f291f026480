"""`certificates.k8s.io`: requests for certificates.

Upstream: `pkg/registry/certificates`, `pkg/apis/certificates`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
