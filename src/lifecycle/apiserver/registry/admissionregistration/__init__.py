"""`admissionregistration.k8s.io`: webhooks and policies that admission asks.

Their validation compiles expressions, with the compiler of the plugins that evaluate
them (`admission.policy_expressions`).

Upstream: `pkg/registry/admissionregistration`, `pkg/apis/admissionregistration`, v1.36.
"""

from lifecycle.apiserver.registry.admissionregistration import (
    mutating_admission_policy,
    mutating_admission_policy_binding,
    mutating_webhook_configuration,
    validating_admission_policy,
    validating_admission_policy_binding,
    validating_webhook_configuration,
)

_V1 = "admissionregistration.k8s.io/v1"

STRATEGIES = {
    (_V1, "MutatingAdmissionPolicy"): mutating_admission_policy.STRATEGY,
    (_V1, "MutatingAdmissionPolicyBinding"): mutating_admission_policy_binding.STRATEGY,
    (_V1, "MutatingWebhookConfiguration"): mutating_webhook_configuration.STRATEGY,
    (_V1, "ValidatingAdmissionPolicy"): validating_admission_policy.STRATEGY,
    (
        _V1,
        "ValidatingAdmissionPolicyBinding",
    ): validating_admission_policy_binding.STRATEGY,
    (_V1, "ValidatingWebhookConfiguration"): validating_webhook_configuration.STRATEGY,
}
