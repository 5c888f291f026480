"""WebSocket, the client's side: how it is asked for, and whether the answer is one.

A client sends a random key; only a server that understands what it was asked can answer
with that key's digest. From then on the client masks what it sends, with a mask of its
own for each frame, so that no proxy on the way takes the bytes for a request.

Upstream: RFC 6455 sections 4.1 and 5.3;
`client-go/transport/websocket/roundtripper.go` (`RoundTrip`), v1.36.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence

from lifecycle.api.http.wire import Connection, Response
from lifecycle.api.httpstream.websocket import WebSocket, accept_key


def opening_headers(protocols: Sequence[str]) -> dict[str, str]:
    """The headers of the request, which is a GET. `protocols`: most wanted first."""
    return {
        "upgrade": "websocket",
        "connection": "Upgrade",
        "sec-websocket-key": base64.b64encode(os.urandom(16)).decode(),
        "sec-websocket-version": "13",
        "sec-websocket-protocol": ", ".join(protocols),
    }


def agreed_protocol(sent: dict[str, str], response: Response) -> str | None:
    """What the server chose; empty if it chose nothing, None if its answer opens no
    WebSocket. `sent`: the headers of the request.
    """
    headers = {name.lower(): value for name, value in response.headers.items()}
    if (
        response.status != 101
        or response.upgrade is None
        or headers.get("upgrade", "").lower() != "websocket"
        or "upgrade" not in headers.get("connection", "").lower()
        or headers.get("sec-websocket-accept") != accept_key(sent["sec-websocket-key"])
    ):
        return None
    return headers.get("sec-websocket-protocol", "")


def client_websocket(connection: Connection) -> WebSocket:
    """Messages over a connection that this side has asked to upgrade."""
    return WebSocket(connection, new_mask=lambda: os.urandom(4))
