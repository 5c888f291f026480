"""UDP flows that nobody answers any more. Upstream: `pkg/proxy/conntrack/cleanup_test.go`, restated."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.packet_laboratory import PODS, plug_in_pods
from lifecycle.proxy.conntrack import Flow, stale_flows
from lifecycle.proxy.iptables.proxier import Proxier
from lifecycle.proxy.iptables.runner import CommandRunner, TextRunner
from lifecycle.proxy.kernel_conntrack import KernelConntrack
from tests.fake_api import FakeAPI
from tests.proxy.flows import NODE
from tests.proxy.namespace import inside, network_namespace
from tests.proxy.shapes import both_maps, endpoint, endpoint_slice, service

CLUSTER_IP, BALANCER, EXTERNAL_IP = "10.96.0.53", "1.2.3.4", "192.0.2.53"
SERVING = {"ready": False, "serving": True, "terminating": True}
GONE = {"ready": False, "serving": False, "terminating": True}


def dns(protocol: str = "UDP", **spec: Any) -> Object:
    more = {"status": {"loadBalancer": {"ingress": [{"ip": BALANCER}]}}, "externalIPs": [EXTERNAL_IP], **spec}
    return service("s", CLUSTER_IP, type="LoadBalancer", port=53, node_port=30053, protocol=protocol, **more)


def behind(*ends: Object, protocol: str = "UDP") -> Object:
    return endpoint_slice("s", ends, port=5353, protocol=protocol)


def flow(to: str, port: int, by: str, answer_port: int = 5353) -> Flow:
    return Flow((to, port), (by, answer_port), f"{to}:{port} {by}:{answer_port}".encode())


WAYS_IN = ((CLUSTER_IP, 53), (BALANCER, 53), (EXTERNAL_IP, 53), ("192.168.0.2", 30053), ("192.168.7.7", 30053))


def stale(services: Sequence[Object], slices: Sequence[Object], flows: Iterable[Flow]) -> list[Flow]:
    return list(stale_flows(*both_maps(services, slices, NODE), flows))


@pytest.mark.parametrize("way", WAYS_IN)
def test_a_flow_is_stale_if_no_serving_endpoint_answers_it(way: tuple[str, int]) -> None:
    ends = [endpoint("10.0.0.1"), endpoint("10.0.0.2", **SERVING), endpoint("10.0.0.3", **GONE)]
    good = [flow(*way, "10.0.0.1"), flow(*way, "10.0.0.2")]
    bad = [flow(*way, "10.0.0.3"), flow(*way, "10.0.0.9"), flow(*way, "10.0.0.1", 53), flow(*way, way[0], way[1])]
    for policy in ("Cluster", "Local"):  # policies are for flows that begin
        assert stale([dns(externalTrafficPolicy=policy)], [behind(*ends)], [*good, *bad]) == bad


def test_flows_that_are_not_looked_at() -> None:
    others = [flow(CLUSTER_IP, 54, "10.0.0.9"), flow("10.96.0.54", 53, "10.0.0.9")]
    assert stale([dns()], [behind(endpoint("10.0.0.1"))], others) == []
    dead = [flow(*way, "10.0.0.9") for way in WAYS_IN]
    assert stale([dns()], [behind(endpoint("10.0.0.3", **GONE))], dead) == []  # the rules refuse these
    assert stale([dns("TCP")], [behind(endpoint("10.0.0.1"), protocol="TCP")], dead) == []


class Table:
    def __init__(self, *flows: Flow) -> None:
        self.flows = list(flows)
        self.reads = 0

    def udp_flows(self) -> list[Flow]:
        self.reads += 1
        return list(self.flows)

    def forget(self, flows: Iterable[Flow]) -> None:
        for one in flows:
            self.flows.remove(one)


def _proxier(sink: Any, conntrack: Any) -> Proxier:
    client = Client(FakeAPI(), "kube-proxy")
    return Proxier(
        client,
        SharedInformerFactory(client),
        node_name="here",
        node_ip="192.168.0.2",
        clock=Clock(),
        sink=sink,
        conntrack=conntrack,
    )


def test_flows_are_looked_through_when_a_udp_service_changed() -> None:
    async def main() -> None:
        table = Table(flow(CLUSTER_IP, 53, "10.0.0.1"), flow(CLUSTER_IP, 53, "10.0.0.2"))
        proxier = _proxier(TextRunner(), table)
        proxier.on_service(dns())
        proxier.on_endpoint_slice(behind(endpoint("10.0.0.1"), endpoint("10.0.0.2")))
        await proxier.sync()
        assert (len(table.flows), table.reads) == (2, 1)
        proxier.on_service(service("web", "10.96.0.80"))
        await proxier.sync()
        assert table.reads == 1
        proxier.on_endpoint_slice(behind(endpoint("10.0.0.2")))
        await proxier.sync()
        assert table.flows == [flow(CLUSTER_IP, 53, "10.0.0.2")]

    run_virtual(main())


ASK = """
import socket, sys
asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asking.bind(("{pod}", 4053))
asking.sendto(b"?", ("{to}", 53))
"""


@pytest.mark.real
def test_the_kernel_forgets_a_flow_to_a_pod_that_is_gone() -> None:
    """The client's next packet, from the same port, finds the pod that is left."""

    async def main(namespace: str, conntrack: KernelConntrack) -> None:
        proxier = _proxier(CommandRunner(namespace), conntrack)

        async def answered_by(*pods: str) -> list[Flow]:
            proxier.on_endpoint_slice(behind(*map(endpoint, pods)))
            await proxier.sync()
            inside(namespace, sys.executable, "-c", ASK.format(pod=PODS[2], to=CLUSTER_IP))
            return [one for one in conntrack.udp_flows() if one.to == (CLUSTER_IP, 53)]

        proxier.on_service(service("s", CLUSTER_IP, port=53, protocol="UDP"))
        [first] = await answered_by(PODS[0])
        assert first.answered_by == (PODS[0], 5353)
        [still] = await answered_by(PODS[0], PODS[1])
        assert still == first
        [second] = await answered_by(PODS[1])
        assert second.answered_by == (PODS[1], 5353)
        conntrack.forget([second, second])
        assert [one for one in conntrack.udp_flows() if one.to == (CLUSTER_IP, 53)] == []

    with network_namespace("flows") as namespace:
        plug_in_pods(namespace)
        with contextlib.closing(KernelConntrack(f"/run/netns/{namespace}")) as conntrack:
            asyncio.run(main(namespace, conntrack))
