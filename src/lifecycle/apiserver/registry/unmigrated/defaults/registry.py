"""Defaulters of kinds that have no home of their own yet.

Upstream: `pkg/apis/*/v1/defaults.go`, wired by `zz_generated.defaults.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.unmigrated.defaults import (
    cluster,
    devices,
    workloads,
)

DEFAULTERS: dict[tuple[str, str], Callable[[Object], None]] = {
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
    ("resource.k8s.io/v1", "ResourceClaim"): devices.set_resource_claim_defaults,
    (
        "resource.k8s.io/v1",
        "ResourceClaimTemplate",
    ): devices.set_resource_claim_template_defaults,
    ("resource.k8s.io/v1", "ResourceSlice"): devices.set_resource_slice_defaults,
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
