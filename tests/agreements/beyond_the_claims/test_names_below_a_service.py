"""What may stand before a Service's name, and what it leads to: families of addresses, ports, single endpoints."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.dns.answering import Answerer
from lifecycle.dns.kubernetes_plugin import MOST_TARGETS, KubernetesPlugin, NameDoesNotExist
from lifecycle.dns.records import NOERROR, NXDOMAIN
from lifecycle.dns.request_name import InvalidRequest, parse_request
from lifecycle.dns.service_index import ServiceIndex

PORTS = [{"name": "http", "port": 80, "protocol": "TCP"}, {"name": "dns", "port": 53, "protocol": "UDP"}]


def _service(name: str, **spec: Any) -> Object:
    return {"metadata": {"name": name, "namespace": "shop"}, "spec": {"type": "ClusterIP", "ports": PORTS, **spec}}


def _slice(name: str, family: str, *endpoints: Object) -> Object:
    labels = {"kubernetes.io/service-name": name}
    return {
        "metadata": {"name": f"{name}-{family}", "namespace": "shop", "labels": labels},
        "addressType": family,
        "endpoints": list(endpoints),
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}, {"name": "dns", "port": 5353, "protocol": "UDP"}],
    }


DNS = KubernetesPlugin(
    ServiceIndex.of(
        [
            _service("one", clusterIP="10.96.0.5", clusterIPs=["10.96.0.5"]),
            _service("both", clusterIP="10.96.0.6", clusterIPs=["10.96.0.6", "fd00::6"]),
            _service("bare", clusterIP="None", clusterIPs=["None"]),
            _service("out", type="ExternalName", externalName="example.com"),
            _service("far", type="ExternalName", externalName="192.0.2.7"),
        ],
        [
            _slice("one", "IPv4", {"addresses": ["10.244.1.2"]}, {"addresses": ["10.244.1.3"], "hostname": "db-0"}),
            _slice("bare", "IPv4", {"addresses": ["10.244.1.4"]}),
            _slice("bare", "IPv6", {"addresses": ["fd00::4"]}),
            _slice("bare", "IPv4-more", {"addresses": ["10.244.1.5"], "conditions": {"ready": False}}),
        ],
        ["shop"],
        7,
    )
)


@pytest.mark.parametrize(
    ("name", "qtype", "found"),
    [
        ("one", "A", {("10.96.0.5", 80), ("10.96.0.5", 53)}),
        ("both", "A", {("10.96.0.6", 80), ("10.96.0.6", 53), ("fd00::6", 80), ("fd00::6", 53)}),
        ("_http._tcp.both", "SRV", {("10.96.0.6", 80), ("fd00::6", 80)}),
        ("_dns._udp.both", "SRV", {("10.96.0.6", 53), ("fd00::6", 53)}),
        ("_dns._tcp.both", "SRV", None),  # of that name and that protocol, not one of them
        ("_http._udp.both", "SRV", None),
        ("_http.__tcp.both", "SRV", None),  # one underscore is a sign, the second is a letter
        ("__http._tcp.both", "SRV", None),
        ("http.tcp.both", "SRV", {("10.96.0.6", 80), ("fd00::6", 80)}),
        # an endpoint of a Service that has an address of its own
        ("10-244-1-2.one", "A", {("10.244.1.2", 8080), ("10.244.1.2", 5353)}),
        ("db-0.one", "A", {("10.244.1.3", 8080), ("10.244.1.3", 5353)}),
        ("10-244-1-3.one", "A", None),  # it has a name
        ("10-244-1-9.one", "A", None),
        # all that are ready, of both families
        ("bare", "A", {("10.244.1.4", 8080), ("10.244.1.4", 5353), ("fd00::4", 8080), ("fd00::4", 5353)}),
        ("_http._tcp.bare", "SRV", {("10.244.1.4", 8080), ("fd00::4", 8080)}),
        ("fd00--4.bare", "AAAA", {("fd00::4", 8080), ("fd00::4", 5353)}),
        ("10-244-1-5.bare", "A", None),
        # somebody else's name has no ports and no endpoints
        ("out", "A", {("example.com.", -1)}),
        # an address is no name: nothing leads to it (CoreDNS: `serviceRecords`, `HostType`)
        ("far", "A", None),
        ("far", "CNAME", None),
        ("_http._tcp.out", "A", None),
        ("x.out", "A", None),
        ("_._tcp.out", "A", None),
        ("_http._.out", "A", None),
    ],
)
def test_a_name_leads_to_what_it_says(name: str, qtype: str, found: set[tuple[str, int]] | None) -> None:
    asked = f"{name}.shop.svc.cluster.local."
    if found is None:
        with pytest.raises(NameDoesNotExist):
            DNS.targets(asked, qtype)
    else:
        targets = DNS.targets(asked, qtype)
        if qtype == "SRV":
            assert {(target.host, target.port) for target in targets} == found
            assert len(targets) == len(found)
        else:  # an address is an address, whatever listens there
            hosts = {host for host, _ in found}
            assert sorted(target.host for target in targets) == sorted(hosts)


def test_addresses_are_all_found_and_of_ports_as_many_as_an_answer_could_hold() -> None:
    ends = [{"addresses": [f"10.1.{number // 250}.{number % 250 + 1}"]} for number in range(MOST_TARGETS + 9)]
    six = [{"addresses": [f"fd00::{number + 1:x}"]} for number in range(MOST_TARGETS + 9)]
    services = [_service(name, clusterIP="None", clusterIPs=["None"]) for name in ("large", "six")]
    slices = [_slice("large", "IPv4", *ends), _slice("six", "IPv6", *six)]
    many = KubernetesPlugin(ServiceIndex.of(services, slices, ["shop"], 7))
    for name, qtype in (("large", "A"), ("six", "AAAA")):
        assert len({target.host for target in many.targets(f"{name}.shop.svc.cluster.local.", qtype)}) == len(ends)
    assert len(many.targets("_http._tcp.large.shop.svc.cluster.local.", "SRV")) == MOST_TARGETS


@pytest.mark.parametrize(
    ("zone", "qtype", "code"),
    [
        ("cluster.local", "A", NOERROR),
        ("Cluster.Local", "A", NXDOMAIN),
        ("Cluster.Local", "TXT", NXDOMAIN),
        ("Cluster.Local", "SOA", NOERROR),
    ],
)
def test_the_name_servers_own_name_is_known_in_small_letters_only(zone: str, qtype: str, code: str) -> None:
    """Of the start of authority CoreDNS does not look whether there is such a name at all."""
    assert Answerer(DNS).answer(f"ns.dns.{zone}.", qtype).rcode == code


@pytest.mark.parametrize("below", ["a.b.c", "x._http._tcp", "a.b.c.d", "_http._tcp.10-244-1-2"])
def test_deeper_than_a_port_and_its_protocol_there_are_no_names(below: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_request(f"{below}.one.shop.svc.cluster.local.", "cluster.local.")
