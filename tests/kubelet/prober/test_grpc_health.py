"""The gRPC probe against a server of gRPC, in this network and in a node's own."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
import pytest

from lifecycle.cri.sandbox.network import in_network
from lifecycle.kubelet.prober import grpc_health
from tests.conftest import unavailable


@contextmanager
def network() -> Iterator[str]:
    """A network of its own, with a loopback device that is up."""
    if sys.platform != "linux" or os.geteuid() != 0:
        unavailable("a network namespace needs Linux and root")
    keeper = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert keeper.stdout is not None
        assert keeper.stdout.readline() == b"up\n"
        yield f"/proc/{keeper.pid}/ns/net"
    finally:
        keeper.communicate()


def answer_of(status: int, netns: str, *, ask_in: str) -> str:
    """What the probe says of a server in one network that answers with a status."""

    async def answer(_request: bytes, _context: object) -> bytes:
        return bytes([8, status])

    async def main() -> str:
        server = grpc.aio.server()
        method = grpc.unary_unary_rpc_method_handler(answer)
        service, name = "grpc.health.v1.Health", "Check"
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {name: method}),))
        with in_network(netns):
            port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        try:
            return await grpc_health.check("127.0.0.1", port, "", 2.0, ask_in)
        finally:
            await server.stop(None)

    return asyncio.run(main())


@pytest.mark.parametrize(("status", "said"), [(1, ""), (2, 'service unhealthy (responded with "NOT_SERVING")')])
def test_a_server_says_how_it_is(status: int, said: str) -> None:
    assert answer_of(status, "", ask_in="") == said


def test_a_server_is_asked_in_the_nodes_own_network() -> None:
    with network() as netns:
        assert answer_of(1, netns, ask_in=netns) == ""
        assert answer_of(1, "", ask_in=netns).startswith("timeout: failed to connect service")
