"""Defaulters of kinds that have no home of their own yet.

Upstream: `pkg/apis/*/v1/defaults.go`, wired by `zz_generated.defaults.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.defaults import pods
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.unmigrated.defaults import (
    cluster,
    core,
    workloads,
)

DEFAULTERS: dict[tuple[str, str], Callable[[Object], None]] = {
    ("v1", "Pod"): pods.set_pod_defaults,
    ("v1", "PodTemplate"): core.set_pod_template_object_defaults,
    ("v1", "ReplicationController"): core.set_replication_controller_defaults,
    ("v1", "Service"): core.set_service_defaults,
    ("v1", "Secret"): core.set_secret_defaults,
    ("v1", "Endpoints"): core.set_endpoints_defaults,
    ("v1", "PersistentVolume"): core.set_persistent_volume_defaults,
    ("v1", "PersistentVolumeClaim"): core.set_persistent_volume_claim_defaults,
    ("v1", "Namespace"): core.set_namespace_defaults,
    ("v1", "Node"): core.set_node_defaults,
    ("v1", "LimitRange"): core.set_limit_range_defaults,
    ("v1", "ResourceQuota"): core.set_resource_quota_defaults,
    ("apps/v1", "ReplicaSet"): workloads.set_replica_set_defaults,
    ("apps/v1", "DaemonSet"): workloads.set_daemon_set_defaults,
    ("apps/v1", "StatefulSet"): workloads.set_stateful_set_defaults,
    ("networking.k8s.io/v1", "IngressClass"): cluster.set_ingress_class_defaults,
    ("networking.k8s.io/v1", "NetworkPolicy"): cluster.set_network_policy_defaults,
    ("storage.k8s.io/v1", "StorageClass"): cluster.set_storage_class_defaults,
    ("storage.k8s.io/v1", "CSIDriver"): cluster.set_csi_driver_defaults,
    ("storage.k8s.io/v1", "VolumeAttachment"): core.set_volume_attachment_defaults,
    ("discovery.k8s.io/v1", "EndpointSlice"): cluster.set_endpoint_slice_defaults,
}
