"""flannel's `net-conf.json`: the pod network, how it is cut, and the backend.

With etcd, a host picks its own piece from here; with Kubernetes the node controller has
done that already.

Upstream: flannel v0.28, `pkg/subnet/config.go` (`ParseConfig`, `CheckNetworkConfig`),
`pkg/subnet/etcd/local_manager.go` (`allocateSubnet`).
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lifecycle.cni.errors import CNIError
from lifecycle.cni.overlay.lease import Subnet

CHOICES = 100
"""Of the free subnets, one of the first hundred is taken at random, so that hosts that
start together seldom collide.
"""


@dataclass(slots=True, frozen=True)
class NetworkConfig:
    """`subnet_len`: the size of each host's piece."""

    network: Subnet
    subnet_len: int
    subnet_min: ipaddress.IPv4Address
    subnet_max: ipaddress.IPv4Address
    backend: dict[str, Any] = field(default_factory=lambda: {"Type": "udp"})


def parse_config(text: str) -> NetworkConfig:
    """Read and check. Raises CNIError in upstream's words."""
    raw = json.loads(text)
    if not raw.get("Network"):
        raise CNIError(
            "please define a correct Network parameter in the flannel config"
        )
    network = ipaddress.IPv4Network(raw["Network"], strict=False)
    length = int(raw.get("SubnetLen", 0))
    if length > 30:
        raise CNIError("SubnetLen must be less than /31")
    if length and length < network.prefixlen + 2:
        raise CNIError("network must be able to accommodate at least four subnets")
    if not length:
        if network.prefixlen > 28:
            raise CNIError("network is too small. Minimum useful network prefix is /28")
        length = 24 if network.prefixlen <= 22 else network.prefixlen + 2
    size = 1 << (32 - length)
    # the first piece is left out: an interface cannot have the network's own address
    low = _bound(raw, "SubnetMin", network, network.network_address + size, size)
    high = _bound(raw, "SubnetMax", network, network.broadcast_address + 1 - size, size)
    return NetworkConfig(
        network, length, low, high, raw.get("Backend") or {"Type": "udp"}
    )


def free_subnets(config: NetworkConfig, taken: Iterable[Subnet]) -> list[Subnet]:
    """The first hundred pieces that nobody has."""
    used = set(taken)
    free: list[Subnet] = []
    at = config.subnet_min
    while at <= config.subnet_max and len(free) < CHOICES:
        piece = ipaddress.IPv4Network(f"{at}/{config.subnet_len}")
        free += [] if any(piece.overlaps(other) for other in used) else [piece]
        at += 1 << (32 - config.subnet_len)
    return free


def allocate_subnet(
    config: NetworkConfig,
    taken: Iterable[Subnet],
    choose: Callable[[Sequence[Subnet]], Subnet],
) -> Subnet:
    """A host's piece. `choose` picks one of the free ones. Raises CNIError if there is
    none.
    """
    free = free_subnets(config, taken)
    if not free:
        raise CNIError("out of subnets")
    return choose(free)


def _bound(
    raw: dict[str, Any],
    key: str,
    network: Subnet,
    default: ipaddress.IPv4Address,
    size: int,
) -> ipaddress.IPv4Address:
    value = ipaddress.IPv4Address(raw[key]) if raw.get(key) else default
    if value not in network:
        raise CNIError(f"{key} is not in the range of the Network")
    if int(value) % size:
        raise CNIError(f"{key} is not on a SubnetLen boundary: {value}")
    return value
