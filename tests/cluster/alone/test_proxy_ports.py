"""The ports of kube-proxy on its node; what each answers was asked of kube-proxy 1.36.2."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator

import pytest

from lifecycle.api.loop.clock import Clock
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.alone import proxy_ports
from lifecycle.cluster.alone.proxy_ports import ProxyPorts
from lifecycle.proxy.iptables.proxier import Proxier
from lifecycle.proxy.iptables.runner import TextRunner
from tests.fake_api import FakeAPI
from tests.proxy.shapes import endpoint, endpoint_slice, service

HEALTHZ, STATUS = ("0.0.0.0", 10256), ("127.0.0.1", 10249)


class Node:
    """Any free port of this machine stands for one of the node's; `taken`: how often a port is not free."""

    def __init__(self) -> None:
        client = Client(FakeAPI(), "kube-proxy")
        informers = SharedInformerFactory(client)
        self.proxier = Proxier(
            client, informers, node_name="here", node_ip="192.168.0.2", clock=Clock(), sink=TextRunner()
        )
        self.real: dict[tuple[str, int], int] = {}
        self.open = {where: asyncio.Event() for where in (HEALTHZ, STATUS)}
        self.taken: dict[tuple[str, int], int] = {}

    def listen(self, address: str, port: int) -> socket.socket:
        if self.taken.get((address, port), 0):
            self.taken[address, port] -= 1
            raise OSError("Address already in use")
        made = socket.create_server(("127.0.0.1", 0))
        made.setblocking(False)
        self.real[address, port] = made.getsockname()[1]
        self.open[address, port].set()
        return made

    async def get(self, where: tuple[str, int], path: str) -> tuple[int, str, str]:
        """Status, content type, body."""
        async with asyncio.timeout(30):
            await self.open[where].wait()
            reader, writer = await asyncio.open_connection("127.0.0.1", self.real[where])
            writer.write(f"GET {path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n".encode())
            head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
        writer.close()
        status, *lines = head.split("\r\n")
        return int(status.split()[1]), dict(line.split(": ", 1) for line in lines)["Content-Type"], body


@contextlib.asynccontextmanager
async def ports(node: Node) -> AsyncIterator[None]:
    task = asyncio.create_task(ProxyPorts(node.proxier, node.listen).run())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def test_balancers_ask_one_port_and_the_machine_the_other() -> None:
    async def main() -> None:
        node = Node()
        async with ports(node):
            node.proxier.on_service(service("s", "10.96.0.1"))
            node.proxier.on_endpoint_slice(endpoint_slice("s", [endpoint("10.0.1.1", "here")]))
            await node.proxier.sync()
            for path in ("/healthz", "/livez"):
                status, kind, body = await node.get(HEALTHZ, path)
                assert (status, kind, json.loads(body)["healthy"]) == (200, "application/json", True)
            plain = "text/plain; charset=utf-8"
            assert await node.get(STATUS, "/healthz") == (200, plain, "ok")
            assert await node.get(STATUS, "/proxyMode") == (200, plain, "iptables")
            for where, path in ((HEALTHZ, "/"), (HEALTHZ, "/metrics"), (STATUS, "/livez")):
                assert await node.get(where, path) == (404, plain, "404 page not found\n")
            status, kind, body = await node.get(STATUS, "/metrics")
            assert status == 200
            assert kind.startswith("text/plain; version=0.0.4")
            help_and_type = [line.partition(" ")[2] for line in body.splitlines() if line.startswith("#")]
            assert [line for line in help_and_type if " kubeproxy_" in f" {line}" and line.startswith("HELP")] == [
                "HELP kubeproxy_proxy_healthz_total Cumulative proxy healthz HTTP status",
                "HELP kubeproxy_proxy_livez_total Cumulative proxy livez HTTP status",
                "HELP kubeproxy_sync_proxy_rules_iptables_total Total number of iptables rules owned by kube-proxy",
                "HELP kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds The last time a sync of proxy rules was"
                " queued",
                "HELP kubeproxy_sync_proxy_rules_last_timestamp_seconds The last time proxy rules were successfully"
                " synced",
            ]
            filters, nat = node.proxier.last_rule_counts
            for line in (
                'kubeproxy_proxy_healthz_total{code="200"} 1',
                'kubeproxy_proxy_livez_total{code="200"} 1',
                f'kubeproxy_sync_proxy_rules_iptables_total{{ip_family="IPv4",table="filter"}} {filters}',
                f'kubeproxy_sync_proxy_rules_iptables_total{{ip_family="IPv4",table="nat"}} {nat}',
                f'kubeproxy_sync_proxy_rules_last_timestamp_seconds{{ip_family="IPv4"}} {node.proxier.health.last_updated}',
                f'kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds{{ip_family="IPv4"}} {node.proxier.health.last_queued}',
            ):
                assert line in body.splitlines()
        with pytest.raises(ConnectionRefusedError):
            await node.get(STATUS, "/healthz")

    asyncio.run(main())


def test_a_port_that_is_taken_is_tried_again_and_the_other_answers_meanwhile(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        node = Node()
        node.taken[HEALTHZ] = 2
        monkeypatch.setattr(proxy_ports, "RETRY", 0.01)
        async with ports(node):
            assert (await node.get(STATUS, "/healthz"))[0] == 200
            assert (await node.get(HEALTHZ, "/healthz"))[0] == 200
        assert caplog.text.count("kube-proxy of here, port 10256: Address already in use") == 2

    asyncio.run(main())
