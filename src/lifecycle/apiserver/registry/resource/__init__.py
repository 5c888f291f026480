"""`resource.k8s.io`: devices, and who gets them.

Upstream: `pkg/registry/resource`, `pkg/apis/resource`, v1.36.
"""

from lifecycle.apiserver.registry.resource import (
    device_class,
    resource_claim,
    resource_claim_template,
    resource_slice,
)

_V1 = "resource.k8s.io/v1"

STRATEGIES = {
    (_V1, "DeviceClass"): device_class.STRATEGY,
    (_V1, "ResourceClaim"): resource_claim.STRATEGY,
    (_V1, "ResourceClaimTemplate"): resource_claim_template.STRATEGY,
    (_V1, "ResourceSlice"): resource_slice.STRATEGY,
}
