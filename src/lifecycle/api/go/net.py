"""Addresses as Go writes them.

Upstream: Go's `net/ipsock.go` (`JoinHostPort`).
"""

from __future__ import annotations


def join_host_port(host: str, port: object) -> str:
    """`host:port`; an address of version 6 in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
