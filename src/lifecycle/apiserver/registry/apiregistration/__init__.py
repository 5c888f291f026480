"""`apiregistration.k8s.io`: groups that other servers serve.

Upstream: `kube-aggregator/pkg/{registry,apis}`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
