"""ReplicationControllers: what kept pods at a number before there were ReplicaSets.

The work is the ReplicaSet controller's. What differs is the form: a selector is a plain
map of labels, and the status has no room for pods that are on their way out.

Upstream: `pkg/controller/replication/replication_controller.go` (`ReplicationManager`),
`conversion.go` (which dresses each ReplicationController up as a ReplicaSet), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import Selector, selector_from_label_selector
from lifecycle.controllers.replicaset.replica_set_controller import (
    ReplicaSetController,
)


class ReplicationManager(ReplicaSetController):
    """Keeps every ReplicationController at its number of pods."""

    kind = "ReplicationController"
    resource_name = "replicationcontrollers"
    component = "replication-controller"
    status_fields = frozenset(
        {
            "replicas",
            "fullyLabeledReplicas",
            "readyReplicas",
            "availableReplicas",
            "conditions",
        }
    )

    def _selector(self, rs: Object) -> Selector:
        return selector_from_label_selector({"matchLabels": rs["spec"]["selector"]})
