"""`events.k8s.io`: what happened, in its newer form.

Upstream: `pkg/registry/events`, `pkg/apis/events`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
