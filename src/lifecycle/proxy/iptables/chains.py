"""The chains: those that every node has, and those that are made for a service port.

A chain's name may have 28 characters, so a service port's chains carry a hash: SHA-256
of its name and protocol, in base 32, the first sixteen letters. The same port has the
same chains on every node.

======================
====================================================================================
`KUBE-SERVICES`         one rule for each address of each service port
`KUBE-NODEPORTS`        one rule for each node port
`KUBE-SVC-…`            chooses one of all endpoints (`Cluster` policy)
`KUBE-SVL-…`            chooses one of this node's endpoints (`Local` policy)
`KUBE-EXT-…`            what comes from outside: marks for masquerade, or keeps the
                        client's address
`KUBE-FW-…`             a load balancer's allowed source ranges
`KUBE-SEP-…`            one endpoint: the destination is rewritten here
======================
====================================================================================

Upstream: `pkg/proxy/iptables/proxier.go` (`portProtoHash`, `iptablesJumpChains`),
v1.36.
"""

from __future__ import annotations

from base64 import b32encode
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from lifecycle.proxy.service_port_name import ServicePortName

KUBE_SERVICES = "KUBE-SERVICES"
KUBE_EXTERNAL_SERVICES = "KUBE-EXTERNAL-SERVICES"
KUBE_NODEPORTS = "KUBE-NODEPORTS"
KUBE_POSTROUTING = "KUBE-POSTROUTING"
KUBE_MARK_MASQ = "KUBE-MARK-MASQ"
KUBE_FORWARD = "KUBE-FORWARD"
KUBE_PROXY_FIREWALL = "KUBE-PROXY-FIREWALL"
KUBE_PROXY_CANARY = "KUBE-PROXY-CANARY"
KUBE_FIREWALL = "KUBE-FIREWALL"
"""The kubelet's own chain; kube-proxy writes the same rule into it, since it is
kube-proxy that makes the rule necessary.
"""

FILTER_CHAINS = (
    KUBE_SERVICES,
    KUBE_EXTERNAL_SERVICES,
    KUBE_FORWARD,
    KUBE_NODEPORTS,
    KUBE_PROXY_FIREWALL,
)
NAT_CHAINS = (KUBE_SERVICES, KUBE_NODEPORTS, KUBE_POSTROUTING, KUBE_MARK_MASQ)
CANARY_TABLES = ("mangle", "nat", "filter")
SERVICE_CHAIN_PREFIXES = (
    "KUBE-SVC-",
    "KUBE-SVL-",
    "KUBE-SEP-",
    "KUBE-FW-",
    "KUBE-EXT-",
)


class JumpChain(NamedTuple):
    """A rule in one of the kernel's chains that leads to one of ours."""

    table: str
    destination: str
    source: str
    comment: str = ""
    new_only: bool = False

    @property
    def rule(self) -> str:
        """The rule's arguments, without command and chain."""
        state = "-m conntrack --ctstate NEW " if self.new_only else ""
        comment = f'-m comment --comment "{self.comment}" ' if self.comment else ""
        return f"{state}{comment}-j {self.destination}"


JUMP_CHAINS = (
    JumpChain(
        "filter",
        KUBE_EXTERNAL_SERVICES,
        "INPUT",
        "kubernetes externally-visible service portals",
        True,
    ),
    JumpChain(
        "filter",
        KUBE_EXTERNAL_SERVICES,
        "FORWARD",
        "kubernetes externally-visible service portals",
        True,
    ),
    JumpChain(
        "filter", KUBE_NODEPORTS, "INPUT", "kubernetes health check service ports"
    ),
    JumpChain("filter", KUBE_SERVICES, "FORWARD", "kubernetes service portals", True),
    JumpChain("filter", KUBE_SERVICES, "OUTPUT", "kubernetes service portals", True),
    JumpChain("filter", KUBE_FORWARD, "FORWARD", "kubernetes forwarding rules"),
    JumpChain(
        "filter",
        KUBE_PROXY_FIREWALL,
        "INPUT",
        "kubernetes load balancer firewall",
        True,
    ),
    JumpChain(
        "filter",
        KUBE_PROXY_FIREWALL,
        "OUTPUT",
        "kubernetes load balancer firewall",
        True,
    ),
    JumpChain(
        "filter",
        KUBE_PROXY_FIREWALL,
        "FORWARD",
        "kubernetes load balancer firewall",
        True,
    ),
    JumpChain("nat", KUBE_SERVICES, "OUTPUT", "kubernetes service portals"),
    JumpChain("nat", KUBE_SERVICES, "PREROUTING", "kubernetes service portals"),
    JumpChain("nat", KUBE_POSTROUTING, "POSTROUTING", "kubernetes postrouting rules"),
    JumpChain("filter", KUBE_FIREWALL, "INPUT"),
    JumpChain("filter", KUBE_FIREWALL, "OUTPUT"),
)
"""In the order in which they are ensured. Each is put in front of what is there, so the
last one of a chain comes first.
"""


@lru_cache(maxsize=65536)
def chain_hash(text: str) -> str:
    """Sixteen letters for a text. Upstream: `portProtoHash`."""
    return b32encode(sha256(text.encode()).digest()).decode()[:16]


class ServiceChains(NamedTuple):
    """The names of a service port's chains."""

    cluster: str
    local: str
    external: str
    firewall: str

    @classmethod
    def of(cls, name: ServicePortName) -> ServiceChains:
        """All four, whether they will be used or not."""
        letters = chain_hash(f"{name}{name.protocol.lower()}")
        return cls(
            f"KUBE-SVC-{letters}",
            f"KUBE-SVL-{letters}",
            f"KUBE-EXT-{letters}",
            f"KUBE-FW-{letters}",
        )


def endpoint_chain(name: ServicePortName, endpoint: str) -> str:
    """The chain of one endpoint (`ip:port`) of a service port. Upstream:
    `servicePortEndpointChainName`.
    """
    return "KUBE-SEP-" + chain_hash(f"{name}{name.protocol.lower()}{endpoint}")


def is_service_chain(chain: str) -> bool:
    """Whether a chain was made for a service port, by this or an earlier kube-proxy.
    Upstream: `isServiceChainName`.
    """
    return chain.startswith(SERVICE_CHAIN_PREFIXES)
