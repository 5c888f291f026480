"""An API server on a real socket, for tests that misbehave towards it."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import tempfile
from types import TracebackType
from typing import Any

from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.etcd.memory import MemoryStore
from tests.furnished import restored

TOKEN = "letmein"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"

Answer = tuple[int, dict[str, str], bytes]


class Site:
    """`async with Site() as site`: a server, and ways to talk to it. On leaving, nothing may have gone wrong inside."""

    def __init__(self, **options: Any) -> None:
        self.server = create_server_chain(MemoryStore(), token=TOKEN, **options)
        self.port = 0
        self.troubles: list[str] = []

    async def __aenter__(self) -> Site:
        self._handler = logging.Handler(logging.WARNING)
        self._handler.emit = lambda record: self.troubles.append(record.getMessage())  # type: ignore[method-assign]
        logging.getLogger().addHandler(self._handler)
        asyncio.get_running_loop().set_exception_handler(lambda _, context: self.troubles.append(str(context)))
        await self.server.start(restored)
        self.port = await self.server.serve_https()
        self.tls = ssl.create_default_context(cadata=self.server.certificates.ca_pem.decode())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.server.stop()
        await asyncio.sleep(0)
        logging.getLogger().removeHandler(self._handler)
        if error is None:
            assert self.troubles == []

    def with_certificate(self, authority: CertificateAuthority, user: str, *groups: str) -> ssl.SSLContext:
        """TLS that shows a client certificate of an authority (ours, or one that nobody trusts)."""
        context = ssl.create_default_context(cadata=self.server.certificates.ca_pem.decode())
        certificate, key = authority.client_certificate(user, list(groups))
        with tempfile.NamedTemporaryFile() as file:
            file.write(certificate + key)
            file.flush()
            context.load_cert_chain(file.name)
        return context

    async def connect(self, tls: ssl.SSLContext | None = None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection of one's own."""
        return await asyncio.open_connection("127.0.0.1", self.port, ssl=tls or self.tls, limit=1 << 24)

    async def raw(self, data: bytes, *, tls: ssl.SSLContext | None = None) -> Answer:
        """Send bytes as they are on a new connection; the first answer."""
        reader, writer = await self.connect(tls)
        try:
            writer.write(data)
            async with asyncio.timeout(20):
                return await read_answer(reader)
        finally:
            writer.transport.abort()

    async def ask(self, method: str, path: str, body: Any = b"", *, token: str = TOKEN, **headers: str) -> Answer:
        """One request with a length. Header names are given with underscores; `None` leaves a default one out."""
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        return await self.raw(request_bytes(method, path, body, token=token, **headers))


def request_bytes(method: str, path: str, body: bytes = b"", *, token: str = TOKEN, **headers: str) -> bytes:
    """A request as HTTP/1.1 writes it."""
    sent = {"Host": "x", "Content-Type": "application/json", "Accept": "application/json"}
    if token:
        sent["Authorization"] = f"Bearer {token}"
    if body:
        sent["Content-Length"] = str(len(body))
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items() if value is not None)
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body


async def read_answer(reader: asyncio.StreamReader, *, method: str = "GET") -> Answer:
    """Status, headers (lower case) and body."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers: dict[str, str] = {}
    for line in head[1:-2]:
        name, _, value = line.partition(": ")
        headers[name.lower()] = f"{headers[name.lower()]}, {value}" if name.lower() in headers else value
    body = b"" if method == "HEAD" else await reader.readexactly(int(headers.get("content-length", 0)))
    return int(head[0].split()[1]), headers, body


def message_of(answer: Answer) -> str:
    """The message of a Status; the text itself if it is none."""
    if not answer[2].startswith(b"{"):
        return answer[2].decode("utf-8", "replace")
    status = json.loads(answer[2])
    if status.get("kind") == "Status":
        assert status["apiVersion"] == "v1"
        assert status["code"] == answer[0] or status["status"] == "Success"
        return str(status.get("message", ""))
    return str(status["kind"])


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
