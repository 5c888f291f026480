"""HTTP/1.1 as nobody writes it by accident."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.fuzz_http.sent import Sent

BODY = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"odd"}}'
MAPS = "/api/v1/namespaces/default/configmaps"
JSON = "Content-Type: application/json"
LENGTH = f"Content-Length: {len(BODY)}"
CHUNKED = "Transfer-Encoding: chunked"


def _message(first: str, *lines: str, body: bytes = b"") -> bytes:
    return "\r\n".join([first, "Host: x", *lines, "", ""]).encode("latin-1", "replace") + body


def _chunks(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def smuggling() -> dict[str, bytes]:
    """Two readers of these could disagree where the request ends."""
    post, inner = f"POST {MAPS} HTTP/1.1", _message("GET /api HTTP/1.1")
    shapes = {
        "two lengths": _message(post, JSON, LENGTH, "Content-Length: 5", body=BODY),
        "the same length twice": _message(post, JSON, LENGTH, LENGTH, body=BODY),
        "lengths in one line": _message(post, JSON, "Content-Length: 5, 5", body=BODY),
        "length and chunks": _message(post, JSON, LENGTH, CHUNKED, body=_chunks(BODY)),
        "chunks and length": _message(post, JSON, CHUNKED, "Content-Length: 4", body=_chunks(BODY) + inner),
        "a length with a sign": _message(post, JSON, f"Content-Length: +{len(BODY)}", body=BODY),
        "a negative length": _message(post, JSON, "Content-Length: -1", body=BODY),
        "a hexadecimal length": _message(post, JSON, "Content-Length: 0x41", body=BODY),
        "a length of many digits": _message(post, JSON, f"Content-Length: {'9' * 60}", body=BODY),
        "a length with a blank": _message(post, JSON, "Content-Length : 65", body=BODY),
        "a length in other digits": _message(post, JSON, "Content-Length: \xb2", body=BODY),
        "chunked in other words": _message(post, JSON, "Transfer-Encoding: xchunked", body=_chunks(BODY)),
        "chunked twice": _message(post, JSON, CHUNKED, CHUNKED, body=_chunks(BODY)),
        "chunked and something": _message(post, JSON, "Transfer-Encoding: gzip, chunked", body=_chunks(BODY)),
        "chunked, then something": _message(post, JSON, "Transfer-Encoding: chunked, identity", body=_chunks(BODY)),
        "chunked after a tab": _message(post, JSON, "Transfer-Encoding:\tchunked", body=_chunks(BODY)),
        "chunked, folded": _message(post, JSON, "Transfer-Encoding:\r\n chunked", body=_chunks(BODY)),
        "chunked in HTTP/1.0": _message(post.replace("1.1", "1.0"), JSON, CHUNKED, body=_chunks(BODY)),
        "a bare line feed": _message(post, JSON, LENGTH, body=BODY).replace(b"\r\n", b"\n"),
        "a bare carriage return": _message(post, JSON + "\rX: y", LENGTH, body=BODY),
        "a null in a header": _message(post, JSON, "X: a\0b", LENGTH, body=BODY),
        "no colon": _message(post, JSON, "Xyz", LENGTH, body=BODY),
        "a nameless header": _message(post, JSON, ": x", LENGTH, body=BODY),
        "a header that begins with a blank": _message(post, " X: y", JSON, LENGTH, body=BODY),
        "two hosts": _message(post, "Host: y", JSON, LENGTH, body=BODY),
        "no host": f"GET {MAPS} HTTP/1.1\r\n\r\n".encode(),
        "a body with GET": _message("GET /livez HTTP/1.1", "Content-Length: 70", body=inner),
        "two in one": _message("GET /livez HTTP/1.1") + inner,
        "one and a half": _message("GET /livez HTTP/1.1") + inner[:9],
    }
    bodies = {
        "chunks of one byte": _chunks(*(bytes([byte]) for byte in BODY)),
        "a chunk's extension": b"%x;a=b\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY),
        "a long extension": b"%x;%b\r\n%b\r\n0\r\n\r\n" % (len(BODY), b"a" * 70_000, BODY),
        "a trailer": b"%x\r\n%b\r\n0\r\nX: y\r\n\r\n" % (len(BODY), BODY),
        "a trailer that is a length": b"%x\r\n%b\r\n0\r\nContent-Length: 3\r\n\r\n" % (len(BODY), BODY),
        "a size that is none": b"zz\r\n" + BODY + b"\r\n0\r\n\r\n",
        "an empty size": b"\r\n" + BODY + b"\r\n0\r\n\r\n",
        "a negative size": b"-1\r\n" + BODY + b"\r\n0\r\n\r\n",
        "a size of many digits": b"f" * 40 + b"\r\n" + BODY,
        "zeros before the size": b"0" * 300 + b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY),
        "a chunk that is longer": b"5\r\n" + BODY + b"\r\n0\r\n\r\n",
        "a chunk that is shorter": b"ffff\r\n" + BODY,
        "line feeds for chunks": _chunks(BODY).replace(b"\r\n", b"\n"),
        "no last chunk": _chunks(BODY)[:-5],
    }
    return shapes | {name: _message(post, JSON, CHUNKED, body=body) for name, body in bodies.items()}


def first_lines() -> dict[str, bytes]:
    """The request's first line, and what is no request at all."""
    rows = (
        "GET", "GET /", "GET  / HTTP/1.1", "GET / HTTP/9.9", "GET / HTTP/1.10", "GET / http/1.1", "get / HTTP/1.1", " GET / HTTP/1.1",
        "GET * HTTP/1.1", "OPTIONS * HTTP/1.1", "CONNECT x:443 HTTP/1.1", "TRACE / HTTP/1.1", "PRI * HTTP/2.0", "GET http://x/api HTTP/1.1",
        "GET https://[::1/ HTTP/1.1", "GET //x/api HTTP/1.1", "GET /%zz HTTP/1.1", "GET /%00 HTTP/1.1", "GET /%ff%fe HTTP/1.1",
        "GET /\xff HTTP/1.1",
        "GET /api/../api/v1 HTTP/1.1", "GET /api/v1?%=&&=;a=b;&a HTTP/1.1", "GET /api/v1/pods?limit=%ff HTTP/1.1", "GET /api#x HTTP/1.1",
        "G\0T / HTTP/1.1", "G\u00c4T / HTTP/1.1", "A" * 5_000 + " / HTTP/1.1", "GET /" + "a" * 100_000 + " HTTP/1.1",
        "GET /api/v1/namespaces/" + "%2e%2e/" * 500 + " HTTP/1.1", "GET /api/v1/pods?" + "a=b&" * 20_000 + " HTTP/1.1",
        "GET /api/v1/pods?labelSelector=" + "a," * 20_000 + " HTTP/1.1", "BREW /api HTTP/1.1",
    )  # fmt: skip
    lines = {f"first line {row[:30]!r}": _message(row) for row in rows}
    return lines | {
        "TLS inside": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 200,
        "nothing": b"\r\n" * 50,
        "zeros": b"\0" * 500,
    }


def headers() -> dict[str, bytes]:
    """Large ones, many, and upgrades that nobody can do."""
    pods = "/api/v1/namespaces/default/pods/x"
    rows: dict[str, tuple[str, tuple[str, ...]]] = {
        "a large header": ("/api", ("X: " + "a" * 200_000,)),
        "too large a header": ("/api", ("X: " + "a" * 1_200_000,)),
        "many headers": ("/api", tuple(f"X{number}: y" for number in range(5_000))),
        "a long name": ("/api", ("x" * 100_000 + ": y",)),
        "Accept without end": ("/api", ("Accept: " + "a/b," * 10_000,)),
        "Accept of nonsense": ("/api", ("Accept: ;;;=,q=,*;q=nan",)),
        "a foreign token": ("/api", ("Authorization: Bearer " + "a.b" * 100,)),
        "Basic of nonsense": ("/api", ("Authorization: Basic \xff\xfe",)),
        "impersonating odd bytes": ("/api", ("Impersonate-User: \xff", "Impersonate-Extra-%zz: \xe4")),
        "impersonating nobody": ("/api", ("Impersonate-Group: a",)),
        "an odd Audit-ID": ("/api", ("Audit-ID: \xff" + "a" * 1_000,)),
        "If-None-Match of nonsense": ("/openapi/v2", ('If-None-Match: W/"\xff',)),
        "Range": ("/openapi/v2", ("Range: bytes=0-,-1,5-2",)),
        "Origin": ("/api", ("Origin: \xff",)),
        "an expectation": ("/api", ("Expect: 100-continue",)),
        "another expectation": ("/api", ("Expect: a miracle",)),
        "Connection lists all": ("/api", ("Connection: host, content-length, authorization, close",)),
    }
    for name, lines in (
        ("h2c", ("Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA")),
        ("a websocket without a key", ("Upgrade: websocket", "Sec-WebSocket-Version: 13")),
        ("a websocket of version 0", ("Upgrade: websocket", "Sec-WebSocket-Version: 0", "Sec-WebSocket-Key: x")),
        ("odd protocols", ("Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
                           "Sec-WebSocket-Protocol: \xff,,v4.channel.k8s.io")),
        ("SPDY", ("Upgrade: SPDY/3.1", "X-Stream-Protocol-Version: \xff")),
        ("nothing", ("Upgrade:",)),
    ):  # fmt: skip
        for path in (
            "/api",
            f"{pods}/exec?command=a&stdout=1",
            f"{pods}/portforward",
            f"{pods}/attach?stdin=1",
            "/api/v1/pods?watch=1",
        ):
            rows[f"an upgrade to {name} at {path}"] = path, ("Connection: Upgrade", *lines)
    return {name: _message(f"GET {path} HTTP/1.1", *lines) for name, (path, lines) in rows.items()}


def oddities(number: int) -> Iterator[Sent]:
    """First each as it is written here, then for ever: bytes of them changed, cut off, put together, half closed."""
    rng = random.Random(f"oddities {number}")
    known = [*smuggling().values(), *first_lines().values(), *headers().values()]
    for data in known:
        yield Sent("oddities", data)
        yield Sent("oddities", data, half_closed=True)
    small = [data for data in known if len(data) < 8_000]
    while True:
        data = bytearray(rng.choice(small))
        for _ in range(rng.choice((0, 1, 1, 3, 8))):
            place = rng.randrange(len(data))
            match rng.randrange(5):
                case 0:
                    data[place] = rng.randrange(256)
                case 1:
                    del data[place : place + rng.choice((1, 2, 10))]
                case 2:
                    data[place:place] = rng.choice(
                        (b"\r\n", b"\n", b"\0", b" ", b"\t", b":", b"%", b",", b"\xff", b"0\r\n\r\n")
                    )
                case 3:
                    other = rng.choice(small)
                    data[place:place] = other[: rng.randrange(len(other))][:300]
                case _:
                    data = data[: place + 1]
            data = data or bytearray(b"\r\n")
        yield Sent("oddities", bytes(data), half_closed=rng.random() < 0.3)
