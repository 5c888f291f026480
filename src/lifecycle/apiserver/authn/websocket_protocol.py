"""A token in a WebSocket's list of protocols: the one header that a browser lets a page
choose.

`Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.<token>,
v4.channel.k8s.io` – the token is taken out, and the other protocols go on.

Upstream: `apiserver/pkg/authentication/request/websocket/protocol.go`
(`ProtocolAuthenticator`), v1.36.
"""

from __future__ import annotations

import base64

from lifecycle.api.http.wire import Request
from lifecycle.apiserver.authn.authenticator import (
    AuthenticationError,
    Identity,
    TokenAuthenticator,
)
from lifecycle.apiserver.authn.bearer_token import recognise

HEADER = "sec-websocket-protocol"
PREFIX = "base64url.bearer.authorization.k8s.io."


class WebSocketProtocolAuthenticator:
    """Recognises tokens that came as a protocol."""

    def __init__(self, tokens: TokenAuthenticator) -> None:
        self._tokens = tokens

    async def authenticate_request(self, request: Request) -> Identity | None:
        """Whose token it is; None without one. Raises AuthenticationError for a wrong
        one, and for one that comes alone.
        """
        header = request.headers.get(HEADER)
        if (
            header is None
            or PREFIX not in header
            or request.headers.get("upgrade", "").lower() != "websocket"
        ):
            return None
        token, seen, others = "", False, []
        for protocol in (part.strip() for part in header.split(",")):
            if not protocol.startswith(PREFIX):
                others.append(protocol)
                continue
            if seen:
                raise AuthenticationError(
                    "multiple base64.bearer.authorization tokens specified"
                )
            seen, token = True, _decoded(protocol.removeprefix(PREFIX))
        if not token:
            return None
        if not others:
            raise AuthenticationError("missing additional subprotocol")
        identity = await recognise(self._tokens, token)
        request.headers = {**request.headers, HEADER: ",".join(others)}
        return identity


def _decoded(text: str) -> str:
    try:
        data = base64.b64decode(
            text + "=" * (-len(text) % 4), altchars=b"-_", validate=True
        )
    except ValueError:  # what is not ASCII is none of base64's own errors
        raise AuthenticationError(
            "invalid base64.bearer.authorization token encoding"
        ) from None
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise AuthenticationError("invalid base64.bearer.authorization token") from None
