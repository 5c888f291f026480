"""`apps`: the controllers of pods.

Upstream: `pkg/registry/apps`, `pkg/apis/apps`, v1.36.
"""

from lifecycle.apiserver.registry.apps import (
    controller_revision,
    daemon_set,
    deployment,
    replica_set,
    stateful_set,
)

STRATEGIES = {
    ("apps/v1", "ControllerRevision"): controller_revision.STRATEGY,
    ("apps/v1", "DaemonSet"): daemon_set.STRATEGY,
    ("apps/v1", "Deployment"): deployment.STRATEGY,
    ("apps/v1", "ReplicaSet"): replica_set.STRATEGY,
    ("apps/v1", "StatefulSet"): stateful_set.STRATEGY,
}
