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
from pathlib import Path
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.go.yaml_reader import read_yaml
from lifecycle.api.http.generic_server_response import generic_server_response
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.worker import beside
from lifecycle.apiserver.webhook.call import DEADLINE, Call, WebhookError
from lifecycle.client.transport_https import ConnectionConfig

RETRY_DELAY, RETRY_FACTOR, TRIES = 0.5, 1.5, 5
RETRIED = {429, 500, 504}
DEFAULT_TIMEOUT = 30.0


def read_webhook_kubeconfig(path: Path) -> ConnectionConfig:
    """Where a webhook is. Raises ValueError for a file that does not say so, OSError
    for one that cannot be read.
    """
    document = read_yaml(path.read_bytes())[0] or {}
    context = _section(
        document, "contexts", document.get("current-context", ""), "context"
    )
    cluster = _section(document, "clusters", context.get("cluster", ""), "cluster")
    user = _section(document, "users", context.get("user", ""), "user")
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


def _section(document: Object, section: str, name: str, kind: str) -> Object:
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

    async def post(self, obj: Object) -> Object:
        """The object that came back. Raises WebhookError."""
        status, answer, text = await self._try(fast_json.dumps(obj))
        if 200 <= status < 300 and isinstance(answer, dict):
            return answer
        raise self._refused(status, answer, text)

    async def tell(self, body: bytes) -> None:
        """Post JSON that needs no answer but a good status. Raises WebhookError."""
        status, answer, text = await self._try(body)
        if not 200 <= status < 300:
            raise self._refused(status, answer, text)

    @staticmethod
    def _refused(status: int, answer: Any, text: str) -> WebhookError:
        message = answer.get("message") if isinstance(answer, dict) else None
        return WebhookError(
            str(message or generic_server_response(status, text, method="POST").message)
        )

    async def _try(self, body: bytes) -> tuple[int, Any, str]:
        """Send, as often as it takes."""
        delay = self._retry_delay
        for _ in range(TRIES - 1):
            status, answer, text = await self._send(body)
            if status not in RETRIED:
                return status, answer, text
            await asyncio.sleep(delay)
            delay *= RETRY_FACTOR
        return await self._send(body)

    async def _send(self, body: bytes) -> tuple[int, Any, str]:
        """One try: status, document, text."""
        call = Call(
            self._connection,
            self._url,
            body,
            self._timeout,
            user_agent="kube-apiserver",
        )
        try:
            status, data = await call.response()
        except TimeoutError:
            why = f"{DEADLINE} (Client.Timeout exceeded while awaiting headers)"
            raise WebhookError(f'Post "{self._url}": {why}') from None
        try:
            return status, await beside(len(data), fast_json.loads, data), "unknown"
        except ValueError:
            return status, None, data.decode(errors="replace").strip() or "unknown"
