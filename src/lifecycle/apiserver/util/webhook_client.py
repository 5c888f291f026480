"""Asking a webhook: one POST of an object, one object back, over HTTPS.

Where the webhook is, whom to trust, and what to show it stands in a file of
kubeconfig's form: the cluster is the webhook, the user is the API server. Transient
failures are tried again, five times in all, half a second apart and then longer and
longer.

Upstream: `apiserver/pkg/util/webhook/webhook.go` (`GenericWebhook`,
`WithExponentialBackoff`, `DefaultShouldRetry`, `DefaultRetryBackoffWithInitialDelay`),
v1.36. Left out: credential plugins in such a file, egress selectors, jitter.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson
import yaml

from lifecycle.api.generic_server_response import generic_server_response
from lifecycle.api.wire import Object
from lifecycle.apiserver.util.go_dial_errors import go_error, untrusted
from lifecycle.client.transport_https import ConnectionConfig, ssl_context

RETRY_DELAY, RETRY_FACTOR, TRIES = 0.5, 1.5, 5
RETRIED = {429, 500, 504}
DEFAULT_TIMEOUT = 30.0


class WebhookError(Exception):
    """The webhook could not be asked, or did not answer. The message is what the
    server's log (or a 500) says.
    """


def read_webhook_kubeconfig(path: Path) -> ConnectionConfig:
    """Where a webhook is. Raises ValueError for a file that does not say so, OSError
    for one that cannot be read.
    """
    document = yaml.safe_load(path.read_text()) or {}
    context = _named(
        document, "contexts", document.get("current-context", ""), "context"
    )
    cluster = _named(document, "clusters", context.get("cluster", ""), "cluster")
    user = _named(document, "users", context.get("user", ""), "user")
    if not cluster.get("server"):
        raise ValueError("invalid configuration: no configuration has been provided")
    return ConnectionConfig(
        server=cluster["server"],
        ca=_bytes(cluster, "certificate-authority", path),
        client_certificate=_bytes(user, "client-certificate", path),
        client_key=_bytes(user, "client-key", path),
        token=user.get("token", ""),
        insecure=bool(cluster.get("insecure-skip-tls-verify")),
        server_name=cluster.get("tls-server-name", ""),
    )


def _named(document: Object, section: str, name: str, kind: str) -> Object:
    return next(
        (
            entry.get(kind) or {}
            for entry in document.get(section) or ()
            if entry.get("name") == name
        ),
        {},
    )


def _bytes(body: Object, key: str, path: Path) -> bytes:
    if body.get(f"{key}-data"):
        return base64.b64decode(body[f"{key}-data"])
    return (path.parent / body[key]).read_bytes() if body.get(key) else b""


class WebhookClient:
    """Posts objects to one address. `timeout` is in seconds, for each try."""

    def __init__(
        self,
        connection: ConnectionConfig,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        retry_delay: float = RETRY_DELAY,
    ) -> None:
        self._connection = connection
        self._timeout = timeout
        self._retry_delay = retry_delay
        self._url = connection.server + f"?timeout={timeout:g}s"
        self._tls: ssl.SSLContext | None = None
        self.asked = 0
        """How many requests have been sent."""

    async def post(self, obj: Object) -> Object:
        """The object that came back. Raises WebhookError."""
        delay = self._retry_delay
        for tries_left in range(TRIES - 1, -1, -1):
            status, answer, text = await self._send(obj)
            if 200 <= status < 300 and isinstance(answer, dict):
                return answer
            if status not in RETRIED or not tries_left:
                break
            await asyncio.sleep(delay)
            delay *= RETRY_FACTOR
        if isinstance(answer, dict) and answer.get("message"):
            raise WebhookError(str(answer["message"]))
        raise WebhookError(generic_server_response(status, text, method="POST").message)

    async def tell(self, obj: Object) -> None:
        """Post something that needs no answer but a good status. Raises
        WebhookError.
        """
        delay = self._retry_delay
        for tries_left in range(TRIES - 1, -1, -1):
            status, answer, text = await self._send(obj)
            if 200 <= status < 300:
                return
            if status not in RETRIED or not tries_left:
                break
            await asyncio.sleep(delay)
            delay *= RETRY_FACTOR
        said = answer.get("message") if isinstance(answer, dict) else None
        raise WebhookError(
            str(said or generic_server_response(status, text, method="POST").message)
        )

    async def _send(self, obj: Object) -> tuple[int, Any, str]:
        """One try: status, document, text.

        A session each: asking is rare (answers are cached), and no connection outlives
        the loop it was made on.
        """
        self.asked += 1
        if self._tls is None and self._connection.server.startswith("https:"):
            self._tls = ssl_context(self._connection)
        headers = {
            "content-type": "application/json",
            "accept": "application/json, */*",
        }
        if self._connection.token:
            headers["authorization"] = f"Bearer {self._connection.token}"
        try:
            async with (
                aiohttp.ClientSession(
                    timeout=aiohttp.ClientTimeout(total=self._timeout)
                ) as session,
                session.post(
                    self._url,
                    data=orjson.dumps(obj),
                    headers=headers,
                    ssl=self._tls or True,
                    server_hostname=self._connection.server_name or None,
                ) as answer,
            ):
                data = await answer.read()
        except TimeoutError:
            waited = (
                "context deadline exceeded (Client.Timeout exceeded while awaiting"
                " headers)"
            )
            raise WebhookError(f'Post "{self._url}": {waited}') from None
        except (aiohttp.ClientError, OSError) as error:
            raise WebhookError(f'Post "{self._url}": {self._why(error)}') from error
        try:
            return answer.status, orjson.loads(data), "unknown"
        except ValueError:
            return (
                answer.status,
                None,
                data.decode(errors="replace").strip() or "unknown",
            )

    def _why(self, error: Exception) -> str:
        cause = (
            getattr(error, "certificate_error", None)
            or getattr(error, "os_error", None)
            or error
        )
        url = urlsplit(self._connection.server)
        peer = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return untrusted(cause, self._connection.server_name or peer[0], peer)
        return go_error(cause, peer) or type(error).__name__
