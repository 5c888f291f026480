"""`discovery.k8s.io`: where the pods of a Service are.

Upstream: `pkg/registry/discovery`, `pkg/apis/discovery`, v1.36.
"""

from lifecycle.apiserver.registry.discovery import endpoint_slice

STRATEGIES = {
    ("discovery.k8s.io/v1", "EndpointSlice"): endpoint_slice.STRATEGY,
}
