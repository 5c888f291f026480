"""Calling a webhook: a POST over HTTPS to whoever a configuration names.

A webhook is another program, and its seconds are real ones even where ours are virtual.
So the call is made in a thread of its own; a loop on virtual time stands still until it
is answered.

A Service is looked up in the caches: its endpoints are called, under the name
`<name>.<namespace>.svc`, which is what the certificate has to be for. `caBundle` says
whom to believe; without it, the system's authorities.

Upstream: `apiserver/pkg/util/webhook/client.go` (`ClientManager.HookClient`),
`util/proxy/proxy.go` (`ResolveEndpoint`), v1.36. Left out: HTTP/2, connections that are
kept open, client certificates.
"""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
import socket
import ssl
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any
from urllib.parse import urlsplit

from lifecycle.api.clock import VirtualTimeLoop
from lifecycle.api.generic_server_response import generic_server_response
from lifecycle.api.resources import resource
from lifecycle.api.wire import Object
from lifecycle.apiserver.storage.object_reader import ObjectReader
from lifecycle.apiserver.util.go_dial_errors import go_error, untrusted

DEADLINE = "context deadline exceeded"
MAX_ANSWER = 3 * 1024 * 1024

Resolver = Callable[[str, str, int], tuple[str, int]]
"""`(namespace, name, port)` of a Service → address and port to connect to. Raises
LookupError with the reason.
"""


class CallError(Exception):
    """A call that was not answered, or not as it should be. The text is Go's."""


def service_resolver(reader: ObjectReader) -> Resolver:
    """Looks for a ready endpoint of the Service. Upstream: `ResolveEndpoint`, which is
    what `--enable-aggregator-routing` chooses.
    """
    services, slices = resource("services"), resource("endpointslices.discovery.k8s.io")

    def resolve(namespace: str, name: str, port: int) -> tuple[str, int]:
        service = reader.get(services, namespace, name)
        if service is None:
            raise LookupError(f'service "{name}" not found')
        spec = service.get("spec") or {}
        if spec.get("type") == "ExternalName":
            return spec["externalName"], port
        wanted = next(
            (row for row in spec.get("ports") or () if row.get("port") == port), None
        )
        if wanted is None:
            raise LookupError(f'no service port {port} found for service "{name}"')
        for piece in reader.list(slices, namespace):
            if (piece["metadata"].get("labels") or {}).get(
                "kubernetes.io/service-name"
            ) != name:
                continue
            ports = [
                row["port"]
                for row in piece.get("ports") or ()
                if row.get("name", "") == wanted.get("name", "")
            ]
            ready = [
                e
                for e in piece.get("endpoints") or ()
                if (e.get("conditions") or {}).get("ready", True)
            ]
            if ports and ready:
                return ready[0]["addresses"][0], ports[0]
        raise LookupError(f'no endpoints available for service "{name}"')

    return resolve


class Call:
    """One call under way. `await answer()` ends it."""

    def __init__(
        self, target: Target, body: bytes, timeout: float, resolve: Resolver
    ) -> None:
        self.url = f"{target.url}?timeout={max(1, round(timeout))}s"
        self._timeout = timeout
        self._future: Future[Any] = Future()
        run = lambda: self._run(target, body, resolve)  # noqa: E731
        threading.Thread(target=run, name="webhook call", daemon=True).start()

    def _run(self, target: Target, body: bytes, resolve: Resolver) -> None:
        # from here on nobody can cancel it, only stop waiting
        self._future.set_running_or_notify_cancel()
        try:
            self._future.set_result(target.post(self.url, body, self._timeout, resolve))
        except Exception as error:  # told to whoever waits
            self._future.set_exception(error)

    async def answer(self) -> Any:
        """The answer's JSON. Raises CallError."""
        try:
            if isinstance(asyncio.get_running_loop(), VirtualTimeLoop):
                status, data = self._future.result(self._timeout)
            else:
                status, data = await asyncio.wait_for(
                    asyncio.wrap_future(self._future), self._timeout
                )
        except TimeoutError:
            raise CallError(f'Post "{self.url}": {DEADLINE}') from None
        if status >= 400:
            raise CallError(_refusal(status, data))
        try:
            document = json.loads(data)
        except ValueError:
            first = data[:1].decode(errors="replace") or "EOF"
            why = (
                f"invalid character '{first}' looking for beginning of value"
                if data
                else "unexpected end of JSON input"
            )
            raise CallError(
                f"couldn't get version/kind; json parse error: {why}"
            ) from None
        return document


class Target:
    """Whom a `clientConfig` names. Raises CallError for one that names nobody."""

    def __init__(self, config: Object) -> None:
        self._authorities = base64.b64decode(config.get("caBundle") or "").decode()
        service = config.get("service")
        self.service: tuple[str, str, int] | None = None
        if service is not None:
            port = service.get("port") or 443
            self.service = (service["namespace"], service["name"], port)
            self.host, self.port = f"{service['name']}.{service['namespace']}.svc", port
            self.path = "/" + (service.get("path") or "").lstrip("/")
            self.url = f"https://{self.host}:{port}{self.path}"
        else:
            parts = urlsplit(config.get("url") or "")
            self.host, self.port = parts.hostname or "", parts.port or 443
            self.path = parts.path or "/"
            self.url = f"https://{parts.netloc}{parts.path}"

    def post(
        self, url: str, body: bytes, timeout: float, resolve: Resolver
    ) -> tuple[int, bytes]:
        """Status and body of the answer. Raises CallError, TimeoutError."""
        try:
            address = resolve(*self.service) if self.service else (self.host, self.port)
        except LookupError as error:
            raise CallError(f'Post "{url}": {error.args[0]}') from None
        try:
            with socket.create_connection(address, timeout) as plain:
                return self._over(plain, url, body)
        except (TimeoutError, CallError):
            raise
        except (OSError, http.client.HTTPException) as error:
            raise CallError(f'Post "{url}": {go_error(error, address)}') from None

    def _over(self, plain: socket.socket, url: str, body: bytes) -> tuple[int, bytes]:
        context = ssl.create_default_context(cadata=self._authorities or None)
        peer = plain.getpeername()[:2]
        try:
            secure = context.wrap_socket(plain, server_hostname=self.host)
        except ssl.SSLCertVerificationError as error:
            raise CallError(
                f'Post "{url}": {untrusted(error, self.host, peer)}'
            ) from None
        connection = http.client.HTTPSConnection(self.host, self.port)
        connection.sock = secure
        with secure:
            host = (
                self.host
                if self.port == 443 and not self.service
                else f"{self.host}:{self.port}"
            )
            headers = {
                "Content-Type": "application/json",
                "Accept": "application/json, */*",
                "Host": host,
            }
            headers["User-Agent"] = "kube-apiserver-admission"
            connection.request(
                "POST", self.path + url[url.rindex("?") :], body, headers
            )
            answer = connection.getresponse()
            return answer.status, answer.read(MAX_ANSWER)


def _refusal(status: int, data: bytes) -> str:
    """What the client library makes of an answer that is no success."""
    try:
        document = json.loads(data)
        if isinstance(document, dict) and document.get("kind") == "Status":
            return str(document.get("message") or "unknown")
    except ValueError:
        pass
    return generic_server_response(
        status, data.decode(errors="replace").strip() or "unknown", method="POST"
    ).message
