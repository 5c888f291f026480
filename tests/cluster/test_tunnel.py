"""Who is seen at the far end of the tunnel between two nodes."""

from __future__ import annotations

import ipaddress
import socket
import subprocess
from pathlib import Path

import pytest

from lifecycle.cluster.linux.hosts import Host, Hosts
from lifecycle.cni.addresses import parse_cidr
from lifecycle.cni.namespaces import with_net_ns_path
from lifecycle.cni.overlay.cable import EXT_IF
from lifecycle.cni.overlay.lease import ADDED, Lease, LeaseEvent
from lifecycle.cni.overlay.vxlan import VxlanBackend
from lifecycle.cri.sandbox.network import in_network
from tests.proxy.namespace import need_real_iptables

SUBNETS = {"a": "10.244.1.0/24", "b": "10.244.2.0/24"}
POD = "10.244.2.7"


def tunnel(hosts: Hosts, *, borrowed: bool) -> None:
    """A device on each host, and the way to the other."""
    backends = {
        name: VxlanBackend(host.netlink, EXT_IF, host.address, source=host.address if borrowed else None)
        for name, host in hosts.by_name.items()
    }
    for name, backend in backends.items():
        backend.register(ipaddress.IPv4Network(SUBNETS[name]))
    for name, other in (("a", "b"), ("b", "a")):
        lease = Lease(ipaddress.IPv4Network(SUBNETS[other]), backends[other].attrs)
        backends[name].handle([LeaseEvent(ADDED, lease)])


def seen(sender: Host, receiver: Host) -> tuple[str, bool]:
    """Who a datagram to a pod's address came from, and whether the answer reached the sender."""
    with with_net_ns_path(receiver.netns):
        pod = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        pod.bind((POD, 5000))
    with with_net_ns_path(sender.netns):
        client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with pod, client:
        pod.settimeout(10)
        client.settimeout(10)
        client.sendto(b"?", (POD, 5000))
        _, whom = pod.recvfrom(9)
        pod.sendto(b"!", whom)
        return str(whom[0]), client.recv(9) == b"!"


@pytest.mark.parametrize(
    ("borrowed", "masqueraded", "source"),
    [
        (True, False, "172.19.0.2"),
        (True, True, "172.19.0.2"),
        (False, False, "10.244.1.0"),
        (False, True, "10.244.1.0"),
    ],
)
def test_a_pod_sees_the_node_that_speaks_to_it(tmp_path: Path, borrowed: bool, masqueraded: bool, source: str) -> None:
    need_real_iptables()
    hosts = Hosts(tmp_path, {"a": "172.19.0.2", "b": "172.19.0.3"})
    try:
        tunnel(hosts, borrowed=borrowed)
        a, b = hosts.by_name["a"], hosts.by_name["b"]
        b.netlink.addr_add(b.netlink.link("lo").index, parse_cidr(f"{POD}/32"))
        if masqueraded:
            with in_network(a.netns):
                subprocess.run(
                    ["iptables", "-t", "nat", "-A", "POSTROUTING", "-p", "udp", "--dport", "5000", "-j", "MASQUERADE"],
                    check=True,
                )
        assert seen(a, b) == (source, True)
    finally:
        hosts.close()
