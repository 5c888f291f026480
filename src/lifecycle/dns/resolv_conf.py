"""The resolver configuration that a pod gets, told here because it is half of how names work.

The rules are in `lifecycle.api.pod_dns`, where the kubelet, which applies them, can see them too.
"""

from lifecycle.api.pod_dns import (
    CLUSTER_FIRST,
    CLUSTER_FIRST_WITH_HOST_NET,
    DEFAULT,
    NONE,
    DNSConfig,
    parse_resolv_conf,
    pod_dns,
    pod_dns_type,
)

__all__ = [
    "CLUSTER_FIRST",
    "CLUSTER_FIRST_WITH_HOST_NET",
    "DEFAULT",
    "NONE",
    "DNSConfig",
    "parse_resolv_conf",
    "pod_dns",
    "pod_dns_type",
]
