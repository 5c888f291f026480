"""Claims about what joins the hosts, put to our overlay.

No check: that flannel ships a CNI plugin and a guide for Docker; no recording and none
of our rooms can show what somebody publishes.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from lifecycle.cni.errors import CNIError
from lifecycle.cni.overlay.dissect import dissect
from lifecycle.cni.overlay.kept import kept_frame
from lifecycle.cni.overlay.lease import (
    LeaseAttrs,
    annotation,
    lease_annotations,
    node_to_lease,
    pod_subnet,
)
from lifecycle.cni.overlay.subnet_manager import NodeLeases
from lifecycle.cni.overlay.vxlan import VxlanBackend
from lifecycle.cni.paper_netlink import PaperNetlink
from lifecycle.compare.claims import rebuilt


def node(number: int) -> dict[str, Any]:
    """A Node whose flanneld has announced itself."""
    data = {"VNI": 1, "VtepMAC": f"02:00:00:00:00:{number:02x}"}
    notes = lease_annotations(
        LeaseAttrs(ipaddress.IPv4Address(f"172.19.0.{number + 2}"), "vxlan", data)
    )
    cidr = f"10.244.{number}.0/24"
    return {
        "metadata": {"name": f"n{number}", "annotations": notes},
        "spec": {"podCIDR": cidr, "podCIDRs": [cidr]},
    }


def host_on_paper() -> tuple[PaperNetlink, VxlanBackend]:
    """The first host, its device made."""
    netlink = PaperNetlink()
    netlink.link_add("eth0", "veth")
    backend = VxlanBackend(netlink, "eth0", ipaddress.IPv4Address("172.19.0.3"))
    backend.register(ipaddress.IPv4Network("10.244.1.0/24"))
    return netlink, backend


@rebuilt("inter-host-network-overlay-joins-hosts")
def joins() -> bool:
    """Hosts come and go; each time the first one's routes follow. Of a host that has
    not changed, that is none of flannel's, or of which nobody can tell where it is,
    nobody hears.
    """
    netlink, backend = host_on_paper()
    leases, seen = NodeLeases(ipaddress.IPv4Network("10.244.1.0/24")), []
    for kind, number in (
        *[("ADDED", 1), ("ADDED", 2), ("ADDED", 3), ("DELETED", 2)],
        *[("ADDED", 2), ("DELETED", 2)],
    ):
        backend.handle(leases.node_event(kind, node(number)))
        seen.append([str(route.destination) for route in netlink.routes()])
    strange, lost = node(4), node(5)
    strange["metadata"]["annotations"][annotation("kube-subnet-manager")] = "false"
    lost["metadata"]["annotations"][annotation("public-ip")] = "nowhere"
    neighbours = [
        [(one.mac, str(one.destination)) for one in entries]
        for entries in (netlink.arp, netlink.fdb)
    ]
    assert neighbours == [
        [("02:00:00:00:00:03", "10.244.3.0")],
        [("02:00:00:00:00:03", "172.19.0.5")],
    ]
    same = leases.node_event("MODIFIED", node(3))
    assert [same, *(leases.node_event("ADDED", each) for each in (strange, lost))] == [
        [],
        [],
        [],
    ]
    assert _not_read(lost) == "failed to parse IP"
    return seen == [
        [],
        ["10.244.2.0/24"],
        ["10.244.2.0/24", "10.244.3.0/24"],
        ["10.244.3.0/24"],
        ["10.244.3.0/24", "10.244.2.0/24"],
        ["10.244.3.0/24"],
    ]


def _not_read(lost: dict[str, Any]) -> str:
    try:
        node_to_lease(lost)
    except CNIError as error:
        return str(error)
    return ""


@rebuilt("inter-host-network-flannel-l3-ipv4", model=True)
def layer_3_ipv4() -> bool:
    """As flannel was then: hosts are joined by routes, the pod's packet keeps its IP
    header, and a node without IPv4 is refused.
    """
    *_, inner, ip, _, _ = dissect(kept_frame()[0])
    routed = (
        inner.name == "Ethernet"
        and ip.fields["from"] == "10.244.1.2"
        and ip.fields["TTL"] == "63"
    )
    only_6 = {
        "metadata": {"name": "n"},
        "spec": {"podCIDR": "fd00::/64", "podCIDRs": ["fd00::/64"]},
    }
    try:
        pod_subnet(only_6)
    except CNIError as why:
        return routed and str(why) == "missing IPv4 address on n.Spec.PodCIDRs"
    return False


@rebuilt("inter-host-network-flannel-only-between-hosts")
def only_between_hosts() -> bool:
    """What it makes on a host: one device, entries on that device. No bridge, no veth,
    nothing of a pod; and nothing for a host that does not say how it is reached.
    """
    netlink, backend = host_on_paper()
    leases = NodeLeases(ipaddress.IPv4Network("10.244.1.0/24"))
    silent = node(3)
    del silent["metadata"]["annotations"][annotation("backend-type")]
    for each in (node(2), silent):
        backend.handle(leases.node_event("ADDED", each))
    lease = node_to_lease(silent)
    if lease is None or lease.attrs.backend_type or len(netlink.routes()) != 1:
        return False
    own = netlink.link("flannel.1").index
    touched = {route.link for route in netlink.routes()} | {
        one.link for one in (*netlink.arp, *netlink.fdb)
    }
    return [link.name for link in netlink.links()] == [
        "lo",
        "eth0",
        "flannel.1",
    ] and touched == {own}
