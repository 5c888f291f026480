"""Where the API server's own connections to Services begin.

A real API server stands on a host of the control plane: that host's routes lead to the
pods, and its kube-proxy has made the Services' addresses good. Ours runs in one process
with everything else. Where nodes are network namespaces it has to make its sockets in
the control plane's, or the packet leaves by the reader's own network and meets nobody –
or, worse, somebody.

Upstream: `apiserver/pkg/server/egressselector/egress_selector.go` (`EgressSelector`,
`Lookup` of `Cluster`), v1.36. Left out: its configuration file and its proxies.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

MakeSocket = Callable[[int, int, int], socket.socket]
"""Family, kind and protocol, as `socket.socket`. Raises OSError."""


class EgressSelector:
    """The way into the cluster's network; at first the machine's own."""

    def __init__(self) -> None:
        self._make: MakeSocket = socket.socket

    def lead_cluster_through(self, make: MakeSocket) -> None:
        """From now on sockets are made by `make`."""
        self._make = make

    def cluster_socket(self, family: int, kind: int, protocol: int) -> socket.socket:
        """An unconnected socket. Raises OSError."""
        return self._make(family, kind, protocol)

    def dial(self, address: tuple[str, int], timeout: float) -> socket.socket:
        """A TCP connection; blocks. A name is tried at each of its addresses, `timeout`
        (seconds) long. Raises OSError, the last one.
        """
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
