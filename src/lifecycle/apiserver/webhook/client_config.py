"""Whom a `clientConfig` names: webhooks of admission and of conversion.

A Service is looked up in the caches, and called under the name
`<name>.<namespace>.svc`, which is what the certificate has to be for. `caBundle` says
whom to believe; without it, the system's authorities.

Upstream: `apiserver/pkg/util/webhook/client.go` (`ClientManager.HookClient`), v1.36.
Left out: client certificates.
"""

from __future__ import annotations

import base64
import contextlib
import socket
from typing import Any
from urllib.parse import urlsplit

from lifecycle.api.go.json.decode import unmarshal
from lifecycle.api.go.yaml_reader import read_yaml
from lifecycle.api.http.generic_server_response import generic_server_response
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.worker import beside
from lifecycle.apiserver.webhook.call import DEADLINE, Call, WebhookError
from lifecycle.apiserver.webhook.go_dial_errors import Dial
from lifecycle.apiserver.webhook.service_resolver import ResolveError, ServiceResolver
from lifecycle.client.transport_https import ConnectionConfig


class HookClient:
    """A webhook that a `clientConfig` names. `resolver` finds its Service, if it has
    one.
    """

    def __init__(self, config: Object, resolver: ServiceResolver | None = None) -> None:
        self._resolver = resolver
        self._service: tuple[str, str, int] | None = None
        service = config.get("service")
        if service is not None:
            port = service.get("port") or 443
            self._service = (service["namespace"], service["name"], port)
            path = "/" + (service.get("path") or "").lstrip("/")
            host = f"{service['name']}.{service['namespace']}.svc"
            self.url = f"https://{host}:{port}{path}"
        else:
            parts = urlsplit(config.get("url") or "")
            self.url = f"https://{parts.netloc}{parts.path}"
        self._connection = ConnectionConfig(
            self.url, ca=base64.b64decode(config.get("caBundle") or "")
        )

    def post(self, body: bytes, timeout: float) -> HookCall:
        """Begin a call; `timeout` is in seconds."""
        url = f"{self.url}?timeout={max(1, round(timeout))}s"
        address: tuple[str, int] | None = None
        dial: Dial = socket.create_connection
        if self._service is not None:
            assert self._resolver is not None
            dial = self._resolver.egress.dial
            try:
                address = self._resolver.resolve_endpoint(*self._service)
            except ResolveError as error:
                return HookCall(None, WebhookError(f'Post "{url}": {error}'))
        call = Call(self._connection, url, body, timeout, address=address, dial=dial)
        return HookCall(call)


class HookCall:
    """A call under way, or why there is none."""

    def __init__(self, call: Call | None, error: WebhookError | None = None) -> None:
        self._call, self._error = call, error

    async def answer(self) -> Any:
        """The answer's JSON. Raises WebhookError."""
        if self._call is None:
            assert self._error is not None
            raise self._error
        try:
            status, data = await self._call.response()
        except TimeoutError:
            raise WebhookError(f'Post "{self._call.url}": {DEADLINE}') from None
        if status >= 400:
            raise WebhookError(await beside(len(data), _refusal, status, data))
        if not data:
            raise WebhookError(
                f"0-length response with status code: {status} and content type:"
                " application/json"
            )
        try:
            return await beside(len(data), _document, data)
        except ValueError as error:
            raise WebhookError(
                f"couldn't get version/kind; json parse error: {error}"
            ) from None


def _document(data: bytes) -> Any:
    """JSON; what is none may be YAML. Raises ValueError, of JSON."""
    try:
        return unmarshal(data)
    except ValueError:
        with contextlib.suppress(ValueError):
            return read_yaml(data)[0]
        raise


def _refusal(status: int, data: bytes) -> str:
    """What the client library makes of an answer that is no success."""
    try:
        document = unmarshal(data)
        if isinstance(document, dict) and document.get("kind") == "Status":
            return str(document.get("message") or "unknown")
    except ValueError:
        pass
    return generic_server_response(
        status, data.decode(errors="replace").strip() or "unknown", method="POST"
    ).message
