"""What a cluster's administrator decides about kube-proxy's rules; the defaults are
those of a kind cluster.

Upstream: `pkg/proxy/apis/config/types.go` (`KubeProxyConfiguration`,
`KubeProxyIPTablesConfiguration`), v1.36. Left out: other ways to tell pod traffic than
by the cluster's CIDR.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, frozen=True)
class ProxierConfig:
    """Seconds for the periods. `cluster_cidr` empty: no telling which traffic is from a
    pod.
    """

    cluster_cidr: str = "10.244.0.0/16"
    masquerade_all: bool = False
    masquerade_bit: int = 14
    localhost_node_ports: bool = True
    node_port_addresses: tuple[str, ...] = ()
    """Networks in which the node's addresses answer on node ports; empty: the mode's
    own default.
    """
    conntrack_tcp_be_liberal: bool = False
    min_sync_period: float = 1.0
    sync_period: float = 30.0
    full_sync_period: float = 3600.0
    large_cluster_endpoints: int = 1000
    """More endpoints than this: the rules of endpoints are written without comments,
    which saves almost half of the text, and chains that nobody needs any more are
    removed only every `sync_period`.
    """

    @property
    def masquerade_mark(self) -> str:
        """The bit of a packet's mark that asks for source NAT."""
        return f"0x{1 << self.masquerade_bit:06x}"
