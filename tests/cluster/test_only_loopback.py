"""A cluster listens on this machine only, whatever it runs."""

from __future__ import annotations

import ipaddress
import os
import sys
from contextlib import suppress
from pathlib import Path

from lifecycle.cluster.background import BackgroundCluster
from lifecycle.cluster.cluster_config import ClusterConfig
from tests.conftest import unavailable

LISTENING = "0A"


def own_sockets() -> set[str]:
    """The inodes of the sockets that this process has open."""
    inodes = set()
    for fd in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            target = os.readlink(f"/proc/self/fd/{fd}")
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    return inodes


def listening() -> dict[str, ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Where this process waits for others, by protocol and port; of UDP every bound socket."""
    inodes, places = own_sockets(), {}
    for protocol in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/self/net/{protocol}").read_text().splitlines()[1:]:
            words = line.split()
            address, _, port = words[1].partition(":")
            if words[9] not in inodes or (protocol.startswith("tcp") and words[3] != LISTENING):
                continue
            if protocol.startswith("udp") and not words[2].endswith(":0000"):
                continue  # it asks somebody, and hears nobody else
            raw = b"".join(bytes.fromhex(address[i : i + 8])[::-1] for i in range(0, len(address), 8))
            places[f"{protocol}/{int(port, 16)}"] = ipaddress.ip_address(raw)
    return places


def test_every_socket_that_waits_for_others_is_on_loopback() -> None:
    if sys.platform != "linux":
        unavailable("/proc is Linux's")
    before = listening()
    with BackgroundCluster(ClusterConfig(nodes=2)) as cluster:
        places = {place: address for place, address in listening().items() if place not in before}
        port = cluster.url.rpartition(":")[2]
        assert f"tcp/{port}" in places
        assert len(places) >= 3, "the API, and names by UDP and TCP"
        assert [place for place, address in places.items() if not address.is_loopback] == []
