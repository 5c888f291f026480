"""What a host's kernel is told of another host, when that one changes and when it goes."""

from __future__ import annotations

import errno
from ipaddress import IPv4Address, IPv4Network
from typing import Any, cast

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.cni.errors import CNIError
from lifecycle.cni.netlink.link import Link
from lifecycle.cni.netlink.neigh import Neighbour
from lifecycle.cni.netlink.route import Route
from lifecycle.cni.overlay.kindnet import sync_routes
from lifecycle.cni.overlay.lease import (
    ADDED,
    REMOVED,
    Lease,
    LeaseAttrs,
    LeaseEvent,
    annotation,
    lease_annotations,
    node_to_lease,
)
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


UNREADABLE = ["", "VNI: 1", '"02:00:00:00:00:a2"', "[1]"]
"""What a node may say of its tunnel that leads nowhere."""


@pytest.mark.parametrize("data", UNREADABLE)
@pytest.mark.parametrize("kind", [ADDED, REMOVED])
def test_a_host_that_does_not_say_how_to_reach_it_is_passed_over_and_the_next_is_not(kind: str, data: str) -> None:
    """Upstream: `handleSubnetEvents`, which logs "error decoding subnet lease JSON" and goes on."""
    silent = node(KNOWN, subnet=IPv4Network("10.244.3.0/24"))
    silent["metadata"]["annotations"][annotation("backend-data")] = data
    lease = node_to_lease(silent)
    assert lease is not None
    for first in (lease, Lease(IPv4Network("10.244.3.0/24"), attrs(backend="host-gw"))):
        kernel = Listening()
        backend = VxlanBackend(cast(Any, kernel), "eth0", IPv4Address("172.19.0.2"), mac="02:00:00:00:00:a1")
        backend.handle([LeaseEvent(kind, first), LeaseEvent(kind, Lease(THERE, attrs()))])
        done = [entry for entry, _ in kernel.told] if kind == ADDED else kernel.tried
        assert done == ["arp", "fdb", "route"]


class Refusing(Listening):
    """A kernel that takes no entry of one sort for one host."""

    def __init__(self, sort: str, told_of: IPv4Network) -> None:
        super().__init__()
        self._refused = sort, told_of

    def _refuse(self, sort: str, address: IPv4Address) -> None:
        if sort == self._refused[0] and address in self._refused[1]:
            raise OSError(errno.ENOBUFS, "no room")

    def neigh_set(self, neighbour: Neighbour, *, bridge: bool = False) -> None:
        self._refuse("fdb" if bridge else "arp", cast(IPv4Address, neighbour.destination))
        super().neigh_set(neighbour, bridge=bridge)

    def route_replace(self, route: Route) -> None:
        self._refuse("route", cast(IPv4Address, route.gateway))
        super().route_replace(route)


@pytest.mark.parametrize(
    ("sort", "at", "undone"),
    [
        ("arp", "10.244.3.0/32", []),
        ("fdb", "172.19.0.4/32", ["arp"]),
        ("route", "10.244.3.0/32", ["fdb", "arp"]),
        ("none", "10.244.3.0/32", []),
    ],
)
def test_half_a_way_to_a_host_is_none_and_the_way_to_the_next_is_whole(sort: str, at: str, undone: list[str]) -> None:
    """Upstream: `handleSubnetEvents`, "Try to clean up both the ARP and FDB entries then continue"."""
    kernel = Refusing(sort, IPv4Network(at))
    backend = VxlanBackend(cast(Any, kernel), "eth0", IPv4Address("172.19.0.2"), mac="02:00:00:00:00:a1")
    third = Lease(IPv4Network("10.244.3.0/24"), attrs("a3", "172.19.0.4"))
    backend.handle([LeaseEvent(ADDED, third), LeaseEvent(ADDED, Lease(THERE, attrs()))])
    assert sorted(kernel.tried) == sorted(undone)
    assert [entry for entry, _ in kernel.told][-3:] == ["arp", "fdb", "route"]
    before = {"arp": 0, "fdb": 1, "route": 2, "none": 3}[sort]
    assert [entry for entry, _ in kernel.told][:-3] == ["arp", "fdb", "route"][:before]


@pytest.mark.parametrize(
    ("cidrs", "address", "managed", "found"),
    [
        (["10.244.2.0/24"], "172.19.0.3", "true", "10.244.2.0/24"),
        (["fd00::/64", "10.244.2.0/24"], "172.19.0.3", "true", "10.244.2.0/24"),
        (["10.244.2.0/24"], "172.19.0.3", "True", None),
        (["10.244.2.0/24"], "172.19.0.3", "false", None),
        (["10.244.2.0/24"], "172.19.0.3", None, None),
        (["10.244.2.0/24"], "fd00::3", "true", "failed to parse IP"),
        (["10.244.2.0/24"], "", "true", "failed to parse IP"),
        ([], "172.19.0.3", "true", 'node "other" pod cidr not assigned'),
        (["fd00::/64"], "172.19.0.3", "true", "missing IPv4 address on n.Spec.PodCIDRs"),
        (["10.1.0.0/24", "10.2.0.0/24", "10.3.0.0/24"], "172.19.0.3", "true", "should be IPv4/IPv6 only or dualstack"),
    ],
)
def test_what_a_node_says_is_its_lease_if_it_is_managed_and_makes_sense(
    cidrs: list[str], address: str, managed: str | None, found: str | None
) -> None:
    """Upstream: `pkg/subnet/kube/kube.go` (`nodeToLease`). Events of nodes that make no sense are none."""
    told = node(KNOWN)
    notes = told["metadata"]["annotations"] | {annotation("public-ip"): address}
    notes |= {annotation("kube-subnet-manager"): managed} if managed is not None else {}
    if managed is None:
        del notes[annotation("kube-subnet-manager")]
    told["metadata"]["annotations"] = notes
    told["spec"] = {"podCIDR": cidrs[0], "podCIDRs": cidrs} if cidrs else {}
    events = NodeLeases(HERE).node_event("ADDED", told)
    if found is None:
        assert (node_to_lease(told), events) == (None, [])
    elif "/" in found and found[0].isdigit():
        lease = Lease(IPv4Network(found), KNOWN)
        assert (node_to_lease(told), events) == (lease, [LeaseEvent(ADDED, lease)])
    else:
        with pytest.raises(CNIError, match=f"{found}$"):
            node_to_lease(told)
        assert events == []


def test_without_annotations_a_node_is_not_managed_and_its_backend_may_be_unsaid() -> None:
    told = node(KNOWN)
    del told["metadata"]["annotations"][annotation("backend-type")]
    lease = node_to_lease(told)
    assert lease is not None
    assert lease.attrs.backend_type == ""
    for notes in ({}, None):
        assert node_to_lease({**told, "metadata": {"name": "other", "annotations": notes}}) is None
    assert node_to_lease({**told, "metadata": {"name": "other"}}) is None
