"""The gRPC probe against a server of gRPC, in this network and in a node's own."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue

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


Answer = Callable[[bytes, Any], Awaitable[bytes]]


PATIENCE = 30.0
"""Seconds for who is answered: a machine may be busy with something else."""


def said_of(
    answer: Answer,
    *,
    service: str = "",
    name: str = "Check",
    timeout: float = PATIENCE,
    netns: str = "",
    ask_in: str = "",
) -> str:
    """What the probe says of a server in one network that answers so."""

    async def main() -> str:
        server = grpc.aio.server()
        method = grpc.unary_unary_rpc_method_handler(answer)
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("grpc.health.v1.Health", {name: method}),)
        )
        with in_network(netns):
            port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        try:
            return await grpc_health.check("127.0.0.1", port, service, timeout, ask_in)
        finally:
            await server.stop(None)

    return asyncio.run(main())


def answer_of(status: int, netns: str = "", *, ask_in: str = "", timeout: float = PATIENCE) -> str:
    """What it says of one that answers with a status."""

    async def answer(_request: bytes, _context: object) -> bytes:
        return bytes([8, status])

    return said_of(answer, netns=netns, ask_in=ask_in, timeout=timeout)


@pytest.mark.parametrize(("status", "said"), [(1, ""), (2, 'service unhealthy (responded with "NOT_SERVING")')])
def test_a_server_says_how_it_is(status: int, said: str) -> None:
    assert answer_of(status) == said


def test_a_server_is_asked_in_the_nodes_own_network() -> None:
    with network() as netns:
        assert answer_of(1, netns, ask_in=netns) == ""
        assert answer_of(1, "", ask_in=netns, timeout=0.5).startswith("timeout: failed to connect service")


async def never(_request: bytes, context: Any) -> bytes:
    await asyncio.Event().wait()
    return b""


async def refuse(_request: bytes, context: Any) -> bytes:
    await context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
    return b""


@pytest.mark.parametrize(
    ("answer", "name", "timeout", "said"),
    [
        (never, "Check", 2.0, "timeout: health rpc did not complete within 2s"),
        (
            refuse,
            "Check",
            PATIENCE,
            "error: health rpc probe failed: rpc error: code = NotFound desc = unknown service",
        ),
        (
            refuse,
            "Watch",
            PATIENCE,
            "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): Method not found!",
        ),
    ],
)
def test_what_goes_wrong_is_said_in_upstreams_words(answer: Answer, name: str, timeout: float, said: str) -> None:
    assert said_of(answer, name=name, timeout=timeout) == said


@pytest.mark.parametrize("service", ["", "s", "s" * 127, "s" * 128, "s" * 300])
def test_the_server_hears_which_service_is_meant_and_who_asks(service: str) -> None:
    heard = []

    async def answer(request: bytes, context: Any) -> bytes:
        asked = StringValue.FromString(request).value  # a string in field 1, too
        agents = [value for key, value in context.invocation_metadata() if key == "user-agent"]
        heard.append((asked, agents[0].split()[0]))
        return bytes([8, 1])

    assert said_of(answer, service=service) == ""
    assert heard == [(service, "kube-probe/1.36")]


def test_where_nobody_listens_it_is_the_connection_that_failed() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        said = asyncio.run(grpc_health.check("127.0.0.1", port, "", 0.3))
    assert said == (f'timeout: failed to connect service "127.0.0.1:{port}" within 300ms: context deadline exceeded')
