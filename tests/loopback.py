"""Ports of the loopback interface."""

from __future__ import annotations

import socket


def free_ports(count: int) -> list[int]:
    """Different ports on which nobody listens."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def free_port() -> int:
    """One of them."""
    return free_ports(1)[0]
