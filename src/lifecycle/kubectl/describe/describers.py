"""Which kind has which describer.

Upstream: `kubectl/pkg/describe/describe.go` (`describerMap`, `Describer`), v1.36.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lifecycle.api.resources import Resource
from lifecycle.kubectl.describe import (
    autoscaling,
    certificates,
    configuration,
    endpoints,
    ingresses,
    jobs,
    namespaces,
    network_addresses,
    network_policies,
    nodes,
    pods,
    rbac,
    scheduling,
    services,
    storage,
    workloads,
)
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.generic import describe_anything

Describer = Callable[[Clientset, str, str], Awaitable[str]]
"""Takes the client, a namespace and a name. Raises StatusError."""

_RBAC, _NETWORKING = "rbac.authorization.k8s.io", "networking.k8s.io"
_STORAGE = "storage.k8s.io"
DESCRIBERS: dict[tuple[str, str], Describer] = {
    ("", "ConfigMap"): configuration.describe_config_map,
    ("", "Endpoints"): endpoints.describe_endpoints,
    ("", "LimitRange"): namespaces.describe_limit_range,
    ("", "Namespace"): namespaces.describe_namespace,
    ("", "Node"): nodes.describe_node,
    ("", "PersistentVolume"): storage.describe_persistent_volume,
    ("", "PersistentVolumeClaim"): storage.describe_persistent_volume_claim,
    ("", "Pod"): pods.describe_pod,
    ("", "ReplicationController"): workloads.describe_replication_controller,
    ("", "ResourceQuota"): namespaces.describe_quota,
    ("", "Secret"): configuration.describe_secret,
    ("", "Service"): services.describe_service,
    ("", "ServiceAccount"): configuration.describe_service_account,
    ("apps", "DaemonSet"): workloads.describe_daemon_set,
    ("apps", "Deployment"): workloads.describe_deployment,
    ("apps", "ReplicaSet"): workloads.describe_replica_set,
    ("apps", "StatefulSet"): workloads.describe_stateful_set,
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
    ): autoscaling.describe_horizontal_pod_autoscaler,
    ("batch", "CronJob"): jobs.describe_cron_job,
    ("batch", "Job"): jobs.describe_job,
    (
        "certificates.k8s.io",
        "CertificateSigningRequest",
    ): certificates.describe_certificate_signing_request,
    ("discovery.k8s.io", "EndpointSlice"): endpoints.describe_endpoint_slice,
    (_NETWORKING, "IPAddress"): network_addresses.describe_ip_address,
    (_NETWORKING, "Ingress"): ingresses.describe_ingress,
    (_NETWORKING, "IngressClass"): ingresses.describe_ingress_class,
    (_NETWORKING, "NetworkPolicy"): network_policies.describe_network_policy,
    (_NETWORKING, "ServiceCIDR"): network_addresses.describe_service_cidr,
    ("policy", "PodDisruptionBudget"): scheduling.describe_pod_disruption_budget,
    (_RBAC, "ClusterRole"): rbac.describe_cluster_role,
    (_RBAC, "ClusterRoleBinding"): rbac.describe_cluster_role_binding,
    (_RBAC, "Role"): rbac.describe_role,
    (_RBAC, "RoleBinding"): rbac.describe_role_binding,
    ("scheduling.k8s.io", "PriorityClass"): scheduling.describe_priority_class,
    (_STORAGE, "CSINode"): storage.describe_csi_node,
    (_STORAGE, "StorageClass"): storage.describe_storage_class,
    (_STORAGE, "VolumeAttributesClass"): storage.describe_volume_attributes_class,
}


async def describe_object(
    client: Clientset, resource: Resource, namespace: str, name: str
) -> str:
    """The description of one object: by its kind's describer, or by the one for
    everything else. Raises StatusError.
    """
    describer = DESCRIBERS.get((resource.group, resource.kind))
    if describer is None:
        return await describe_anything(client, resource, namespace, name)
    return await describer(client, namespace, name)
