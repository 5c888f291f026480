"""Balancers ask which nodes have pods. Upstream: `pkg/proxy/healthcheck/healthcheck_test.go`, `TestHealthCheckNodePortWhenTerminating`."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest

from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.proxy.endpoints_map import EndpointsMap
from lifecycle.proxy.iptables.proxier import Proxier
from lifecycle.proxy.iptables.runner import TextRunner
from lifecycle.proxy.iptables.tables import RestoreError
from lifecycle.proxy.service_health import ServiceHealthServer
from lifecycle.proxy.service_map import ServicePortMap
from tests.fake_api import FakeAPI
from tests.proxy.shapes import endpoint, endpoint_slice, service

S, T = ("ns", "s"), ("ns", "t")


class Ports:
    """Any free port of this machine stands for the one that is asked for."""

    def __init__(self) -> None:
        self.real: dict[int, int] = {}
        self.taken: set[int] = set()

    def listen(self, port: int) -> socket.socket:
        if port in self.taken:
            raise OSError("Address already in use")
        made = socket.create_server(("127.0.0.1", 0))
        made.setblocking(False)
        self.real[port] = made.getsockname()[1]
        return made

    async def get(self, port: int) -> tuple[int, dict[str, str], str]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.real[port])
        writer.write(b"GET / HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n")
        async with asyncio.timeout(40):
            head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
        writer.close()
        status, *lines = head.split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        return int(status.split()[1]), headers, body


def test_each_service_answers_on_its_own_port_with_its_own_number() -> None:
    async def main() -> None:
        ports, fresh = Ports(), True
        server = ServiceHealthServer(ports.listen, lambda: fresh)
        await server.sync({S: 30001, T: 30002}, {S: 2, ("ns", "stranger"): 9})
        status, headers, body = await ports.get(30001)
        assert (status, headers["X-Load-Balancing-Endpoint-Weight"]) == (200, "2")
        assert (headers["Content-Type"], headers["X-Content-Type-Options"]) == ("application/json", "nosniff")
        told = {"service": {"namespace": "ns", "name": "s"}, "localEndpoints": 2, "serviceProxyHealthy": True}
        assert body == json.dumps(told, indent="\t")
        assert [(await ports.get(30002))[0], json.loads((await ports.get(30002))[2])["localEndpoints"]] == [503, 0]

        fresh = False
        status, headers, body = await ports.get(30001)
        assert (status, headers["X-Load-Balancing-Endpoint-Weight"]) == (503, "2")
        assert json.loads(body)["serviceProxyHealthy"] is False

        fresh = True
        await server.sync({T: 30003}, {T: 1})
        assert (await ports.get(30003))[0] == 200
        for closed in (30001, 30002):
            with pytest.raises(ConnectionRefusedError):
                await ports.get(closed)
        await server.stop()
        with pytest.raises(ConnectionRefusedError):
            await ports.get(30003)

    asyncio.run(main())


def test_a_port_that_is_taken_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        ports = Ports()
        ports.taken.add(30001)
        server = ServiceHealthServer(ports.listen)
        await server.sync({S: 30001}, {S: 1})
        assert "ns/s cannot listen on port 30001" in caplog.text
        ports.taken.clear()
        await server.sync({S: 30001}, {S: 1})
        assert (await ports.get(30001))[0] == 200
        await server.stop()

    asyncio.run(main())


def test_only_local_balancers_have_a_port() -> None:
    found = ServicePortMap()
    for name, kind, policy in (
        ("s", "LoadBalancer", "Local"),
        ("t", "LoadBalancer", "Cluster"),
        ("u", "NodePort", "Local"),
    ):
        found.update(service(name, "10.96.0.1", type=kind, externalTrafficPolicy=policy, healthCheckNodePort=30001))
    assert found.health_check_node_ports() == {S: 30001}
    assert found.update(service("s", "10.96.0.1"))
    assert found.health_check_node_ports() == {}


def test_ready_addresses_of_this_node_count_once() -> None:
    going = {"ready": False, "serving": True, "terminating": True}
    found = EndpointsMap("here")
    ends = [endpoint("10.0.1.1", "here"), endpoint("10.0.1.2", "here"), endpoint("10.0.1.3", "here", ready=False)]
    piece = endpoint_slice("s", [*ends, endpoint("10.0.1.4", "there")])
    piece["ports"] += [{"name": "other", "port": 81, "protocol": "TCP"}]
    found.update(piece)
    found.update(endpoint_slice("t", [endpoint("10.0.1.4", "there")]))
    assert found.local_ready_endpoints() == {S: 2}
    found.update(endpoint_slice("s", [endpoint(f"10.0.1.{n}", "here", **going) for n in (1, 2, 3)]))
    assert found.local_ready_endpoints() == {}


def test_who_cannot_write_rules_for_a_minute_is_not_to_be_sent_anything() -> None:
    async def main() -> None:
        client = Client(FakeAPI(), "kube-proxy")
        sink = TextRunner()
        proxier = Proxier(
            client,
            SharedInformerFactory(client),
            node_name="here",
            node_ip="192.168.0.2",
            clock=Clock(),
            sink=sink,
            listen=Ports().listen,
        )
        assert proxier._balancers is not None
        local = {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 30001}
        proxier.on_service(service("s", "10.96.0.1", **local))
        proxier.on_endpoint_slice(endpoint_slice("s", [endpoint("10.0.1.1", "here")]))
        await proxier.sync()
        assert proxier._balancers.answer(S)[0] == 200
        restore = sink.restore_all

        async def fail(text: str) -> None:
            raise RestoreError("the lock is held")

        sink.restore_all = fail  # type: ignore[method-assign]
        proxier.on_service(service("t", "10.96.0.2"))
        seen = []
        for _ in range(4):
            await proxier.sync()
            await asyncio.sleep(20)
            seen.append(proxier._balancers.answer(S)[0])
        assert seen == [200, 200, 503, 503]
        sink.restore_all = restore  # type: ignore[method-assign]
        await proxier.sync()
        assert proxier._balancers.answer(S)[0] == 200
        await proxier._balancers.stop()

    run_virtual(main())
