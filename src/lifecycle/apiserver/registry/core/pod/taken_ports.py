"""Ports of a pod that get into each other's way.

A container may list thirty thousand ports, too many to be compared with one another; so
those that can collide are found by their numbers.

Upstream: `pkg/api/pod/warnings.go` (`warningsForPodSpecAndMeta`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class _Taken(NamedTuple):
    order: int
    host_port: int
    host_ip: str
    here: str


class TakenPorts:
    """Those that were looked at so far."""

    def __init__(self) -> None:
        self._count = 0
        self._taken: dict[tuple[int, str], dict[int, dict[str, list[_Taken]]]] = {}
        """By number and protocol, then by host port, then by host address."""

    def add(
        self, port: int, protocol: str, host_ip: str, host_port: int, here: str
    ) -> list[str]:
        """One more, that stands at `here`; a warning for each that it collides with."""
        taken = self._taken.setdefault((port, protocol), {})
        others = [
            other
            for number in ({0, host_port} & taken.keys() if host_port else taken)
            for ip in _colliding(taken[number], number and host_port, host_ip)
            for other in taken[number].get(ip, ())
        ]
        self._count += 1
        this = _Taken(self._count, host_port, host_ip, here)
        taken.setdefault(host_port, {}).setdefault(host_ip, []).append(this)
        return [_warning(this, other) for other in sorted(others)]


def _colliding(ips: Iterable[str], host_port: int, host_ip: str) -> Iterable[str]:
    """Of the host addresses with one host port, those that do not go together with
    another. No host port goes together with none.
    """
    return {host_ip, ""} if host_port and host_ip else ips


def _warning(this: _Taken, other: _Taken) -> str:
    if (this.host_ip, this.host_port) == (other.host_ip, other.host_port):
        what = "duplicate"
    elif not this.host_port or not other.host_port:
        what = "overlapping"
    else:
        what = "dangerously ambiguous"
    return f"{this.here}: {what} port definition with {other.here}"
