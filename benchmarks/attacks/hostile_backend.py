"""A server that means no good: what it answers is written by hand, byte for byte. Webhooks and added API servers are such servers."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import ssl
import tempfile
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from lifecycle.apiserver.pki.certificates import CertificateAuthority

MIB = 1 << 20
MOST = 400 * MIB
Answer = Callable[[str, bytes, asyncio.StreamWriter], Awaitable[None]]
"""Given a request's path and body, writes what it likes."""


class HostileBackend:
    """Serves on 127.0.0.1 between `async with` and its end; for its own address, and as the Service `default/evil`."""

    def __init__(self, answer: Answer) -> None:
        self._answer, self._authority, self.port = answer, CertificateAuthority(), 0
        self._conversations = set[asyncio.Task[None]]()

    async def __aenter__(self) -> HostileBackend:
        certificate, key = self._authority.serving_certificate(["evil.default.svc", "localhost"], ["127.0.0.1"])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.TemporaryDirectory() as folder:
            files = Path(folder, "tls.crt"), Path(folder, "tls.key")
            for file, content in zip(files, (certificate, key), strict=True):
                file.write_bytes(content)
            context.load_cert_chain(*files)
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._server.close()
        for conversation in self._conversations:  # some would say nothing for a quarter of an hour
            conversation.cancel()
        await asyncio.gather(*self._conversations, return_exceptions=True)

    @property
    def ca(self) -> str:
        return base64.b64encode(self._authority.ca_pem).decode()

    def client_config(self) -> dict[str, str]:
        return {"url": f"https://127.0.0.1:{self.port}/", "caBundle": self.ca}

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._conversations.add(task)
        task.add_done_callback(self._conversations.discard)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while True:
                    head = await reader.readuntil(b"\r\n\r\n")
                    size = next(
                        (int(line[15:]) for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"), 0
                    )
                    await self._answer(head.split(b" ")[1].decode(), await reader.readexactly(size), writer)
        finally:
            writer.transport.abort()


async def say(
    writer: asyncio.StreamWriter, document: Any, kind: str = "application/json", encoding: str = "identity"
) -> None:
    """A well-formed answer."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Encoding: {encoding}\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()


async def pour(writer: asyncio.StreamWriter, begin: bytes, piece: bytes) -> None:
    writer.write(begin)
    for _ in range(MOST // len(piece)):
        writer.write(piece)
        await writer.drain()


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


async def endless(_: str, __: bytes, writer: asyncio.StreamWriter) -> None:
    await pour(writer, CHUNKED + chunk(b'{"response":['), chunk(b"[1]," * 100_000))


async def deep(_: str, __: bytes, writer: asyncio.StreamWriter) -> None:
    await say(writer, b"[" * 2_500_000)


async def silent(_: str, __: bytes, ___: asyncio.StreamWriter) -> None:
    await asyncio.sleep(1_000)


async def announced(_: str, __: bytes, writer: asyncio.StreamWriter) -> None:
    await pour(writer, b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000)


async def long_head(_: str, __: bytes, writer: asyncio.StreamWriter) -> None:
    await pour(writer, b"HTTP/1.1 200 OK\r\n", b"X-A: " + b"b" * 8_000 + b"\r\n")


async def crumbs(_: str, __: bytes, writer: asyncio.StreamWriter) -> None:
    await pour(writer, CHUNKED, chunk(b" ") * 1_000)


async def bomb(_: str, __: bytes, writer: asyncio.StreamWriter) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    await say(writer, packer.compress(bytes(100 * MIB)) + packer.flush(), encoding="gzip")


KINDS: dict[str, Answer] = {
    "an endless list": endless,
    "two million brackets": deep,
    "nothing at all": silent,
    "100 Continue, for ever": announced,
    "a head without end": long_head,
    "chunks of one byte": crumbs,
    "a gzip bomb": bomb,
}
