"""Names in the nftables mode: long enough to be read.

An nftables chain may be called almost anything, so the hash that keeps names apart
stands before the Service's own name: `service-ULMVA6XW-ns1/svc1/tcp/p80`. Chains of
Services have a `/` in their name, the standing ones do not.

Upstream: `pkg/proxy/nftables/proxier.go` (`servicePortChainNameBase`,
`servicePortEndpointChainNameBase`, `hashAndTruncate`), v1.36.
"""

from __future__ import annotations

from base64 import b32encode
from hashlib import sha256

from lifecycle.proxy.endpoints_map import Endpoint
from lifecycle.proxy.service_port_name import ServicePortName

LONGEST = 240


def hash_and_truncate(name: str) -> str:
    """Eight letters of hash, and the name, cut if need be."""
    full = f"{b32encode(sha256(name.encode()).digest()).decode()[:8]}-{name}"
    return full if len(full) <= LONGEST else f"{full[: LONGEST - 3]}..."


def service_name(name: ServicePortName) -> str:
    """What follows `service-`, `service-local-`, `external-` or `firewall-`."""
    return hash_and_truncate(_path(name))


def endpoint_name(name: ServicePortName, endpoint: Endpoint) -> str:
    """What follows `endpoint-` or `affinity-`. Colons of an IPv6 address become
    dots.
    """
    return hash_and_truncate(
        f"{_path(name)}__{endpoint.ip.replace(':', '.')}/{endpoint.port}"
    )


def _path(name: ServicePortName) -> str:
    return f"{name.namespace}/{name.name}/{name.protocol.lower()}/{name.port}"
