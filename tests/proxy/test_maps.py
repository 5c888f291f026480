"""From API objects to what the rules are made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.proxy.endpoints_map import Endpoint, EndpointsMap
from lifecycle.proxy.service_map import ServicePort, ServicePortMap, service_ports
from lifecycle.proxy.service_port_name import ServicePortName
from lifecycle.proxy.topology import categorize_endpoints
from tests.proxy.shapes import endpoint, endpoint_slice, service

PORT = ServicePortName("ns", "s", "", "TCP")


def test_headless_and_external_services_are_not_proxied() -> None:
    assert list(service_ports(service("s", "None"))) == []
    assert list(service_ports(service("s", "", type="ExternalName"))) == []
    assert list(service_ports(service("s", "fd00::1"))) == []
    assert next(service_ports(service("s", "fd00::1"), "IPv6")).cluster_ip == "fd00::1"


def test_a_port_of_a_service_of_which_nothing_is_said() -> None:
    [port] = service_ports(service("s", "10.96.0.1"))
    assert port == ServicePort(PORT, "10.96.0.1", 80, 0, (), (), (), 0, 0, False, False)


def test_a_port_of_a_service_of_which_everything_is_said() -> None:
    """Of every address and network only those of the family, and in the spelling of the rules."""
    said = service(
        "s",
        "10.96.0.1",
        type="LoadBalancer",
        clusterIPs=["10.96.0.1", "fd00::1"],
        externalIPs=["192.0.2.1", "2001:db8:0::1"],
        loadBalancerSourceRanges=[" 198.51.100.7/24", "2001:db8::/32"],
        sessionAffinity="ClientIP",
        sessionAffinityConfig={"clientIP": {"timeoutSeconds": 77}},
        healthCheckNodePort=30001,
        internalTrafficPolicy="Local",
        externalTrafficPolicy="Local",
        ports=[{"name": "dns", "protocol": "UDP", "port": 53, "nodePort": 30053}],
    ) | {
        "status": {
            "loadBalancer": {
                "ingress": [
                    {"ip": "203.0.113.1"},
                    {"ip": "203.0.113.2", "ipMode": "VIP"},
                    {"ip": "203.0.113.3", "ipMode": "Proxy"},
                    {"hostname": "elb"},
                    {"ip": "2001:db8::2"},
                ]
            }
        }
    }
    name = ServicePortName("ns", "s", "dns", "UDP")
    assert list(service_ports(said)) == [
        ServicePort(
            name, "10.96.0.1", 53, 30053, ("192.0.2.1",), ("203.0.113.1", "203.0.113.2"), ("198.51.100.0/24",), 77,
            30001, True, True,
        )
    ]  # fmt: skip
    assert list(service_ports(said, "IPv6")) == [
        ServicePort(
            name, "fd00::1", 53, 30053, ("2001:db8::1",), ("2001:db8::2",), ("2001:db8::/32",), 77, 30001, True, True
        )
    ]  # fmt: skip


def test_affinity_lasts_three_hours_unless_a_time_is_given() -> None:
    for spec, seconds in (
        ({"sessionAffinity": "None", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 77}}}, 0),
        ({"sessionAffinity": "ClientIP"}, 10_800),
        ({"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": None}}, 10_800),
    ):
        assert next(service_ports(service("s", "10.96.0.1", **spec))).sticky_max_age_seconds == seconds


def test_the_outside_policy_counts_only_for_what_is_reached_from_outside() -> None:
    local = {"externalTrafficPolicy": "Local", "healthCheckNodePort": 30001}
    for spec, policy, health in (
        ({"type": "ClusterIP"}, False, 0),
        ({"type": "ClusterIP", "externalIPs": ["192.0.2.1"]}, True, 0),
        ({"type": "NodePort"}, True, 0),
        ({"type": "LoadBalancer"}, True, 30001),
        ({"type": "LoadBalancer", "externalTrafficPolicy": "Cluster"}, False, 0),
    ):
        port = next(service_ports(service("s", "10.96.0.1", **(local | spec))))
        assert (port.external_policy_local, port.health_check_node_port) == (policy, health), spec


def test_only_changes_that_rules_are_made_of_count() -> None:
    ports = ServicePortMap()
    first = service("s", "10.96.0.1")
    assert ports.update(first)
    assert not ports.update({**first, "metadata": {**first["metadata"], "labels": {"new": "label"}}})
    assert ports.update(service("s", "10.96.0.1", port=81))
    assert ports.remove(first)
    assert not ports.remove(first)


def test_addresses_in_two_slices_count_once() -> None:
    found = EndpointsMap("here")
    assert found.update(endpoint_slice("s", [endpoint("10.0.0.2"), endpoint("10.0.0.1")]))
    assert found.update(endpoint_slice("s", [endpoint("10.0.0.2"), endpoint("10.0.0.3", "here")], suffix="2"))
    assert [str(e) for e in found[PORT]] == ["10.0.0.1:8080", "10.0.0.2:8080", "10.0.0.3:8080"]
    assert found[PORT][2].is_local
    assert not found.update(endpoint_slice("s", [endpoint("10.0.0.1")], suffix="3"))
    assert not found.remove(endpoint_slice("s", [], suffix="3"))
    assert found.remove(endpoint_slice("s", [], suffix="2"))
    assert len(found[PORT]) == 2


def test_a_slice_without_its_service_label_is_nobodys() -> None:
    orphan = endpoint_slice("s", [endpoint("10.0.0.2")])
    orphan["metadata"]["labels"] = {}
    assert not EndpointsMap("here").update(orphan)


def test_terminating_endpoints_serve_when_nobody_else_does() -> None:
    port = next(service_ports(service("s", "10.96.0.1")))
    going = Endpoint("10.0.0.1", 80, ready=False, terminating=True)
    dead = Endpoint("10.0.0.2", 80, ready=False, serving=False, terminating=True)
    fine = Endpoint("10.0.0.3", 80)
    assert categorize_endpoints([going, dead], port, "here", {}).cluster == (going,)
    assert categorize_endpoints([going, dead, fine], port, "here", {}).cluster == (fine,)
    assert not categorize_endpoints([dead], port, "here", {}).has_any


def test_hints_count_only_if_everybody_has_one_and_one_is_ours() -> None:
    port = next(service_ports(service("s", "10.96.0.1")))
    a, b = (Endpoint(f"10.0.0.{i}", 80, zone_hints=frozenset({z})) for i, z in ((1, "a"), (2, "b")))
    zone = {"topology.kubernetes.io/zone": "a"}
    assert categorize_endpoints([a, b], port, "here", zone).cluster == (a,)
    assert categorize_endpoints([a, b], port, "here", {}).cluster == (a, b)
    unhinted = Endpoint("10.0.0.3", 80)
    assert categorize_endpoints([a, b, unhinted], port, "here", zone).cluster == (a, b, unhinted)
    near = Endpoint("10.0.0.4", 80, zone_hints=frozenset({"a"}), node_hints=frozenset({"here"}))
    assert categorize_endpoints([near], port, "here", zone).cluster == (near,)


@given(
    st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans()), max_size=6),
    st.booleans(),
    st.booleans(),
)
def test_what_is_reachable_is_what_some_policy_may_use(
    states: list[tuple[bool, bool, bool, bool]], internal: bool, external: bool
) -> None:
    names = {True: "Local", False: "Cluster"}
    policies = {"internalTrafficPolicy": names[internal], "externalTrafficPolicy": names[external]}
    port = next(service_ports(service("s", "10.96.0.1", type="NodePort", node_port=30000, **policies)))
    endpoints = [Endpoint(f"10.0.0.{i}", 80, *state) for i, state in enumerate(states)]
    found = categorize_endpoints(endpoints, port, "here", {})
    assert set(found.reachable) == {*found.cluster, *found.local}
    assert all(e.is_local for e in found.local)
    assert list(map(str, found.reachable)) == sorted(map(str, found.reachable))
    assert found.has_any >= bool(found.reachable)
