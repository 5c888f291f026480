"""A few lines of HTTPS: one request, one JSON answer."""

from __future__ import annotations

import json
import ssl
import tempfile
from dataclasses import dataclass, field, replace
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

PATIENCE = 30


@dataclass(slots=True, frozen=True)
class Reply:
    """Status, headers in lower case, and the body: JSON if it is."""

    status: int
    headers: dict[str, str]
    body: Any

    @property
    def reason(self) -> str:
        """What a refusal is called; `""` for what is no refusal."""
        if isinstance(self.body, dict) and self.body.get("kind") == "Status":
            return str(self.body.get("reason", ""))
        return ""

    @property
    def message(self) -> str:
        """What a refusal says."""
        return str(self.body.get("message", "")) if isinstance(self.body, dict) else ""


@dataclass(slots=True, frozen=True)
class Connection:
    """Whom to ask, and as whom: `identity` is a certificate with its key."""

    port: int
    ca: bytes
    identity: tuple[bytes, bytes] | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def with_headers(self, **headers: str) -> Connection:
        """The same with more headers; `_` stands for `-`."""
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **more})

    def bearing(self, token: str) -> Connection:
        """The same with a token."""
        return self.with_headers(Authorization=f"Bearer {token}")

    def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        **headers: str,
    ) -> Reply:
        """One request on a connection of its own."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = self.open()
        try:
            connection.request(
                method,
                path,
                None if body is None else json.dumps(body),
                {"Content-Type": content_type, **self.headers, **sent},
            )
            response = connection.getresponse()
            text = response.read().decode(errors="replace")
        finally:
            connection.close()
        try:
            document = json.loads(text)
        except ValueError:
            document = text
        names = {name.lower(): value for name, value in response.getheaders()}
        return Reply(response.status, names, document)

    def open(self) -> HTTPSConnection:
        """One that can be closed before the answer has come."""
        return HTTPSConnection(
            "127.0.0.1", self.port, timeout=PATIENCE, context=self._context()
        )

    def _context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cadata=self.ca.decode())
        if self.identity is not None:
            with tempfile.TemporaryDirectory() as folder:
                chain = Path(folder, "chain.pem")
                chain.touch(mode=0o600)
                chain.write_bytes(b"".join(self.identity))
                context.load_cert_chain(chain)
        return context
