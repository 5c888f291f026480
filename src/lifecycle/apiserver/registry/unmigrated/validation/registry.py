"""Which rule judges which kind.

Upstream: the `Validate` and `ValidateUpdate` methods of `pkg/registry/*/*/strategy.go`;
for kinds without rules of their own, `apiserver/pkg/registry/rest/{create,update}.go`,
v1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.field_errors import FieldError
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta_update,
    validate_object_meta,
)
from lifecycle.apiserver.registry.unmigrated.validation import (
    api_services,
    certificates,
    cluster_limits,
    configuration,
    events,
    extensions,
    flow_control,
    ip_addresses,
    jobs,
    networking,
    persistent_volume_claims,
    persistent_volumes,
    pods,
    policies,
    rbac,
    services,
    storage_drivers,
    workloads,
)

Create = Callable[[Object], list[FieldError]]
Update = Callable[[Object, Object], list[FieldError]]

_RBAC = "rbac.authorization.k8s.io/v1"
_NETWORKING = "networking.k8s.io/v1"
_STORAGE = "storage.k8s.io/v1"
_ADMISSION = "admissionregistration.k8s.io/v1"
_FLOW_CONTROL = "flowcontrol.apiserver.k8s.io/v1"


def _metadata_update(new: Object, old: Object) -> list[FieldError]:
    return validate_core_object_meta_update(new["metadata"], old["metadata"])


_ADMISSION_KINDS = (
    *("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"),
    *("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"),
    *("ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicyBinding"),
)
"""Only their metadata is judged here: the rest needs the CEL compiler, so the server's
`Registration` does it.
"""


def _validate_subdomain_named(obj: Object) -> list[FieldError]:
    return validate_object_meta(
        obj.get("metadata") or {}, False, content.name_is_dns_subdomain
    )


def _validate_subdomain_named_update(new: Object, old: Object) -> list[FieldError]:
    return _validate_subdomain_named(new)


RULES: dict[tuple[str, str], tuple[Create, Update]] = {
    ("v1", "Pod"): (pods.validate_pod_create, pods.validate_pod_update),
    ("v1", "PodTemplate"): (
        workloads.validate_pod_template,
        lambda new, old: (
            _metadata_update(new, old) + workloads.validate_pod_template(new)
        ),
    ),
    ("v1", "ReplicationController"): (
        workloads.validate_replication_controller,
        workloads.validate_replication_controller_update,
    ),
    ("v1", "Service"): (services.validate_service, services.validate_service_update),
    ("v1", "Endpoints"): (
        services.validate_endpoints,
        services.validate_endpoints_update,
    ),
    ("v1", "Event"): (events.validate_core_event, events.validate_core_event_update),
    ("events.k8s.io/v1", "Event"): (
        events.validate_event,
        events.validate_event_update,
    ),
    ("v1", "ConfigMap"): (
        configuration.validate_config_map,
        configuration.validate_config_map_update,
    ),
    ("v1", "Secret"): (
        configuration.validate_secret,
        configuration.validate_secret_update,
    ),
    ("v1", "ServiceAccount"): (
        configuration.validate_service_account,
        configuration.validate_service_account_update,
    ),
    ("v1", "Namespace"): (cluster_limits.validate_namespace, _metadata_update),
    ("v1", "Node"): (cluster_limits.validate_node, cluster_limits.validate_node_update),
    ("v1", "LimitRange"): (
        cluster_limits.validate_limit_range,
        lambda new, old: cluster_limits.validate_limit_range(new),
    ),
    ("v1", "ResourceQuota"): (
        cluster_limits.validate_resource_quota,
        cluster_limits.validate_resource_quota_update,
    ),
    ("v1", "PersistentVolume"): (
        persistent_volumes.validate_volume,
        persistent_volumes.validate_volume_update,
    ),
    ("v1", "PersistentVolumeClaim"): (
        persistent_volume_claims.validate_claim,
        persistent_volume_claims.validate_claim_update,
    ),
    ("apps/v1", "ReplicaSet"): (
        workloads.validate_replica_set,
        workloads.validate_replica_set_update,
    ),
    ("apps/v1", "DaemonSet"): (
        workloads.validate_daemon_set,
        workloads.validate_daemon_set_update,
    ),
    ("apps/v1", "StatefulSet"): (
        workloads.validate_stateful_set,
        workloads.validate_stateful_set_update,
    ),
    ("apps/v1", "ControllerRevision"): (
        workloads.validate_controller_revision,
        workloads.validate_controller_revision_update,
    ),
    ("batch/v1", "Job"): (jobs.validate_job, jobs.validate_job_update),
    ("batch/v1", "CronJob"): (jobs.validate_cron_job, jobs.validate_cron_job_update),
    ("autoscaling/v1", "HorizontalPodAutoscaler"): (
        policies.validate_autoscaler,
        policies.validate_autoscaler_update,
    ),
    ("autoscaling/v2", "HorizontalPodAutoscaler"): (
        policies.validate_autoscaler,
        policies.validate_autoscaler_update,
    ),
    ("policy/v1", "PodDisruptionBudget"): (
        policies.validate_disruption_budget,
        policies.validate_disruption_budget_update,
    ),
    (_RBAC, "Role"): (rbac.validate_role, rbac.validate_role_update),
    (_RBAC, "ClusterRole"): (
        rbac.validate_cluster_role,
        rbac.validate_cluster_role_update,
    ),
    (_RBAC, "RoleBinding"): (
        rbac.validate_role_binding,
        rbac.validate_role_binding_update,
    ),
    (_RBAC, "ClusterRoleBinding"): (
        rbac.validate_cluster_role_binding,
        rbac.validate_cluster_role_binding_update,
    ),
    (_NETWORKING, "Ingress"): (
        networking.validate_ingress_create,
        networking.validate_ingress_update,
    ),
    (_NETWORKING, "IngressClass"): (
        networking.validate_ingress_class,
        networking.validate_ingress_class_update,
    ),
    (_NETWORKING, "NetworkPolicy"): (
        networking.validate_network_policy,
        networking.validate_network_policy_update,
    ),
    (_NETWORKING, "IPAddress"): (
        ip_addresses.validate_ip_address,
        ip_addresses.validate_ip_address_update,
    ),
    (_NETWORKING, "ServiceCIDR"): (networking.validate_service_cidr, _metadata_update),
    ("discovery.k8s.io/v1", "EndpointSlice"): (
        networking.validate_endpoint_slice,
        networking.validate_endpoint_slice_update,
    ),
    ("scheduling.k8s.io/v1", "PriorityClass"): (
        policies.validate_priority_class,
        policies.validate_priority_class_update,
    ),
    (_STORAGE, "StorageClass"): (
        policies.validate_storage_class,
        policies.validate_storage_class_update,
    ),
    (_STORAGE, "CSIDriver"): (
        storage_drivers.validate_csi_driver,
        storage_drivers.validate_csi_driver_update,
    ),
    (_STORAGE, "CSINode"): (
        storage_drivers.validate_csi_node,
        storage_drivers.validate_csi_node_update,
    ),
    (_STORAGE, "VolumeAttachment"): (
        storage_drivers.validate_volume_attachment,
        storage_drivers.validate_volume_attachment_update,
    ),
    (_STORAGE, "CSIStorageCapacity"): (
        storage_drivers.validate_storage_capacity,
        storage_drivers.validate_storage_capacity_update,
    ),
    (_STORAGE, "VolumeAttributesClass"): (
        storage_drivers.validate_volume_attributes_class,
        storage_drivers.validate_volume_attributes_class_update,
    ),
    (_FLOW_CONTROL, "FlowSchema"): (
        flow_control.validate_flow_schema,
        lambda new, old: flow_control.validate_flow_schema(new),
    ),
    (_FLOW_CONTROL, "PriorityLevelConfiguration"): (
        flow_control.validate_priority_level,
        lambda new, old: flow_control.validate_priority_level(new),
    ),
    ("certificates.k8s.io/v1", "CertificateSigningRequest"): (
        certificates.validate_signing_request,
        certificates.validate_signing_request_update,
    ),
    ("apiregistration.k8s.io/v1", "APIService"): (
        api_services.validate_api_service,
        api_services.validate_api_service_update,
    ),
    ("node.k8s.io/v1", "RuntimeClass"): (
        policies.validate_runtime_class,
        policies.validate_runtime_class_update,
    ),
    **{
        (_ADMISSION, kind): (
            _validate_subdomain_named,
            _validate_subdomain_named_update,
        )
        for kind in _ADMISSION_KINDS
    },
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): (
        extensions.validate_custom_resource_definition,
        extensions.validate_custom_resource_definition_update,
    ),
}

SUBRESOURCES: dict[tuple[str, str, str], Update] = {
    (
        "certificates.k8s.io/v1",
        "CertificateSigningRequest",
        "approval",
    ): certificates.validate_signing_request_update,
    (
        "certificates.k8s.io/v1",
        "CertificateSigningRequest",
        "status",
    ): certificates.validate_signing_request_update,
    ("v1", "Pod", "status"): pods.validate_pod_status_update,
    ("v1", "Pod", "ephemeralcontainers"): pods.validate_ephemeral_containers_update,
    ("v1", "Pod", "resize"): pods.validate_pod_resize,
    ("v1", "Service", "status"): services.validate_service_status_update,
    ("v1", "Namespace", "status"): cluster_limits.validate_namespace_status_update,
    ("v1", "Namespace", "finalize"): cluster_limits.validate_namespace_finalize_update,
    ("v1", "Node", "status"): cluster_limits.validate_node_update,
    (
        "v1",
        "ResourceQuota",
        "status",
    ): cluster_limits.validate_resource_quota_status_update,
    ("v1", "ReplicationController", "status"): workloads.validate_replica_status_update,
    ("apps/v1", "ReplicaSet", "status"): workloads.validate_replica_status_update,
    (
        "apiregistration.k8s.io/v1",
        "APIService",
        "status",
    ): api_services.validate_api_service_status_update,
    ("batch/v1", "Job", "status"): jobs.validate_job_status_update,
}

CREATE_ONLY: dict[tuple[str, str], Create] = {
    ("v1", "Binding"): pods.validate_pod_binding
}
