"""What a host's kernel is told of another host, when that one changes and when it goes."""

from __future__ import annotations

import errno
from ipaddress import IPv4Address, IPv4Network
from typing import Any, cast

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.cni.netlink.link import Link
from lifecycle.cni.netlink.neigh import Neighbour
from lifecycle.cni.netlink.route import Route
from lifecycle.cni.overlay.kindnet import sync_routes
from lifecycle.cni.overlay.lease import ADDED, REMOVED, Lease, LeaseAttrs, LeaseEvent, lease_annotations
from lifecycle.cni.overlay.subnet_manager import NodeLeases
from lifecycle.cni.overlay.vxlan import VxlanBackend

HERE, THERE = IPv4Network("10.244.1.0/24"), IPv4Network("10.244.2.0/24")
ENTRIES = {"arp", "fdb", "route"}


class Kernel:
    """The three kinds of entries for one other host; what is gone already cannot be deleted."""

    def __init__(self, gone: set[str]) -> None:
        self.left = ENTRIES - gone
        self.tried: list[str] = []

    def link(self, name: str) -> Link:
        return Link(7, name, 0, "02:00:00:00:00:01", 1450)

    def neigh_del(self, neighbour: Neighbour, *, bridge: bool = False) -> None:
        self._delete("fdb" if bridge else "arp", errno.ENOENT)

    def route_del(self, route: Route) -> None:
        self._delete("route", errno.ESRCH)

    def _delete(self, entry: str, number: int) -> None:
        self.tried.append(entry)
        if entry not in self.left:
            raise OSError(number, "not there")
        self.left.remove(entry)


def attrs(mac: str = "a2", host: str = "172.19.0.3", backend: str = "vxlan") -> LeaseAttrs:
    return LeaseAttrs(IPv4Address(host), backend, {"VNI": 1, "VtepMAC": f"02:00:00:00:00:{mac}"})


@pytest.mark.parametrize(
    "gone", [set(), {"arp"}, {"fdb"}, {"route"}, {"arp", "fdb"}, {"arp", "route"}, {"fdb", "route"}, ENTRIES]
)
def test_of_a_host_that_goes_nothing_stays_whatever_is_gone_already(gone: set[str]) -> None:
    kernel = Kernel(gone)
    backend = VxlanBackend(cast(Any, kernel), "eth0", IPv4Address("172.19.0.2"), mac="02:00:00:00:00:a1")
    backend.handle([LeaseEvent(REMOVED, Lease(THERE, attrs()))])
    assert (kernel.left, kernel.tried) == (set(), ["arp", "fdb", "route"])


def test_a_host_of_another_backend_is_none_of_its_business() -> None:
    kernel = Kernel(set())
    backend = VxlanBackend(cast(Any, kernel), "eth0", IPv4Address("172.19.0.2"), mac="02:00:00:00:00:a1")
    backend.handle([LeaseEvent(REMOVED, Lease(THERE, attrs(backend="host-gw")))])
    assert kernel.left == ENTRIES


def node(about: LeaseAttrs, *, subnet: IPv4Network = THERE, **labels: str) -> Object:
    meta = {"name": "other", "labels": labels, "annotations": lease_annotations(about)}
    return {"metadata": meta, "spec": {"podCIDR": str(subnet)}}


KNOWN = attrs()
NEWS: dict[str, tuple[str, Object, list[LeaseEvent]]] = {
    "nothing": ("MODIFIED", node(KNOWN), []),
    "the same after a gap": ("ADDED", node(KNOWN), []),
    "a label": ("MODIFIED", node(KNOWN, zone="b"), []),
    "a new device has another MAC": (
        "MODIFIED",
        node(attrs("ff")),
        [LeaseEvent(ADDED, Lease(THERE, attrs("ff")))],
    ),
    "another address": (
        "MODIFIED",
        node(attrs(host="172.19.0.9")),
        [LeaseEvent(ADDED, Lease(THERE, attrs(host="172.19.0.9")))],
    ),
    "another backend": (
        "MODIFIED",
        node(attrs(backend="host-gw")),
        [LeaseEvent(ADDED, Lease(THERE, attrs(backend="host-gw")))],
    ),
    "it goes": ("DELETED", node(KNOWN), [LeaseEvent(REMOVED, Lease(THERE, KNOWN))]),
}


@pytest.mark.parametrize("case", NEWS)
def test_of_a_node_that_is_known_only_what_leads_to_it_is_news(case: str) -> None:
    kind, changed, events = NEWS[case]
    leases = NodeLeases(HERE)
    assert leases.node_event("ADDED", node(KNOWN)) == [LeaseEvent(ADDED, Lease(THERE, KNOWN))]
    assert leases.node_event(kind, changed) == events
    if kind != "DELETED":
        assert leases.node_event("MODIFIED", changed) == [], "said once"
        again = leases.node_event("MODIFIED", node(KNOWN))
        assert bool(again) == bool(events), "and told again if it is as it was before"


def test_one_that_went_and_comes_again_is_news() -> None:
    leases = NodeLeases(HERE)
    heard = [len(leases.node_event(kind, node(KNOWN))) for kind in ("ADDED", "DELETED", "ADDED")]
    assert heard == [1, 1, 1]
    assert leases.node_event("ADDED", node(KNOWN, subnet=HERE)) == [], "its own"


class Listening(Kernel):
    """Keeps what it is told of another host, in the order in which it is told."""

    def __init__(self) -> None:
        super().__init__(set())
        self.told: list[tuple[str, Any]] = []

    def neigh_set(self, neighbour: Neighbour, *, bridge: bool = False) -> None:
        self.told.append(("fdb" if bridge else "arp", neighbour))

    def route_replace(self, route: Route) -> None:
        self.told.append(("route", route))


def test_a_host_that_comes_is_told_in_three_entries_the_route_last_and_over_the_tunnel() -> None:
    """The next hop is the other's device, which lies in no network of ours: the kernel takes such a route only as `onlink`."""
    kernel = Listening()
    backend = VxlanBackend(cast(Any, kernel), "eth0", IPv4Address("172.19.0.2"), mac="02:00:00:00:00:a1")
    backend.handle([LeaseEvent(ADDED, Lease(THERE, attrs()))])
    hop, host, mac = IPv4Address("10.244.2.0"), IPv4Address("172.19.0.3"), "02:00:00:00:00:a2"
    assert kernel.told == [
        ("arp", Neighbour(7, mac, hop)),
        ("fdb", Neighbour(7, mac, host)),
        ("route", Route(THERE, hop, 7, onlink=True)),
    ]


def _host(name: str, address: str, *cidrs: str) -> Object:
    addresses = [{"type": "Hostname", "address": name}, {"type": "InternalIP", "address": address}]
    return {"metadata": {"name": name}, "spec": {"podCIDRs": list(cidrs)}, "status": {"addresses": addresses}}


def test_to_each_other_host_that_has_an_address_a_route_whichever_family_it_was_given_first() -> None:
    hosts = [
        _host("here", "172.19.0.2", "10.244.1.0/24"),
        _host("there", "172.19.0.3", "fd00:2::/64", "10.244.2.0/24"),
        _host("further", "172.19.0.4", "10.244.0.0/24", "fd00::/64"),
        _host("new", "172.19.0.5"),
    ]
    routes = [(str(route.destination), str(route.gateway)) for route in sync_routes(hosts, "here")]
    assert routes == [("10.244.0.0/24", "172.19.0.4"), ("10.244.2.0/24", "172.19.0.3")]
