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
    devices,
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
    ("batch/v1", "Job"): workloads.set_job_defaults,
    ("batch/v1", "CronJob"): workloads.set_cron_job_defaults,
    (
        "autoscaling/v1",
        "HorizontalPodAutoscaler",
    ): workloads.set_horizontal_pod_autoscaler_v1_defaults,
    (
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
    ): workloads.set_horizontal_pod_autoscaler_defaults,
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): cluster.set_binding_defaults,
    (
        "rbac.authorization.k8s.io/v1",
        "ClusterRoleBinding",
    ): cluster.set_binding_defaults,
    ("networking.k8s.io/v1", "IngressClass"): cluster.set_ingress_class_defaults,
    ("networking.k8s.io/v1", "NetworkPolicy"): cluster.set_network_policy_defaults,
    ("storage.k8s.io/v1", "StorageClass"): cluster.set_storage_class_defaults,
    ("storage.k8s.io/v1", "CSIDriver"): cluster.set_csi_driver_defaults,
    ("storage.k8s.io/v1", "VolumeAttachment"): core.set_volume_attachment_defaults,
    ("resource.k8s.io/v1", "ResourceClaim"): devices.set_resource_claim_defaults,
    (
        "resource.k8s.io/v1",
        "ResourceClaimTemplate",
    ): devices.set_resource_claim_template_defaults,
    ("resource.k8s.io/v1", "ResourceSlice"): devices.set_resource_slice_defaults,
    ("discovery.k8s.io/v1", "EndpointSlice"): cluster.set_endpoint_slice_defaults,
    ("scheduling.k8s.io/v1", "PriorityClass"): cluster.set_priority_class_defaults,
    (
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
    ): cluster.set_webhook_configuration_defaults,
    (
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
    ): cluster.set_webhook_configuration_defaults,
    (
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicy",
    ): cluster.set_admission_policy_defaults,
    (
        "admissionregistration.k8s.io/v1",
        "MutatingAdmissionPolicy",
    ): cluster.set_admission_policy_defaults,
    (
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicyBinding",
    ): cluster.set_admission_policy_binding_defaults,
    (
        "admissionregistration.k8s.io/v1",
        "MutatingAdmissionPolicyBinding",
    ): cluster.set_admission_policy_binding_defaults,
    (
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
    ): cluster.set_custom_resource_definition_defaults,
    ("apiregistration.k8s.io/v1", "APIService"): cluster.set_api_service_defaults,
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema"): cluster.set_flow_schema_defaults,
    (
        "flowcontrol.apiserver.k8s.io/v1",
        "PriorityLevelConfiguration",
    ): cluster.set_priority_level_defaults,
    ("authentication.k8s.io/v1", "TokenRequest"): cluster.set_token_request_defaults,
}
