"""Kinds of attack over connections that stay: commands in a pod, ports of it, its logs, questions to the cluster's DNS.

Frames without end, keys that nobody looks at, streams that are opened and forgotten, Services of thousands.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import struct

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import MIB, PODS, SPACE, pod
from benchmarks.attacks.table import ATTACKS, attack
from lifecycle.api.httpstream.spdy_frames import FrameEncoder
from lifecycle.api.httpstream.websocket import BINARY, PING, frame

SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
WEBSOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec_WebSocket_Key": "eA==",
    "Sec_WebSocket_Version": "13",
}
COMMANDS = {**WEBSOCKET, "Sec_WebSocket_Protocol": "v5.channel.k8s.io"}
SPDY = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1", "X_Stream_Protocol_Version": "v4.channel.k8s.io"}
ZONE = b"\3svc\7cluster\5local\0"


def key(data: bytes) -> bytes:
    """A message on the standard input."""
    return frame(BINARY, b"\0" + data, b"mask")


async def shell(who: Attacker) -> str:
    """A pod that waits for commands; its path."""
    made = pod(containers=[{"name": "c", "image": "busybox:1.36", "command": ["sleep", "1000000"], "stdin": True}])
    if await who.ask("POST", PODS, {**made, "metadata": {"name": "shell"}}) == 201:
        for _ in range(100):
            if (await who.read(f"{PODS}/shell"))["status"].get("phase") == "Running":
                break
            await asyncio.sleep(0.1)
    return f"{PODS}/shell"


async def upgraded(who: Attacker, path: str, **headers: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await who.connect()
    writer.write(who.written("GET" if "Sec_WebSocket_Key" in headers else "POST", path, b"", **headers))
    head = await reader.readuntil(b"\r\n\r\n")
    assert b" 101 " in head.partition(b"\r\n")[0], head
    return reader, writer


async def pour(writer: asyncio.StreamWriter, data: bytes, seconds: float, most: int = 200 * MIB) -> int:
    """Send the same again and again for so long; MiB that were taken in."""
    sent = 0
    with contextlib.suppress(TimeoutError, ConnectionError):
        async with asyncio.timeout(seconds):
            while sent < most:
                writer.write(data)
                await writer.drain()
                sent += len(data)
    return sent // MIB


def listening(
    name: str, data: bytes, *, seconds: float = 5.0, query: str = "stdin=1&stdout=1&command=sleep&command=1000"
) -> None:
    """Enter somebody who sends the same frames to a command for a while, and reads nothing."""

    async def do(who: Attacker) -> list[int]:
        path = f"{await shell(who)}/exec?{query}"
        taken = []
        for _ in range(4):
            _, writer = await upgraded(who, path, **COMMANDS)
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            taken.append(pour(writer, data, seconds))
        return list(await asyncio.gather(*taken))

    ATTACKS[name] = do


listening("exec: frames without a byte", frame(BINARY, b"", b"mask") * 10_000)
listening("exec: pings", frame(PING, b"", b"mask") * 10_000)
listening("exec: keys that nobody looks at", key(b"abcdefg\n" * 1_000), query="stdin=1&stdout=1&tty=1&command=cat")
listening("exec: sizes that nobody looks at", frame(BINARY, b'\4{"Width":80,"Height":24}', b"mask") * 1_000,
          query="stdin=1&stdout=1&tty=1&command=sleep&command=1000")  # fmt: skip
listening(
    "exec: 16 MB of line ends in one piece", key(b"\n" * 16_000_000), query="stdin=1&stdout=1&command=grep&command=x"
)
listening("exec: a line of 200 MB", key(b"x" * MIB), query="stdin=1&stdout=1&command=grep&command=x")
listening("exec: what nobody reads, in a pipe", key(b"x" * MIB),
          query="stdin=1&stdout=1&command=sh&command=-c&command=cat%20%7C%20sleep%201000")  # fmt: skip


@attack("attach: 200 MB for a program that does not read")
async def attached(who: Attacker) -> int:
    _, writer = await upgraded(who, f"{await shell(who)}/attach?stdin=1&stdout=1", **COMMANDS)
    return await pour(writer, key(b"x" * 100_000), 6)


@attack("exec over SPDY: streams that are opened and reset")
async def reset_streams(who: Attacker) -> int:
    _, writer = await upgraded(who, f"{await shell(who)}/exec?stdin=1&stdout=1&command=cat", **SPDY)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    encoder, taken = FrameEncoder(), 0
    for kind in ("error", "stdin", "stdout"):
        writer.write(encoder.syn_stream(2 * taken + 1, {"streamtype": kind}))
        taken += 1
    with contextlib.suppress(TimeoutError, ConnectionError):
        async with asyncio.timeout(8):
            while not writer.is_closing():
                await asyncio.sleep(0)  # a connection that is gone takes everything at once
                for _ in range(100):
                    number = 2 * (taken := taken + 1) + 1
                    writer.write(encoder.syn_stream(number, {"streamtype": "x"}) + encoder.rst_stream(number))
                await writer.drain()
    return taken


@attack("port-forward over SPDY: 4,000 streams, each a little unread")
async def unread_streams(who: Attacker) -> int:
    headers = {**SPDY, "X_Stream_Protocol_Version": "portforward.k8s.io"}
    _, writer = await upgraded(who, f"{await shell(who)}/portforward?ports=80", **headers)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    encoder, sent = FrameEncoder(), 0
    with contextlib.suppress(TimeoutError, ConnectionError):
        async with asyncio.timeout(8):
            for number in range(4_000):
                opened = {"streamtype": "error", "port": "80", "requestid": str(number)}
                data = encoder.data(2 * number + 1, bytes(500_000))
                writer.write(encoder.syn_stream(2 * number + 1, opened) + data)
                await writer.drain()
                sent += 1
    return sent


@attack("logs: 200 who follow, and read nothing")
async def followers(who: Attacker) -> None:
    command = [
        "sh",
        "-c",
        "i=0; while [ $i -lt 3000 ]; do echo a line of a log that is followed by many; i=$((i+1)); done; sleep 10000",
    ]
    made = pod(containers=[{"name": "c", "image": "busybox:1.36", "command": command}])
    await who.ask("POST", PODS, {**made, "metadata": {"name": "talker"}})
    await asyncio.sleep(5)
    await who.unread(200, f"{PODS}/talker/log?follow=true", seconds=6)
    await who.many(50, "GET", f"{PODS}/talker/log?tailLines=1000000000&sinceTime=0001-01-01T00:00:00Z")


# -- questions ---------------------------------------------------------------------------
def question(kind: int, name: bytes = b"\4vast\7default" + ZONE, payload: int = 65_535) -> bytes:
    edns = b"\0" + struct.pack("!HHIH", 41, payload, 0, 0)
    return struct.pack("!6H", 7, 0x100, 1, 0, 0, 1) + name + struct.pack("!HH", kind, 1) + edns


async def vast(who: Attacker, name: str = "vast", ports: int = 1) -> None:
    """A headless Service with 5,000 endpoints, each with so many ports (a slice may have 100)."""
    declared = [{"name": f"p{i}", "port": 80 + i, "protocol": "TCP"} for i in range(ports)]
    spec = {"clusterIP": "None", "ports": declared}
    await who.ask(
        "POST", f"{SPACE}/services", {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}
    )
    for part in range(5):
        endpoints = [
            {"addresses": [f"10.{part}.{i >> 8}.{i & 255}"], "conditions": {"ready": True}} for i in range(1_000)
        ]
        made = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": endpoints,
                "metadata": {"name": f"{name}-{part}", "labels": {"kubernetes.io/service-name": name}},
                "ports": declared}  # fmt: skip
        await who.ask("POST", SLICES, made)
    await asyncio.sleep(0.5)


@attack("DNS: 400 questions about 5,000 endpoints, over TCP")
async def long_answers(who: Attacker) -> int:
    await vast(who)
    asked = b"".join(struct.pack("!H", len(packet)) + packet for packet in (question(1), question(33)) * 10)

    async def ask() -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", who.dns)
        taken = 0
        with contextlib.suppress(TimeoutError, OSError):
            async with asyncio.timeout(8):
                writer.write(asked)
                while data := await reader.read(1 << 20):
                    taken += len(data)
        writer.transport.abort()
        return taken // MIB

    return sum(await asyncio.gather(*(ask() for _ in range(20))))


@attack("DNS: 20,000 datagrams about 5,000 endpoints")
async def many_questions(who: Attacker) -> None:
    await vast(who)
    await datagrams(who)


@attack("DNS: 20,000 datagrams about 5,000 endpoints with 100 ports each")
async def many_ports(who: Attacker) -> None:
    await vast(who, "wide", 100)
    await datagrams(who, b"\4wide\7default" + ZONE)


async def datagrams(who: Attacker, name: bytes = b"\4vast\7default" + ZONE) -> None:
    """20,000 of them, for addresses and for ports in turn."""
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        asyncio.DatagramProtocol, remote_addr=("127.0.0.1", who.dns)
    )
    for number in range(20_000):
        transport.sendto(question(1 if number % 2 else 33, name, payload=65_535 if number % 3 else 512))
        if number % 50 == 0:
            await asyncio.sleep(0.01)
    transport.close()


@attack("DNS: names of a hundred labels, and packets that are none")
async def odd_questions(who: Attacker) -> None:
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        asyncio.DatagramProtocol, remote_addr=("127.0.0.1", who.dns)
    )
    long = b"\1a" * 120 + ZONE
    loop = struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + b"\1a\xc0\x0c" + struct.pack("!HH", 1, 1)
    many = struct.pack("!6H", 7, 0x100, 9_000, 0, 0, 0) + (b"\1a\0" + struct.pack("!HH", 1, 1)) * 9_000
    reverse = b"\1" + b"\0011" * 31 + b"\3ip6\4arpa\0"
    packets = [question(1, long), question(12, reverse[1:]), loop, many[:65_000], question(252), os.urandom(500)]
    for number in range(6_000):
        transport.sendto(packets[number % len(packets)])
        if number % 50 == 0:
            await asyncio.sleep(0.01)
    transport.close()
