"""UDP flows that go on to endpoints which are there no longer."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.proxy.conntrack import Flow, stale_flows
from lifecycle.proxy.endpoints_map import EndpointsMap
from lifecycle.proxy.service_map import ServicePortMap

CLUSTER_IP, EXTERNAL_IP, BALANCER, PORT = "10.96.0.53", "192.0.2.9", "203.0.113.9", 53
NODE_PORT, NODE = 30053, "172.19.0.2"
WAYS_IN = (
    (CLUSTER_IP, PORT),
    (EXTERNAL_IP, PORT),
    (BALANCER, PORT),
    (NODE, NODE_PORT),
)


def _service(protocol: str) -> Object:
    port = {"port": PORT, "targetPort": 5353, "protocol": protocol}
    return {
        "metadata": {"name": "dns", "namespace": "default"},
        "spec": {
            "type": "LoadBalancer",
            "clusterIP": CLUSTER_IP,
            "clusterIPs": [CLUSTER_IP],
            "externalIPs": [EXTERNAL_IP],
            "ipFamilies": ["IPv4"],
            "externalTrafficPolicy": "Cluster",
            "internalTrafficPolicy": "Cluster",
            "ports": [{**port, "nodePort": NODE_PORT}],
        },
        "status": {"loadBalancer": {"ingress": [{"ip": BALANCER}]}},
    }


def _slice(protocol: str, *endpoints: tuple[str, bool]) -> Object:
    return {
        "metadata": {
            "name": "dns-1",
            "namespace": "default",
            "labels": {"kubernetes.io/service-name": "dns"},
        },
        "addressType": "IPv4",
        "ports": [{"name": "", "port": 5353, "protocol": protocol}],
        "endpoints": [
            {"addresses": [ip], "conditions": {"ready": serving, "serving": serving}} for ip, serving in endpoints
        ],
    }


def forgotten(protocol: str, *endpoints: tuple[str, bool]) -> list[bytes]:
    """Which flows are to be forgotten, if these endpoints serve, or do not: to each way
    in a flow to each of two addresses, and one to somebody else's port.
    """
    services, ends = ServicePortMap(), EndpointsMap("n")
    services.update(_service(protocol))
    ends.update(_slice(protocol, *endpoints))
    flows = [
        Flow(way, (ip, 5353), f"{way[0]}>{ip}".encode())
        for way in (*WAYS_IN, (CLUSTER_IP, PORT + 1))
        for ip in ("10.244.1.1", "10.244.1.2")
    ]
    return [flow.key for flow in stale_flows(services, ends, flows)]


SERVES, GONE = ("10.244.1.1", True), ("10.244.1.2", False)


@pytest.mark.parametrize("endpoints", [(SERVES, GONE), (SERVES,)])
def test_flows_to_who_serves_no_longer_are_forgotten_by_whichever_way_they_came(
    endpoints: tuple[tuple[str, bool], ...],
) -> None:
    assert forgotten("UDP", *endpoints) == [f"{address}>10.244.1.2".encode() for address, _ in WAYS_IN]


def test_where_nobody_else_serves_flows_are_kept() -> None:
    assert forgotten("UDP", GONE) == []


def test_connections_end_with_the_pod() -> None:
    assert forgotten("TCP", SERVES, GONE) == []


def test_who_is_about_to_go_keeps_its_flows_as_long_as_it_serves() -> None:
    """It is not ready any more, which is said to new clients only."""
    services, ends = ServicePortMap(), EndpointsMap("n")
    services.update(_service("UDP"))
    body = _slice("UDP", ("10.244.1.1", True), ("10.244.1.2", True))
    body["endpoints"][1]["conditions"] = {"ready": False, "serving": True, "terminating": True}
    ends.update(body)
    flows = [Flow((CLUSTER_IP, PORT), (f"10.244.1.{n}", 5353), bytes([n])) for n in (1, 2, 3)]
    assert [flow.key for flow in stale_flows(services, ends, flows)] == [bytes([3])]


def test_every_service_has_its_own_flows() -> None:
    services, ends = ServicePortMap(), EndpointsMap("n")
    addresses = {
        "one": ("10.96.0.1", "10.244.1.1"),
        "two": ("10.96.0.2", "10.244.1.2"),
        "three": ("10.96.0.3", "10.244.1.3"),
    }
    for name, (service, endpoint) in addresses.items():
        body = _service("UDP")
        body["metadata"]["name"] = name
        body["spec"] |= {"type": "ClusterIP", "clusterIP": service, "clusterIPs": [service], "externalIPs": []}
        body["spec"]["ports"][0].pop("nodePort")
        services.update(body | {"status": {}})
        ends_of = _slice("UDP", (endpoint, True))
        ends_of["metadata"] |= {"name": f"{name}-1", "labels": {"kubernetes.io/service-name": name}}
        ends.update(ends_of)
    flows = [
        Flow((service, PORT), (ip, 5353), f"{name}>{ip}".encode())
        for name, (service, _) in addresses.items()
        for ip in ("10.244.1.1", "10.244.1.2", "10.244.1.3")
    ]
    kept = {f"{name}>{ip}".encode() for name, (_, ip) in addresses.items()}
    assert {flow.key for flow in stale_flows(services, ends, flows)} == {flow.key for flow in flows} - kept


def test_another_port_of_the_same_pod_is_somebody_else() -> None:
    services, ends = ServicePortMap(), EndpointsMap("n")
    services.update(_service("UDP"))
    ends.update(_slice("UDP", SERVES))
    flows = [Flow((CLUSTER_IP, PORT), ("10.244.1.1", port), bytes([port % 250])) for port in (5353, 5354)]
    assert [flow.key for flow in stale_flows(services, ends, flows)] == [bytes([5354 % 250])]
