"""Attacks by means of HTTP: heads of a megabyte, connections that say little, requests in one piece, bytes that are none."""

from __future__ import annotations

import asyncio
import base64
import re
import zlib

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import MAPS, MIB, SPACE
from benchmarks.attacks.table import attack, request

# -- HTTP ------------------------------------------------------------------------------
request("URL: 900 KB", 20, "GET", "/" + "a" * 900_000)
request("URL: 300,000 escapes", 5, "GET", "/" + "%41" * 300_000)
request("query: 200,000 parameters", 5, "GET", f"{MAPS}?" + "a=b&" * 200_000)
request("header: accept of 900 KB", 5, "GET", MAPS, Accept=", ".join(["application/json;q=0.1"] * 36_000))
request("header: authorization of 900 KB", 5, "GET", MAPS, Authorization="Bearer a." + "b" * 900_000 + ".c")
request("header: authorization, 300 KB of dots", 5, "GET", MAPS, Authorization="Bearer " + "." * 300_000)
request("header: user agent of 900 KB", 5, "GET", MAPS, User_Agent="x" * 900_000)
request(
    "header: 900 KB of impersonated extras", 5, "GET", MAPS, Impersonate_User="x", Impersonate_Extra_a="y" * 900_000
)
request("header: accept-encoding of 900 KB", 5, "GET", MAPS, Accept_Encoding="gzip;q=0.1, " * 60_000)
request("header: traceparent of 900 KB", 5, "GET", MAPS, Traceparent="00-" + "a" * 900_000)
request(
    "upgrade to what nobody speaks",
    20,
    "GET",
    f"{SPACE}/pods/x/exec?command=a",
    Connection="Upgrade",
    Upgrade="x" * 100_000,
)
request(
    "websocket with 100 KB of protocols",
    5,
    "GET",
    f"{SPACE}/pods/x/exec?command=a",
    Connection="Upgrade",
    Upgrade="websocket",
    Sec_WebSocket_Protocol="a," * 50_000,
)
request("exec: 200,000 words", 3, "POST", f"{SPACE}/pods/x/exec?" + "command=a&" * 90_000)
request(
    "gzip bomb as a body",
    3,
    "POST",
    MAPS,
    lambda: zlib.compress(bytes(500 * MIB), 9)[: 3 * MIB],
    Content_Encoding="gzip",
)
request(
    "base64: secret of 1 MB",
    3,
    "POST",
    f"{SPACE}/secrets",
    lambda: {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"generateName": "s-"},
        "data": {"a": base64.b64encode(bytes(1_000_000)).decode()},
    },
)


@attack("header: 20,000 lines")
async def header_lines(who: Attacker) -> set[int]:
    head = who.written("GET", MAPS, Connection="close")[:-2]
    lines = b"".join(b"X-%d: y\r\n" % number for number in range(60_000))
    return {await who.send(head + lines + b"\r\n") for _ in range(3)}


@attack("chunks of one byte")
async def small_chunks(who: Attacker) -> set[int]:
    head = re.sub(
        rb"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n", who.written("POST", MAPS, Connection="close")
    )
    return {await who.send(head + b"1\r\na\r\n" * 500_000 + b"0\r\n\r\n") for _ in range(2)}


@attack("20,000 requests in one piece")
async def pipelined(who: Attacker) -> None:
    reader, writer = await who.connect()
    writer.write(who.written("GET", "/version") * 4_000)
    for _ in range(40):
        await reader.read(1 << 16)


@attack("300 connections that say one byte at a time")
async def slow_clients(who: Attacker) -> None:
    writers = [(await who.connect())[1] for _ in range(100)]
    for byte in who.written("GET", "/version")[:40]:
        for writer in writers:
            writer.write(bytes([byte]))
        await asyncio.sleep(0.05)


@attack("bytes that are not HTTP")
async def no_http(who: Attacker) -> set[int]:
    return {await who.send(bytes(range(256)) * 4_000) for _ in range(5)}


@attack("300 anonymous paths of 900 KB")
async def anonymous_paths(who: Attacker) -> set[int]:
    return {await who.ask("GET", f"/{number}{'a' * 900_000}", Authorization="") for number in range(60)}


@attack("5,000 events")
async def events(who: Attacker) -> set[int]:
    statuses = set()
    for _ in range(20):
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": "e-"},
            "involvedObject": {"namespace": "default"},
        }
        statuses |= await who.many(25, "POST", f"{SPACE}/events", body)
    return statuses
