"""The way in for code of this process: no socket, and an identity that nobody outside
can claim.

The server itself is among those who use it. When it charges a quota or writes the
default roles, it does so as a client, through its own handler chain.

Upstream: `apiserver/pkg/server/options/serving_with_loopback.go`
(`LoopbackClientConfig`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import (
    MASTERS,
    Handler,
    Object,
    Request,
    Response,
    UserInfo,
)
from lifecycle.api.resources import Resource, resource_for_kind
from lifecycle.api.status import StatusError
from lifecycle.api.version import user_agent
from lifecycle.apiserver.server.precedence import Precedence
from lifecycle.client.rest import Client

LOOPBACK_USER = UserInfo("system:apiserver", (MASTERS, "system:authenticated"))
USER_AGENT = user_agent("kube-apiserver")


class InProcessTransport:
    """Hands requests to the chain without a socket, under an identity that only code in
    this process can claim.
    """

    def __init__(
        self, handler: Handler, user: UserInfo, precedence: Precedence
    ) -> None:
        self._handler, self._user, self._precedence = handler, user, precedence

    async def round_trip(self, request: Request) -> Response:
        """Send, and return the answer, whatever its status."""
        request.user = self._user
        await self._precedence.turn()
        return await self._handler(request)

    async def close(self) -> None:
        """Nothing is held."""


class Loopback:
    """Transports to one handler chain, and what the server writes through them."""

    def __init__(self, handler: Handler, precedence: Precedence) -> None:
        self._handler, self._precedence = handler, precedence

    def transport(self, user: UserInfo = LOOPBACK_USER) -> InProcessTransport:
        """A way in as `user`."""
        return InProcessTransport(self._handler, user, self._precedence)

    def client(self) -> Client:
        """A client, as the server itself."""
        return Client(self.transport(), USER_AGENT)

    async def create(self, obj: Object) -> None:
        """Write a new object. Raises StatusError."""
        metadata, row = obj["metadata"], _row(obj)
        await self._send("POST", row.path(metadata.get("namespace", "")), obj)

    async def update(self, obj: Object, subresource: str = "") -> None:
        """Replace an object. Raises StatusError."""
        metadata, row = obj["metadata"], _row(obj)
        path = row.path(metadata.get("namespace", ""), metadata["name"], subresource)
        await self._send("PUT", path, obj)

    async def update_status(self, obj: Object) -> None:
        """Write an object's status. Raises StatusError, 409 if somebody was faster."""
        metadata = {
            key: value
            for key, value in obj["metadata"].items()
            if key != "managedFields"
        }
        await self.update({**obj, "metadata": metadata}, "status")

    async def _send(self, method: str, path: str, obj: Object) -> None:
        request = Request(method, path, obj=obj, accepts_object=True)
        request.headers["user-agent"] = USER_AGENT
        response = await self.transport().round_trip(request)
        if response.status >= 400:
            raise StatusError(response.obj or {})


def _row(obj: Object) -> Resource:
    row = resource_for_kind(obj["apiVersion"], obj["kind"])
    assert row is not None, obj["kind"]
    return row
