"""`apps`: the controllers of pods.

Upstream: `pkg/registry/apps`, `pkg/apis/apps`, v1.36.
"""

from lifecycle.apiserver.registry.apps import deployment

STRATEGIES = {("apps/v1", "Deployment"): deployment.STRATEGY}
