"""`events.k8s.io`: what happened, in its newer form.

Upstream: `pkg/registry/events`, `pkg/apis/events`, v1.36.
"""

from lifecycle.apiserver.registry.events import event

STRATEGIES = {
    ("events.k8s.io/v1", "Event"): event.STRATEGY,
}
