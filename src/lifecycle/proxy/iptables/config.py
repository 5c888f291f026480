"""What a cluster's administrator decides about kube-proxy's rules; the defaults are
those of a kind cluster.

Upstream: `pkg/proxy/apis/config/types.go` (`KubeProxyConfiguration`,
`KubeProxyIPTablesConfiguration`, `KubeProxyConntrackConfiguration`),
`pkg/proxy/conntrack/sysctls.go` (`getConntrackMax`), v1.36. Left out: other ways to
tell pod traffic than by the cluster's CIDR.
"""

from __future__ import annotations

from dataclasses import dataclass

DAY, HOUR = 86400, 3600


@dataclass(slots=True, frozen=True)
class ConntrackConfig:
    """Seconds for the times; 0 leaves the kernel's. `max_per_core`: flows for each CPU,
    `min` in all at the least; 0 leaves the kernel's.
    """

    max_per_core: int = 0
    min: int = 131072
    tcp_established_timeout: int = DAY
    tcp_close_wait_timeout: int = HOUR
    tcp_be_liberal: bool = False
    udp_timeout: int = 0
    udp_stream_timeout: int = 0

    def sysctls(self, cpus: int) -> dict[str, int]:
        """What is to be written, by the names of the files."""
        found = {
            "nf_conntrack_max": self.max_per_core
            and max(self.max_per_core * cpus, self.min),
            "nf_conntrack_tcp_timeout_established": self.tcp_established_timeout,
            "nf_conntrack_tcp_timeout_close_wait": self.tcp_close_wait_timeout,
            "nf_conntrack_tcp_be_liberal": int(self.tcp_be_liberal),
            "nf_conntrack_udp_timeout": self.udp_timeout,
            "nf_conntrack_udp_timeout_stream": self.udp_stream_timeout,
        }
        return {name: value for name, value in found.items() if value > 0}


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
    conntrack: ConntrackConfig = ConntrackConfig()
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
