"""The embedded cluster as somebody to be asked: what scenarios and comparisons send
their questions to.

A question is method, path, headers and bytes, and the answer status, headers and bytes,
exactly as over HTTPS: the whole handler chain and the encoding are passed through, just
no socket. On virtual time a watch that lasts five minutes takes none.

Upstream: none; `lifecycle.inspector.runner.Responder` is the contract.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from lifecycle.api.http.wire import Request
from lifecycle.api.late_import import late_import
from lifecycle.apiserver.endpoints.negotiation import finish
from lifecycle.apiserver.filters.warning import warning_headers
from lifecycle.apiserver.http.frames import json_frame
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
else:
    x509 = late_import("cryptography.x509")
    serialization = late_import("cryptography.hazmat.primitives.serialization")

KIND_ADMIN = ("kubernetes-admin", ("kubeadm:cluster-admins",))
"""Who the recorded admin certificate speaks for; a cluster made with `--like` knows the
group.
"""


class HandlerTarget:
    """Asks a server's handler chain, showing a client certificate made for `user` and
    their groups.
    """

    def __init__(
        self, server: GenericAPIServer, user: tuple[str, tuple[str, ...]] = KIND_ADMIN
    ) -> None:
        self._server = server
        certificate, _ = server.certificates.client_certificate(*user)
        self._certificate: bytes | None = x509.load_pem_x509_certificate(
            certificate
        ).public_bytes(serialization.Encoding.DER)

    def present(self, certificate: bytes | None) -> None:
        """Show another certificate (DER) from now on, or none."""
        self._certificate = certificate

    async def request(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body. A watch is read to its end."""
        request = self._request(method, path, headers, body)
        response = await self._server.handler(request)
        sent = dict(response.headers)
        warnings = warning_headers(request.warnings)
        if warnings:
            sent["Warning"] = ", ".join(warnings)
        if response.stream is not None:
            encode = response.encode_frame or json_frame
            pieces = [encode(frame) async for frame in response.stream]
            return response.status, sent, b"".join(pieces)
        finished = finish(request, response)
        return finished.status, {**sent, **finished.headers}, finished.body or b""

    async def watch(self, path: str) -> AsyncIterator[dict[str, Any]]:
        """The events of a collection, from now on, as a client would see them."""
        joint = "&" if "?" in path else "?"
        request = self._request(
            "GET", f"{path}{joint}watch=true", {"Accept": "application/json"}, b""
        )
        response = await self._server.handler(request)
        assert response.stream is not None
        async for frame in response.stream:
            yield {"type": frame.type, "object": frame.object}

    def _request(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> Request:
        parts = urlsplit(path)
        return Request(
            method=method,
            path=unquote(parts.path),
            query=parse_qs(parts.query, keep_blank_values=True),
            headers={key.lower(): value for key, value in headers.items()},
            body=body,
            peer_certificate=self._certificate,
            target=path,
        )
