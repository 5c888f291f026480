"""`coordination.k8s.io`: who is in charge, and who is alive.

Upstream: `pkg/registry/coordination`, `pkg/apis/coordination`, v1.36.
"""

from lifecycle.apiserver.registry.coordination import lease

STRATEGIES = {("coordination.k8s.io/v1", "Lease"): lease.STRATEGY}
