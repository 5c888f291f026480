"""What many Services cost a node: the rules of kube-proxy for 5,000 of them with ten endpoints each, and answers of cluster DNS."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from ipaddress import IPv4Address
from pathlib import Path

import dns.message

from benchmarks.measure import Result, https_transport, repeated, served_cluster, stopwatch
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.proxy.iptables.proxier import Proxier
from lifecycle.proxy.iptables.runner import TextRunner
from lifecycle.proxy.topology import LABEL_TOPOLOGY_ZONE

SERVICES, ENDPOINTS = 5_000, 10
QUESTIONS, OUTSTANDING = 20_000, 32
NAMES = 100


def service(number: int) -> Object:
    """One of many Services, with an address of its own."""
    address = str(IPv4Address("10.96.1.0") + number)
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": f"web-{number}", "namespace": "default"},
        "spec": {
            "type": "ClusterIP",
            "clusterIP": address,
            "clusterIPs": [address],
            "ports": [{"port": 80, "protocol": "TCP", "targetPort": 8080}],
        },
        "status": {"loadBalancer": {}},
    }


def endpoint_slice(number: int, count: int) -> Object:
    """`count` ready endpoints behind it."""
    first = IPv4Address("10.128.0.0") + number * 16
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": f"web-{number}-1",
            "namespace": "default",
            "labels": {"kubernetes.io/service-name": f"web-{number}"},
        },
        "addressType": "IPv4",
        "endpoints": [
            {"addresses": [str(first + place)], "conditions": {"ready": True}, "nodeName": "node-2"}
            for place in range(count)
        ],
        "ports": [{"name": "", "port": 8080, "protocol": "TCP"}],
    }


class NoKernel(TextRunner):
    """Takes the text, and leaves it."""

    async def restore_all(self, text: str) -> None:
        """See `Runner`."""


class Rules:
    """The kube-proxy of one node, from what it is told to the text for `iptables-restore`. What the kernel takes comes on top."""

    def __init__(self, services: int) -> None:
        client = Client(None, "bench")  # type: ignore[arg-type]  # nobody is asked: it is told by us
        self._proxier = Proxier(
            client,
            SharedInformerFactory(client),
            node_name="node-1",
            node_ip="172.18.0.2",
            clock=Clock(),
            sink=NoKernel(),
        )
        for number in range(services):
            self._proxier.on_service(service(number))
            self._proxier.on_endpoint_slice(endpoint_slice(number, ENDPOINTS))
        self._turns = 0

    async def full_sync(self) -> float:
        """Seconds for all rules."""
        self._proxier.on_node({"metadata": {"name": "node-1", "labels": {LABEL_TOPOLOGY_ZONE: f"zone-{self._turns}"}}})
        self._turns += 1
        elapsed = stopwatch()
        await self._proxier.sync()
        return elapsed()

    async def one_change(self) -> float:
        """Milliseconds from an endpoint that comes or goes until the kernel would be told."""
        self._turns += 1
        elapsed = stopwatch()
        self._proxier.on_endpoint_slice(endpoint_slice(0, ENDPOINTS - self._turns % 2))
        await self._proxier.sync()
        return elapsed() * 1000


async def rules() -> list[Result]:
    """All rules, and one change."""
    known = Rules(SERVICES)
    size = f"{SERVICES:,} Services × {ENDPOINTS}"
    return [
        await repeated(f"kube-proxy: rules for {size}", "s", known.full_sync, 3, 2),
        await repeated(f"kube-proxy: one change among {size}", "ms", known.one_change, 9, 50),
    ]


@contextlib.asynccontextmanager
async def _served_dns(kubeconfig: Path) -> AsyncIterator[int]:
    """`lifecycle run dns` in a process of its own: its port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        port = int(sock.getsockname()[1])
    command = ["-m", "lifecycle", "run", "dns", "--kubeconfig", str(kubeconfig), "--port", str(port)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            await process.stdout.readline()
        yield port
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


class _Asking(asyncio.DatagramProtocol):
    """Keeps `OUTSTANDING` questions under way until all have been answered."""

    def __init__(self, questions: list[bytes]) -> None:
        self._questions = questions
        self._asked = self._answered = 0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.DatagramTransport = transport  # type: ignore[assignment]
        for _ in range(OUTSTANDING):
            self._ask()

    def _ask(self) -> None:
        if self._asked < QUESTIONS:
            self._transport.sendto(self._questions[self._asked % len(self._questions)])
            self._asked += 1

    def datagram_received(self, data: bytes, addr: object) -> None:
        if data[3] & 15 or data[6:8] == b"\0\0":
            raise RuntimeError("the name of a Service was not answered with an address")
        self._answered += 1
        self._ask()
        if self._answered == QUESTIONS and not self.done.done():
            self.done.set_result(None)


async def answers() -> Result:
    """Addresses of Services, asked over UDP from another process."""
    with tempfile.TemporaryDirectory() as folder:
        bare = ("--without", "scheduler,controllers,kubelet,dns,proxy")
        async with served_cluster(Path(folder), *bare) as (_, kubeconfig):
            transport = https_transport(kubeconfig)
            client = Client(transport, "bench")
            for number in range(NAMES):
                await client.create(resource("services"), service(number), "default")
            await transport.close()
            names = [f"web-{number}.default.svc.cluster.local." for number in range(NAMES)]
            questions = [dns.message.make_query(name, "A").to_wire() for name in names]
            async with _served_dns(kubeconfig) as port:
                loop = asyncio.get_running_loop()

                async def once() -> float:
                    elapsed = stopwatch()
                    udp, asking = await loop.create_datagram_endpoint(
                        lambda: _Asking(questions), remote_addr=("127.0.0.1", port)
                    )
                    async with asyncio.timeout(120):
                        await asking.done
                    took = elapsed()
                    udp.close()
                    return QUESTIONS / took

                result = await repeated("cluster DNS: answers over UDP", "1/s", once, 3, 8_000)
                result.better = "higher"
                return result


async def run() -> list[Result]:
    """Rules, then names."""
    return [*await rules(), await answers()]
