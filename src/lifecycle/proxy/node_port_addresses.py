"""Which of a node's addresses answer on node ports.

An administrator may name networks; those of the node's addresses that lie in one of
them answer, all others do not. Naming none, or naming everything, means all addresses –
including those that the node will have one day, so no list can be made.

Upstream: `pkg/proxy/util/nodeport_addresses.go` (`NodePortAddresses`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import ip_address, ip_network

from lifecycle.api.canonical_ip import canonical_network

LOOPBACK = {"IPv4": "127.0.0.1", "IPv6": "::1"}


class NodePortAddresses:
    """The networks of one family. `match_all`: no network of that family was named, or
    the one that has every address.
    """

    def __init__(self, networks: Sequence[str], family: str) -> None:
        canonical = map(canonical_network, networks)
        self._networks = [
            ip_network(text)
            for text in canonical
            if text and (":" in text) == (family == "IPv6")
        ]
        self._loopback = LOOPBACK[family]
        self.match_all = not self._networks or any(
            network.prefixlen == 0 for network in self._networks
        )

    @property
    def has_loopback(self) -> bool:
        """Whether connections over loopback are meant too. Upstream:
        `ContainsIPv4Loopback`.
        """
        return self.match_all or any(network.is_loopback for network in self._networks)

    def of(self, addresses: Iterable[str]) -> list[str]:
        """Those of a node's addresses that answer. Loopback is an address of every
        node.
        """
        candidates = {ip_address(text) for text in (*addresses, self._loopback)}
        node_ips = [
            a
            for a in candidates
            if any(a.version == n.version and a in n for n in self._networks)
        ]
        return [str(address) for address in sorted(node_ips, key=int)]
