"""The sockets that a DNS server listens on: TCP and UDP, of the same number.

A client asks over UDP and, if the answer was cut short, once more over TCP at the same
address and port. So the two belong together, and if the system is to choose the number,
it must be free for both.

Upstream: CoreDNS 1.14, `core/dnsserver/server.go` (`Listen`, `ListenPacket`).
"""

from __future__ import annotations

import contextlib
import socket

ATTEMPTS = 20

Sockets = tuple[socket.socket, socket.socket]
"""TCP, which listens, and UDP; bound, not blocking."""


def open_sockets(host: str = "127.0.0.1", port: int = 0) -> Sockets:
    """Both at `host`; port 0: the system chooses. Raises OSError if the port, or each
    of twenty, is taken for one of them.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for attempt in range(ATTEMPTS):
        with contextlib.ExitStack() as stack:
            tcp = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
            udp = stack.enter_context(socket.socket(family, socket.SOCK_DGRAM))
            tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tcp.bind((host, port))
            try:
                udp.bind((host, tcp.getsockname()[1]))
            except OSError:
                if port or attempt == ATTEMPTS - 1:
                    raise
                continue
            tcp.listen()
            tcp.setblocking(False)
            udp.setblocking(False)
            stack.pop_all()
            return tcp, udp
    raise AssertionError("the loop above returns or raises")
