"""The gRPC probe: one call of `grpc.health.v1.Health/Check`.

Both messages are so small that they are written by hand: the request is a string in
field 1, the answer a number in field 1, of which 1 means SERVING.

Upstream: `pkg/probe/grpc/grpc.go` (`Probe`), v1.36.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lifecycle.api.go.duration import go_duration
from lifecycle.api.go.net import join_host_port
from lifecycle.api.protobuf.wire_format import delimited
from lifecycle.cri.node_access import reachable_from_here
from lifecycle.kubelet.lifecycle.http_get_action import PROBE

if TYPE_CHECKING:
    from grpc.aio import AioRpcError

METHOD = "/grpc.health.v1.Health/Check"
SERVING = 1
STATUSES = {0: "UNKNOWN", 1: "SERVING", 2: "NOT_SERVING", 3: "SERVICE_UNKNOWN"}


def request_message(service: str) -> bytes:
    """`HealthCheckRequest`."""
    return delimited(b"\x0a", service.encode()) if service else b""


def response_status(message: bytes) -> int:
    """`HealthCheckResponse.status`."""
    return message[1] if message[:1] == b"\x08" else 0


async def check(
    ip: str, port: int, service: str, timeout: float, host_netns: str = ""
) -> str:
    """Ask; empty if it serves, else what the probe says. `timeout`: seconds to connect
    and to be answered. `host_netns`: the node's network namespace, if that is not
    ours.
    """
    # a whole second to import, and only asked for by the few pods with such a probe
    import grpc

    address = join_host_port(ip, port)
    options = (
        ("grpc.default_authority", address),
        ("grpc.primary_user_agent", PROBE),
    )
    loop = asyncio.get_running_loop()
    until = loop.time() + timeout
    async with (
        reachable_from_here(host_netns, ip, port) as target,
        grpc.aio.insecure_channel(target, options) as channel,
    ):
        try:
            async with asyncio.timeout_at(until):
                await channel.channel_ready()
        except TimeoutError:
            return connect_timeout(address, timeout)
        call = channel.unary_unary(
            METHOD, request_serializer=bytes, response_deserializer=bytes
        )
        try:
            left = max(until - loop.time(), 0.0)
            answer = await call(request_message(service), timeout=left)
        except grpc.aio.AioRpcError as error:
            return _failure(error, timeout)
    status = response_status(answer)
    return (
        ""
        if status == SERVING
        else f'service unhealthy (responded with "{STATUSES.get(status, status)}")'
    )


def _failure(error: AioRpcError, timeout: float) -> str:
    """Why there was no answer, though somebody listens."""
    code = "".join(word.capitalize() for word in error.code().name.split("_"))
    if code == "Unimplemented":
        return (
            "error: this server does not implement the grpc health protocol"
            f" (grpc.health.v1.Health): {error.details()}"
        )
    if code == "DeadlineExceeded":
        return f"timeout: health rpc did not complete within {go_duration(timeout)}"
    # Go spells two of them in its own way
    code = {"Ok": "OK", "Cancelled": "Canceled"}.get(code, code)
    return (
        "error: health rpc probe failed: rpc error: code ="
        f" {code} desc = {error.details()}"
    )


def connect_timeout(address: str, timeout: float) -> str:
    """Nobody answered in time."""
    return (
        f'timeout: failed to connect service "{address}" within {go_duration(timeout)}:'
        " context deadline exceeded"
    )
