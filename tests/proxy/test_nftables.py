"""The nftables mode: the text, and the kernel that takes it and balances through it."""

from __future__ import annotations

import shutil
from collections import Counter

import pytest

from lifecycle.api.wire import Object
from lifecycle.cluster.packet_laboratory import PODS, plug_in_pods, who_answers
from lifecycle.proxy.endpoints_map import Endpoint, EndpointsMap
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.sync_proxy_rules import NodeFacts
from lifecycle.proxy.nftables.names import endpoint_name, hash_and_truncate, service_name
from lifecycle.proxy.nftables.sync_proxy_rules import sync_proxy_rules
from lifecycle.proxy.service_map import ServicePortMap
from lifecycle.proxy.service_port_name import ServicePortName
from tests.conftest import unavailable
from tests.proxy.namespace import inside, network_namespace
from tests.proxy.shapes import NODE, endpoint, endpoint_slice, everything, service


def transaction(services: list[Object], slices: list[Object], node: NodeFacts = NODE) -> str:
    ports, endpoints = ServicePortMap(), EndpointsMap(node.name)
    for obj in services:
        ports.update(obj)
    for obj in slices:
        endpoints.update(obj)
    return sync_proxy_rules(ports, endpoints, node, ProxierConfig())


def test_names_are_those_of_the_real_proxy() -> None:
    name = ServicePortName("ns1", "svc1", "p80", "TCP")
    assert service_name(name) == "ULMVA6XW-ns1/svc1/tcp/p80"
    assert endpoint_name(name, Endpoint("10.180.0.1", 80)) == "5OJB2KTY-ns1/svc1/tcp/p80__10.180.0.1/80"
    assert len(hash_and_truncate("x" * 400)) == 240


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
