"""`policy`: what may be done to pods by others than their owners.

Upstream: `pkg/registry/policy`, `pkg/apis/policy`, v1.36.
"""

from lifecycle.apiserver.registry.policy import pod_disruption_budget

STRATEGIES = {("policy/v1", "PodDisruptionBudget"): pod_disruption_budget.STRATEGY}
