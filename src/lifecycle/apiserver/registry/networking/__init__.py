"""`networking.k8s.io`: what leads to Services, and what may not.

Upstream: `pkg/registry/networking`, `pkg/apis/networking`, v1.36.
"""

from lifecycle.apiserver.registry.networking import (
    ingress,
    ingress_class,
    ip_address,
    network_policy,
    service_cidr,
)

STRATEGIES = {
    ("networking.k8s.io/v1", "IPAddress"): ip_address.STRATEGY,
    ("networking.k8s.io/v1", "Ingress"): ingress.STRATEGY,
    ("networking.k8s.io/v1", "IngressClass"): ingress_class.STRATEGY,
    ("networking.k8s.io/v1", "NetworkPolicy"): network_policy.STRATEGY,
    ("networking.k8s.io/v1", "ServiceCIDR"): service_cidr.STRATEGY,
}
