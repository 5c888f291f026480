"""Which pods the controllers asked for, and when they were answered: as an audit log.

In one process a request that nothing holds up is answered before the next is made, and
whether somebody waited for the answer cannot be told. So each creation of a pod is a
moment on its way, and is noted when it leaves and when it is back.

Ours.
"""

from __future__ import annotations

import asyncio
from typing import Any

from lifecycle.api.http.wire import Request, Response, UserInfo
from lifecycle.client.rest import Client, Transport
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig

ON_ITS_WAY = 0.001
"""Seconds."""


class NotingCluster(Cluster):
    """A cluster that notes its components' creations of pods in `created`."""

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__(config)
        self.created: list[dict[str, Any]] = []

    def client(self, component: str, user: UserInfo | None = None) -> Client:
        """See `Cluster.client`."""
        client = super().client(component, user)
        if user is not None:
            client.transport = _Noting(client.transport, user.name, self.created)
        return client


class _Noting:
    """A transport; see the module."""

    def __init__(
        self, inner: Transport, user: str, created: list[dict[str, Any]]
    ) -> None:
        self._inner = inner
        self._user = user
        self._created = created

    async def round_trip(self, request: Request) -> Response:
        """See `Transport`."""
        if request.method != "POST" or not request.path.endswith("/pods"):
            return await self._inner.round_trip(request)
        line: dict[str, Any] = {
            "auditID": str(len(self._created)),
            "stage": "RequestReceived",
            "stageTimestamp": "",
            "verb": "create",
            "user": {"username": self._user},
            "objectRef": {"resource": "pods"},
        }
        self._created.append(line)
        await asyncio.sleep(ON_ITS_WAY)
        response = await self._inner.round_trip(request)
        answer = {**line, "stage": "ResponseComplete", "requestObject": response.obj}
        self._created.append(answer)
        return response

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()
