"""`scheduling.k8s.io`: which pod goes first.

Upstream: `pkg/registry/scheduling`, `pkg/apis/scheduling`, v1.36.
"""

from lifecycle.apiserver.registry.scheduling import priority_class

STRATEGIES = {("scheduling.k8s.io/v1", "PriorityClass"): priority_class.STRATEGY}
