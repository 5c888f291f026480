"""One POST to a webhook, in a thread of its own.

A webhook is another program, and its seconds are real ones even where ours are virtual:
a loop on virtual time stands still until it is answered.

What it says is bounded (`polite_reading.py`): who answers three megabytes in pieces of
one byte has not the whole machine meanwhile, and who never comes to an end has it no
longer than anybody waits.

Upstream: Go's `net/http` (`Client.Do`), whose words for failures are used. Left out:
HTTP/2, connections that are kept open.
"""

from __future__ import annotations

import asyncio
import http.client
import socket
import ssl
import threading
from concurrent.futures import Future
from functools import lru_cache
from urllib.parse import urlsplit

from lifecycle.api.loop.clock import VirtualTimeLoop
from lifecycle.apiserver.webhook.go_dial_errors import Dial, go_error, untrusted
from lifecycle.apiserver.webhook.polite_reading import Answer, Polite
from lifecycle.client.transport_https import ConnectionConfig, ssl_context

DEADLINE = "context deadline exceeded"
TLS_HANDSHAKE_TIMEOUT = 10.0
"""Seconds. Upstream: `client-go/transport/cache.go` (`tlsTransportCache.get`)."""

MAX_ANSWER = 3 * 1024 * 1024
JSON_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, */*",
}


class WebhookError(Exception):
    """The webhook could not be asked, or did not answer as it should. The message is
    Go's; it stands in the server's log, in a refusal, or in a 500.
    """


@lru_cache(maxsize=64)
def _tls(connection: ConnectionConfig) -> ssl.SSLContext:
    """Whom to trust takes a while to read; the same webhook is called again."""
    return ssl_context(connection)


class Call:
    """A POST of a body to `url`, under way. `await response()` ends it.

    `connection` says whom to trust and who we are; `address` where to connect to, if
    that is not what the URL says, and `dial` how. `timeout` is in seconds, for all of
    it.
    """

    def __init__(
        self,
        connection: ConnectionConfig,
        url: str,
        body: bytes,
        timeout: float,
        *,
        address: tuple[str, int] | None = None,
        dial: Dial = socket.create_connection,
        user_agent: str = "kube-apiserver-admission",
    ) -> None:
        self.url = url
        self._connection, self._timeout = connection, timeout
        parts = urlsplit(url)
        self._secure = parts.scheme == "https"
        self._host = connection.server_name or parts.hostname or ""
        port = parts.port or (443 if self._secure else 80)
        self._dial = dial
        self._address = address or (parts.hostname or "", port)
        self._path = f"{parts.path or '/'}?{parts.query}"
        self._headers = {
            **JSON_HEADERS,
            "Host": parts.netloc,
            "User-Agent": user_agent,
        }
        if connection.token:
            self._headers["Authorization"] = f"Bearer {connection.token}"
        self._future: Future[tuple[int, bytes]] = Future()
        threading.Thread(
            target=self._run, args=(body,), name="webhook call", daemon=True
        ).start()

    async def response(self) -> tuple[int, bytes]:
        """Status and body. Raises WebhookError, TimeoutError."""
        if isinstance(asyncio.get_running_loop(), VirtualTimeLoop):
            return self._future.result(self._timeout)
        return await asyncio.wait_for(asyncio.wrap_future(self._future), self._timeout)

    def _run(self, body: bytes) -> None:
        # from here on nobody can cancel it, only stop waiting
        self._future.set_running_or_notify_cancel()
        try:
            self._future.set_result(self._post(body))
        except Exception as error:  # raised where it is waited for
            self._future.set_exception(error)

    def _post(self, body: bytes) -> tuple[int, bytes]:
        try:
            with self._dial(self._address, self._timeout) as plain:
                if not self._secure:
                    return self._over(plain, body)
                with self._wrapped(plain) as secure:
                    return self._over(secure, body)
        except (TimeoutError, WebhookError):
            raise
        except (OSError, http.client.HTTPException) as error:
            why = go_error(error, self._address) or type(error).__name__
            raise WebhookError(f'Post "{self.url}": {why}') from error

    def _wrapped(self, plain: socket.socket) -> ssl.SSLSocket:
        if self._timeout > TLS_HANDSHAKE_TIMEOUT:
            plain.settimeout(TLS_HANDSHAKE_TIMEOUT)
        try:
            context = _tls(self._connection)
            return context.wrap_socket(plain, server_hostname=self._host)
        except TimeoutError as error:
            if self._timeout <= TLS_HANDSHAKE_TIMEOUT:
                raise
            why = "net/http: TLS handshake timeout"
            raise WebhookError(f'Post "{self.url}": {why}') from error
        except ssl.SSLCertVerificationError as error:
            why = untrusted(error, self._host, self._address, self._dial)
            raise WebhookError(f'Post "{self.url}": {why}') from error

    def _over(self, connected: socket.socket, body: bytes) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(*self._address)
        connection.response_class = Answer
        with Polite(connected, self._timeout) as polite:
            connection.sock = polite
            connection.request("POST", self._path, body, self._headers)
            answer = connection.getresponse()
            return answer.status, answer.read(MAX_ANSWER)
