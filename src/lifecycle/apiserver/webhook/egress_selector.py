"""Where the API server's own connections to Services begin.

A real API server stands on a host of the control plane: that host's routes lead to the
pods, and its kube-proxy has made the Services' addresses good. Ours runs in one process
with everything else. Where nodes are network namespaces it has to make its sockets in
the control plane's, or the packet leaves by the reader's own network and meets nobody –
or, worse, somebody. Where there are no packets, whoever plays the pods hands out
connections to them.

Upstream: `apiserver/pkg/server/egressselector/egress_selector.go` (`EgressSelector`,
`Lookup` of `Cluster`), v1.36. Left out: its configuration file and its proxies. Added
API servers are reached by sockets only, so not among pods that are played.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from lifecycle.apiserver.webhook.go_dial_errors import Dial

MakeSocket = Callable[[int, int, int], socket.socket]
"""Family, kind and protocol, as `socket.socket`. Raises OSError."""

RECEIVED = 64 << 10
"""Bytes, roughly, that the system takes in of a connection before they are read."""


class EgressSelector:
    """The way into the cluster's network; at first the machine's own."""

    def __init__(self) -> None:
        self._make: MakeSocket = socket.socket
        self._pods: list[tuple[IPv4Network | IPv6Network, Dial]] = []

    def lead_cluster_through(self, make: MakeSocket) -> None:
        """From now on sockets are made by `make`."""
        self._make = make

    def lead_pods_through(self, network: str, dial: Dial) -> None:
        """From now on `dial` makes the connections to addresses of a range."""
        self._pods.append((ip_network(network), dial))

    def _dial_of(self, host: str) -> Dial | None:
        try:
            address = ip_address(host)
        except ValueError:  # a name
            return None
        return next((dial for pods, dial in self._pods if address in pods), None)

    def cluster_socket(self, family: int, kind: int, protocol: int) -> socket.socket:
        """An unconnected socket, which takes in little before it is read: whoever is at
        the other end may be hostile. Raises OSError.
        """
        made = self._make(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED)
        return made

    def dial(self, address: tuple[str, int], timeout: float) -> socket.socket:
        """A TCP connection; blocks. A name is tried at each of its addresses, `timeout`
        (seconds) long. Raises OSError, the last one.
        """
        if (led := self._dial_of(address[0])) is not None:
            return led(address, timeout)
        problem: OSError = OSError(f"getaddrinfo returned nothing for {address[0]}")
        for family, kind, protocol, _, target in socket.getaddrinfo(
            *address, type=socket.SOCK_STREAM
        ):
            connected = self.cluster_socket(family, kind, protocol)
            try:
                connected.settimeout(timeout)
                connected.connect(target)
            except OSError as error:
                connected.close()
                problem = error
            else:
                return connected
        raise problem
