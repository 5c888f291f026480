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
    extensions,
    flow_control,
    jobs,
    policies,
    rbac,
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
    ("scheduling.k8s.io/v1", "PriorityClass"): (
        policies.validate_priority_class,
        policies.validate_priority_class_update,
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
    (
        "apiregistration.k8s.io/v1",
        "APIService",
        "status",
    ): api_services.validate_api_service_status_update,
    ("batch/v1", "Job", "status"): jobs.validate_job_status_update,
}

CREATE_ONLY: dict[tuple[str, str], Create] = {}
