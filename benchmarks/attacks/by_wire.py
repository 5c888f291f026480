"""Kinds of attack by means of what goes over a wire: chunks, trailers, prefaces, numbers of many bytes, frames that go on, and one half
of a conversation.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
from typing import Any

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import MANY, MAPS, MIB, PODS, PROTOBUF, SPACE, config_map, protobuf
from benchmarks.attacks.by_streams import COMMANDS, SPDY, ZONE, pour, question, shell, upgraded
from benchmarks.attacks.scene import many_maps
from benchmarks.attacks.table import ATTACKS, attack, request
from lifecycle.api.httpstream.websocket import BINARY, frame

# -- heads --------------------------------------------------------------------------------
request("header: cookies of 900 KB", 20, "GET", MAPS, Cookie="; ".join(["a=b"] * 180_000))
request("header: an audit ID of 900 KB", 20, "POST", MAPS, config_map, Audit_ID="x" * 900_000)
request(
    "header: 30,000 parameters of what is accepted",
    10,
    "GET",
    MAPS,
    Accept="application/json;" + ";".join(["a=b"] * 200_000),
)
request("header: 300,000 ranges, and tags of 500 KB", 10, "GET", "/openapi/v3/api/v1",
        Range="bytes=" + ",".join(["0-1"] * 90_000), If_None_Match=",".join(['"a"'] * 120_000))  # fmt: skip
request("URL: 300,000 dots and slashes", 20, "GET", "/api/v1/" + "./../" * 170_000 + "namespaces")
request("query: numbers of 300 KB", 10, "GET",
        f"{MAPS}?limit={'9' * 300_000}&timeoutSeconds={'9' * 300_000}&resourceVersion={'9' * 300_000}")  # fmt: skip
request("query: a timeout of 900 KB", 10, "GET", f"{MAPS}?timeout=" + "1h" * 450_000)


def groups(who: Attacker) -> bytes:
    """As somebody else, in ten thousand groups."""
    head = who.written("GET", MAPS, Connection="close", Impersonate_User="x")[:-2]
    return head + b"".join(b"Impersonate-Group: g%d\r\n" % number for number in range(10_000)) + b"\r\n"


def chunked(who: Attacker, pieces: bytes, end: bytes) -> bytes:
    """A body in chunks."""
    head = who.written("POST", MAPS, Connection="close", Content_Type="application/json")
    return head.replace(b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n") + pieces + b"0\r\n" + end + b"\r\n"


def bytes_of(name: str, make: Any, times: int = 5) -> None:
    """Enter somebody who sends the same bytes several times at once."""

    async def do(who: Attacker) -> set[int]:
        data = make(who)
        return set(await asyncio.gather(*(who.send(data) for _ in range(times))))

    ATTACKS[name] = do


bytes_of("header: 10,000 groups of somebody else", groups)
bytes_of(
    "chunks: 60,000 trailers",
    lambda who: chunked(who, b"2\r\n{}\r\n", b"".join(b"X-%d: y\r\n" % i for i in range(60_000))),
)
bytes_of("chunks: extensions of a megabyte", lambda who: chunked(who, b"2;" + b"a=b;" * 250_000 + b"\r\n{}\r\n", b""))
bytes_of("chunks: sizes of a megabyte of zeroes", lambda who: chunked(who, b"0" * MIB + b"2\r\n{}\r\n", b""))
PREFACE, PING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4" + bytes(5), b"\0\0\x08\6" + bytes(13)
bytes_of("HTTP/2: 40 prefaces, and frames without end", lambda _: PREFACE + PING * 40_000, 40)
bytes_of("pipelined: 300 bodies of 10 KB in one piece, on 20 connections", lambda who: b"".join(
    who.written("POST", f"{MAPS}?dryRun=All", b'{"metadata":{"generateName":"a-"},"data":{"k":"%b"}}' % (b"v" * 10_000),
                Content_Type="application/json") for _ in range(300)), 20)  # fmt: skip


@attack("200 bodies that are promised, and wait to be asked for")
async def expected(who: Attacker) -> int:
    for _ in range(200):
        _, writer = await who.connect()
        writer.write(who.written("POST", MAPS, Expect="100-continue", Content_Length="3000000"))
    await asyncio.sleep(5)
    return 200


# -- protobuf -----------------------------------------------------------------------------
def message(field: int, data: bytes) -> bytes:
    size, length = len(data), b""
    while size > 127:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    return bytes([field << 3 | 2]) + length + bytes([size]) + data


def nested(depth: int, raw: bytes = b"") -> bytes:
    for _ in range(depth):
        raw = message(2, raw)
    return raw


for told, kind, raw in (
    ("numbers of 3 MB", b"ConfigMap", b"\x08" + b"\x80" * 3_000_000),
    ("groups, 1,500,000 deep", b"ConfigMap", b"\x0b" * 2_900_000),
    ("3 MB of packed numbers", b"Pod", message(2, message(6, b"\1" * 2_900_000))),
    ("messages of half the size, again and again", b"Pod", nested(400_000)[-2_900_000:]),
    ("30,000 containers without a name", b"Pod", message(2, message(2, b"") * 1_400_000)),
    ("40,000 managed fields of 50 bytes", b"ConfigMap", message(1, message(17, message(1, b"m" * 50)) * 40_000)),
    (
        "an object in a revision, in a revision",
        b"ControllerRevision",
        message(2, message(1, protobuf(b"x" * 1_000_000))),
    ),
):
    request(
        f"protobuf: {told}",
        4,
        "POST",
        PODS if kind == b"Pod" else MAPS,
        lambda k=kind, r=raw: protobuf(r, k),
        **PROTOBUF,
    )


# -- frames -------------------------------------------------------------------------------
def framed(name: str, data: bytes, headers: dict[str, str] = COMMANDS, seconds: float = 5.0) -> None:
    """Enter somebody who sends frames that are none."""

    async def do(who: Attacker) -> list[int]:
        path = f"{await shell(who)}/exec?stdin=1&stdout=1&command=cat"
        talking = [pour((await upgraded(who, path, **headers))[1], data, seconds) for _ in range(4)]
        return list(await asyncio.gather(*talking))

    ATTACKS[name] = do


def control(kind: int, flags: int, data: bytes) -> bytes:
    """A control frame of SPDY/3.1."""
    return struct.pack("!HHI", 0x8003, kind, flags << 24 | len(data)) + data


fragment = bytearray(frame(BINARY, b"\0x", b"mask"))
framed("websocket: a message of fragments without end", bytes([fragment[0] & 0x7F]) + bytes(fragment[1:])
       + (b"\0" + bytes(fragment[1:])) * 20_000)  # fmt: skip
framed("websocket: a frame of four exabytes", b"\x82\xff" + struct.pack("!Q", 1 << 62) + b"mask" + bytes(MIB))
framed("SPDY: pings without end", control(6, 0, struct.pack("!I", 1)) * 10_000, SPDY)
framed("SPDY: settings without end", control(4, 0, struct.pack("!III", 1, 4, 1)) * 10_000, SPDY)
framed("SPDY: windows that grow", control(9, 0, struct.pack("!II", 1, 0x7FFF_FFFF)) * 10_000, SPDY)
framed("SPDY: frames of a kind that nobody knows", control(77, 0, bytes(8)) * 10_000, SPDY)


# -- half a conversation -------------------------------------------------------------------
@attack("DNS: 500 connections, half closed")
async def half_closed(who: Attacker) -> int:
    packet, answered = question(1, b"\nkubernetes\7default" + ZONE), 0

    async def ask(number: int) -> int:
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(8):
                reader, writer = await asyncio.open_connection("127.0.0.1", who.dns)
                asked = (struct.pack("!H", len(packet)) + packet) * 40
                writer.write(asked if number % 2 else asked[:-7])
                writer.write_eof()
                answer = await reader.read()
                writer.transport.abort()
                return bool(answer)
        return 0

    for start in range(0, 500, 100):
        answered += sum(await asyncio.gather(*(ask(number) for number in range(start, start + 100))))
    return answered


@attack("DNS: 300 connections that ask once and stay")
async def staying(who: Attacker) -> int:
    packet, writers = question(1, b"\nkubernetes\7default" + ZONE), []
    for _ in range(6):
        for _ in range(50):
            with contextlib.suppress(OSError):
                writers.append((await asyncio.open_connection("127.0.0.1", who.dns))[1])
        for writer in writers:
            writer.write(struct.pack("!H", len(packet)) + packet)
        await asyncio.sleep(1)
    for writer in writers:
        writer.transport.abort()
    return len(writers)


@attack("300 lists of 2,000 objects, and hung up when they begin")
async def hung_up(who: Attacker) -> int:
    await many_maps(who)
    for _ in range(10):
        for _ in range(30):
            _, writer = await who.connect()
            writer.write(who.written("GET", MANY))
            await asyncio.sleep(0)
        await asyncio.sleep(0.2)
        who.hang_up()
    return 300


# -- what is different each time -------------------------------------------------------------
def different(name: str, count: int, asked: Any) -> None:
    """Enter requests that differ in something that a server might remember."""

    async def do(who: Attacker) -> set[int]:
        statuses: set[int] = set()
        for start in range(0, count, 50):
            some = []
            for number in range(start, start + 50):
                method, path, headers = asked(number)
                some.append(who.ask(method, path, **headers))
            statuses |= set(await asyncio.gather(*some))
        return statuses

    ATTACKS[name] = do


different("600 users, each in groups of its own", 600,
          lambda i: ("GET", f"{MAPS}?limit=1", {"Impersonate_User": f"u{i}" + "x" * 400, "Impersonate_Group": f"g{i}"}))  # fmt: skip
different("600 user agents of 4 KB", 600, lambda i: ("GET", "/version", {"User_Agent": f"{i}" + "x" * 4_000}))
different(
    "600 kinds that there are not, and verbs",
    600,
    lambda i: ("DO" + chr(65 + i % 26), f"/apis/g{i}.example/v1/r{i}", {}),
)
different(
    "600 selectors",
    600,
    lambda i: ("GET", f"{MAPS}?labelSelector=k{i}%20in%20({'a,' * 200}b)&fieldSelector=metadata.name%3Dx{i}", {}),
)
different("600 tokens of 2 KB", 600, lambda i: ("GET", SPACE, {"Authorization": f"Bearer a{i}.{'b' * 2_000}.c"}))
