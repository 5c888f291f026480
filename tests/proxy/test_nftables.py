"""The nftables mode: the text, and the kernel that takes it and balances through it."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.cluster.packet_laboratory import PODS, plug_in_pods, who_answers
from lifecycle.proxy.endpoints_map import Endpoint
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.sync_proxy_rules import NodeFacts
from lifecycle.proxy.nftables.names import endpoint_name, hash_and_truncate, service_name
from lifecycle.proxy.nftables.sync_proxy_rules import sync_proxy_rules
from lifecycle.proxy.service_port_name import ServicePortName
from tests.conftest import unavailable
from tests.proxy.namespace import inside, network_namespace
from tests.proxy.nft_walk import Table
from tests.proxy.shapes import NODE, both_maps, endpoint, endpoint_slice, everything, service


def transaction(
    services: list[Object], slices: list[Object], node: NodeFacts = NODE, config: ProxierConfig | None = None
) -> str:
    return sync_proxy_rules(*both_maps(services, slices, node), node, config or ProxierConfig())


def test_names_are_those_of_the_real_proxy() -> None:
    name = ServicePortName("ns1", "svc1", "p80", "TCP")
    assert service_name(name) == "ULMVA6XW-ns1/svc1/tcp/p80"
    assert endpoint_name(name, Endpoint("10.180.0.1", 80)) == "5OJB2KTY-ns1/svc1/tcp/p80__10.180.0.1/80"
    assert len(hash_and_truncate("x" * 400)) == 240


LONG = ServicePortName(
    "very-long-namespace-name-abcdefghijklmnopqrstuvwxyz0123456789xx",
    "very-long-service-name-why-would-you-even-do-this-i-mean-really",
    "port-443-providing-the-hypertext-transmission-protocol-with-tls",
    "SCTP",
)


@pytest.mark.parametrize(
    ("ip", "port", "hashed", "tail"),
    [
        ("10.180.0.1", 80, "JO2XBXZR", "__10.180.0.1/80"),
        ("10.180.0.2", 80, "5S6H3H22", "__10.180.0.2/80"),
        ("fd80:abcd:12::a1b2:c3d4:e5f6:9999", 80, "U7E2ET36", "__fd80.abcd.12..a1b2.c3d4.e5f6.9999/80"),
    ],
)
def test_names_of_endpoints(ip: str, port: int, hashed: str, tail: str) -> None:
    name = ServicePortName("testing", "service", "http", "TCP")
    assert endpoint_name(name, Endpoint(ip, port)) == f"{hashed}-testing/service/tcp/http{tail}"


def test_long_names_are_cut_and_told_apart_by_their_hash() -> None:
    whole = endpoint_name(LONG, Endpoint("1234:5678:9abc:def0::abc:1234", 443))
    assert whole == "5YS7AFEA-" + service_name(LONG)[9:] + "__1234.5678.9abc.def0..abc.1234/443"
    one, other = (
        endpoint_name(LONG, Endpoint(f"1234:5678:9abc:def0::abcd:1234:{last}", 443)) for last in ("5678", "8765")
    )
    assert (one[:9], other[:9]) == ("CI6C53Q3-", "2FLXFK6X-")
    assert one[9:] == other[9:]
    assert one.endswith("__1234.5678.9abc.def0..abcd.1234...")


def test_a_cluster_ip_is_one_element_one_choice_and_its_endpoints() -> None:
    ends = [endpoint("10.244.1.5"), endpoint("10.244.2.6")]
    lines = transaction([service("s", "10.96.0.9")], [endpoint_slice("s", ends)]).splitlines()
    base = service_name(ServicePortName("ns", "s", "", "TCP"))
    one, two = (endpoint_name(ServicePortName("ns", "s", "", "TCP"), Endpoint(e["addresses"][0], 8080)) for e in ends)
    table = "ip kube-proxy"
    own = [line for line in lines if base in line or one in line or two in line if not line.startswith("flush")]
    assert set(own) == {
        f"add chain {table} service-{base}",
        f"add chain {table} endpoint-{one}",
        f"add chain {table} endpoint-{two}",
        f"add rule {table} service-{base} ip daddr 10.96.0.9 ip saddr != 10.244.0.0/16 jump mark-for-masquerade",
        f"add rule {table} service-{base} numgen random mod 2 vmap {{ 0 : goto endpoint-{one} , 1 : goto endpoint-{two} }}",
        f"add rule {table} endpoint-{one} ip saddr 10.244.1.5 jump mark-for-masquerade",
        f"add rule {table} endpoint-{one} meta l4proto tcp dnat to 10.244.1.5:8080",
        f"add rule {table} endpoint-{two} ip saddr 10.244.2.6 jump mark-for-masquerade",
        f"add rule {table} endpoint-{two} meta l4proto tcp dnat to 10.244.2.6:8080",
        f"add element {table} service-ips {{ 10.96.0.9 . tcp . 80 : goto service-{base} }}",
    }
    assert f"add element {table} cluster-ips {{ 10.96.0.9 }}" in lines


def test_without_endpoints_there_is_only_a_refusal() -> None:
    text = transaction([service("gone", "10.96.0.9", type="NodePort", node_port=30009)], [])
    refusals = [line for line in text.splitlines() if "ns/gone" in line]
    assert refusals == [
        'add element ip kube-proxy no-endpoint-services { 10.96.0.9 . tcp . 80 comment "ns/gone" : goto reject-chain }',
        'add element ip kube-proxy no-endpoint-nodeports { tcp . 30009 comment "ns/gone" : goto reject-chain }',
    ]


def test_a_service_of_every_kind_is_what_upstream_makes_of_it() -> None:
    """Which chains there are, and what leads to them; what the chains do is `test_flows.py`'s."""
    ingress = {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}
    outside = {"type": "LoadBalancer", "node_port": 3001, "status": ingress}
    away = service("away", "172.30.0.42", externalIPs=["192.168.99.22"], externalTrafficPolicy="Local", **outside)
    sticky = service(
        "sticky", "172.30.0.45", sessionAffinity="ClientIP", loadBalancerSourceRanges=["203.0.113.0/25"], **outside
    )
    for obj, made, leading in (
        (
            away,  # strangers find nobody here, but pods and the node are led on
            {"service", "external", "endpoint"},
            {
                ("service-ips", "172.30.0.42 . tcp . 80", "service"),
                ("service-ips", "192.168.99.22 . tcp . 80", "external"),
                ("service-ips", "1.2.3.4 . tcp . 80", "external"),
                ("service-nodeports", "tcp . 3001", "external"),
                ("no-endpoint-nodeports", "tcp . 3001", "drop"),
                ("no-endpoint-services", "1.2.3.4 . tcp . 80", "drop"),
                ("no-endpoint-services", "192.168.99.22 . tcp . 80", "drop"),
                ("cluster-ips", "172.30.0.42", ""),
            },
        ),
        (
            sticky,
            {"service", "external", "firewall", "endpoint", "affinity"},
            {
                ("service-ips", "172.30.0.45 . tcp . 80", "service"),
                ("service-ips", "1.2.3.4 . tcp . 80", "external"),
                ("service-nodeports", "tcp . 3001", "external"),
                ("firewall-ips", "1.2.3.4 . tcp . 80", "firewall"),
                ("cluster-ips", "172.30.0.45", ""),
            },
        ),
    ):
        name = obj["metadata"]["name"]
        table = Table(transaction([obj], [endpoint_slice(name, [endpoint("10.180.0.2")], port=80)]), frozenset())
        own = [thing for thing in (*table.rules, *table.elements) if "/" in thing]
        assert {thing.split("-")[0] for thing in own} == made
        assert len(own) == len(made)
        found = {
            (container, key, verdict.removeprefix("goto ").split("-")[0])
            for container, elements in table.elements.items()
            for key, verdict in elements.items()
            if container != "nodeport-ips"
        }
        assert found == leading


@pytest.mark.real
def test_the_kernel_would_take_it_for_either_family_and_any_node_ports() -> None:
    if shutil.which("nft") is None:
        unavailable("nft is not installed")
    six = NodeFacts("here", "2001:db8::1", other_addresses=("2001:db8:1::2",))
    piece = {**endpoint_slice("s", [endpoint("fd00:10::1")]), "addressType": "IPv6"}
    v6 = service("s", "fd00:96::9", type="NodePort", node_port=30009, sessionAffinity="ClientIP")
    with network_namespace("nft-check") as namespace:
        for networks in ((), ("192.168.0.0/16", "2001:db8::/32"), ("0.0.0.0/0", "::/0")):
            config = ProxierConfig(node_port_addresses=networks)
            inside(namespace, "nft", "-c", "-f", "-", stdin=transaction(*everything(), config=config))
            text = sync_proxy_rules(
                *both_maps([v6], [piece], six),
                six,
                replace(config, cluster_cidr="fd00:10::/64"),
                service_cidrs=("fd00:96::/112",),
            )
            inside(namespace, "nft", "-c", "-f", "-", stdin=text)


@pytest.mark.real
def test_the_kernel_takes_every_shape_twice_and_balances() -> None:
    if shutil.which("nft") is None:
        unavailable("nft is not installed")
    with network_namespace("nft") as namespace:
        text = transaction(*everything())
        for _ in range(2):  # a second time changes nothing
            inside(namespace, "nft", "-f", "-", stdin=text)
            listed = inside(namespace, "nft", "list", "table", "ip", "kube-proxy")
            assert listed.count("dnat to") == text.count("dnat to")
        inside(namespace, "nft", "delete", "table", "ip", "kube-proxy")

        plug_in_pods(namespace)
        services = [
            service("web", "10.96.0.50", type="NodePort", node_port=30050),
            service("sticky", "10.96.0.51", sessionAffinity="ClientIP"),
            service("gone", "10.96.0.52"),
        ]
        slices = [endpoint_slice(name, [endpoint(ip) for ip in PODS]) for name in ("web", "sticky")]
        inside(namespace, "nft", "-f", "-", stdin=transaction(services, slices, NodeFacts("here", PODS[1])))
        calls = [
            ("cluster IP", "10.96.0.50", 80, 60),
            ("node port", PODS[1], 30050, 60),
            ("sticky", "10.96.0.51", 80, 12),
            ("gone", "10.96.0.52", 80, 1),
            ("wrong port", "10.96.0.50", 81, 1),
        ]
        answers = who_answers(namespace, calls)
    for way in ("cluster IP", "node port"):
        assert set(Counter(answers[way])) == set(PODS)
    assert len(set(answers["sticky"])) == 1
    assert answers["sticky"][0] in PODS
    assert answers["gone"] == answers["wrong port"] == ["ConnectionRefusedError"]
