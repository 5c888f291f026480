"""The gRPC probe: one call of `grpc.health.v1.Health/Check`.

Both messages are so small that they are written by hand: the request is a string in
field 1, the answer a number in field 1, of which 1 means SERVING.

Upstream: `pkg/probe/grpc/grpc.go` (`Probe`), v1.36.
"""

from __future__ import annotations

from lifecycle.cri.node_access import reachable_from_here

METHOD = "/grpc.health.v1.Health/Check"
SERVING = 1
STATUSES = {0: "UNKNOWN", 1: "SERVING", 2: "NOT_SERVING", 3: "SERVICE_UNKNOWN"}


def request_message(service: str) -> bytes:
    """`HealthCheckRequest`."""
    name = service.encode()
    return b"\x0a" + bytes([len(name)]) + name if name else b""


def response_status(message: bytes) -> int:
    """`HealthCheckResponse.status`."""
    return message[1] if message[:1] == b"\x08" else 0


async def check(
    ip: str, port: int, service: str, timeout: float, host_netns: str = ""
) -> str:
    """Ask; empty if it serves, else what the probe says. `host_netns`: the node's
    network namespace, if that is not ours.
    """
    # a whole second to import, and only asked for by the few pods with such a probe
    import grpc

    address = f"{ip}:{port}"
    options = (("grpc.default_authority", address),)
    async with (
        reachable_from_here(host_netns, ip, port) as target,
        grpc.aio.insecure_channel(target, options) as channel,
    ):
        call = channel.unary_unary(
            METHOD, request_serializer=bytes, response_deserializer=bytes
        )
        try:
            answer = await call(
                request_message(service), timeout=timeout, wait_for_ready=True
            )
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                return (
                    "this server does not implement the grpc health protocol"
                    f" (grpc.health.v1.Health): {error.details()}"
                )
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                return connect_timeout(address, timeout)
            return f"rpc error: code = {error.code().name} desc = {error.details()}"
    status = response_status(answer)
    return (
        ""
        if status == SERVING
        else f'service unhealthy (responded with "{STATUSES.get(status, status)}")'
    )


def connect_timeout(address: str, timeout: float) -> str:
    """Nobody answered in time."""
    return (
        f'timeout: failed to connect service "{address}" within {timeout:g}s: context'
        " deadline exceeded"
    )
