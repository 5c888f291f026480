"""`flowcontrol.apiserver.k8s.io`: whose requests go first, and who has to wait.

Upstream: `pkg/registry/flowcontrol`, `pkg/apis/flowcontrol`, v1.36.
"""

from lifecycle.apiserver.registry.flowcontrol import (
    flow_schema,
    priority_level_configuration,
)

_V1 = "flowcontrol.apiserver.k8s.io/v1"

STRATEGIES = {
    (_V1, "FlowSchema"): flow_schema.STRATEGY,
    (_V1, "PriorityLevelConfiguration"): priority_level_configuration.STRATEGY,
}
