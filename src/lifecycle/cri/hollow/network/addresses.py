"""Addresses of hollow pods: from the node's range, as the CNI plugin host-local gives
them.

From `.2` up (`.0` is the network, `.1` the gateway), always the next after the last one
given, round and round.

Upstream: containernetworking/plugins
`plugins/ipam/host-local/backend/allocator/allocator.go` (`Get`).
"""

from __future__ import annotations

from ipaddress import ip_network

from lifecycle.cri.apis.errors import RuntimeServiceError


class HollowAddresses:
    """Of one node."""

    def __init__(self) -> None:
        self._pod_cidr = ""
        self._first = self._count = self._last = 0
        self._owners: dict[str, str] = {}

    def use(self, pod_cidr: str) -> None:
        """Give addresses from this range from now on."""
        network = ip_network(pod_cidr)
        self._pod_cidr = pod_cidr
        self._first = int(network.network_address) + 2
        self._count = network.num_addresses - 3
        self._last = -1

    @property
    def known(self) -> bool:
        """Whether there is a range."""
        return bool(self._count)

    def owner(self, address: str) -> str | None:
        """The sandbox that has it."""
        return self._owners.get(address)

    def take(self, address: str, sandbox_id: str) -> None:
        """One that was given out before."""
        self._owners[address] = sandbox_id

    def give_back(self, address: str) -> None:
        """Again does no harm."""
        self._owners.pop(address, None)

    def allocate(self, sandbox_id: str) -> str:
        """The next free one. Raises RuntimeServiceError."""
        if not self._count:
            raise RuntimeServiceError(
                "rpc error: code = Unknown desc = failed to setup network for sandbox"
                f' "{sandbox_id}": cni plugin not initialized'
            )
        for _ in range(self._count):
            self._last = (self._last + 1) % self._count
            number = self._first + self._last
            address = (
                f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}"
                f".{number & 255}"
            )
            if address not in self._owners:
                self._owners[address] = sandbox_id
                return address
        raise RuntimeServiceError(
            "rpc error: code = Unknown desc = failed to setup network for sandbox"
            f' "{sandbox_id}": plugin type="host-local" failed (add): failed to'
            " allocate for range 0: no IP addresses available in range set:"
            f" {self._pod_cidr}"
        )
