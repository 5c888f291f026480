"""`flowcontrol.apiserver.k8s.io`: whose requests wait for whom.

Upstream: `pkg/registry/flowcontrol`, `pkg/apis/flowcontrol`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
