"""The core group, `v1`: pods, and what they stand on.

Upstream: `pkg/registry/core`, `pkg/apis/core`, v1.36.
"""

from lifecycle.apiserver.registry.core import (
    binding,
    component_status,
    config_map,
    endpoints,
    event,
    limit_range,
    namespace,
    node,
    persistent_volume_claim,
    pod_template,
    replication_controller,
    resource_quota,
    service_account,
)
from lifecycle.apiserver.registry.core.persistent_volume import (
    strategy as persistent_volume,
)
from lifecycle.apiserver.registry.core.pod import strategy as pod
from lifecycle.apiserver.registry.core.secret import strategy as secret
from lifecycle.apiserver.registry.core.service import strategy as service

STRATEGIES = {
    ("v1", "Binding"): binding.STRATEGY,
    ("v1", "ComponentStatus"): component_status.STRATEGY,
    ("v1", "ConfigMap"): config_map.STRATEGY,
    ("v1", "Endpoints"): endpoints.STRATEGY,
    ("v1", "Event"): event.STRATEGY,
    ("v1", "LimitRange"): limit_range.STRATEGY,
    ("v1", "Namespace"): namespace.STRATEGY,
    ("v1", "Node"): node.STRATEGY,
    ("v1", "PersistentVolume"): persistent_volume.STRATEGY,
    ("v1", "PersistentVolumeClaim"): persistent_volume_claim.STRATEGY,
    ("v1", "Pod"): pod.STRATEGY,
    ("v1", "PodTemplate"): pod_template.STRATEGY,
    ("v1", "ReplicationController"): replication_controller.STRATEGY,
    ("v1", "ResourceQuota"): resource_quota.STRATEGY,
    ("v1", "Secret"): secret.STRATEGY,
    ("v1", "Service"): service.STRATEGY,
    ("v1", "ServiceAccount"): service_account.STRATEGY,
}
