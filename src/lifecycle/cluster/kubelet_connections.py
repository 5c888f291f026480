"""How the API server reaches kubelets and pods of this process.

A real API server dials a node's address and port 10250. The nodes of an embedded
cluster have addresses that lead nowhere, so the cluster tells its API server a way to
each of them, as a cloud provider's tunnel would. Upgraded connections are handed on as
they are.

Upstream: `apiserver/pkg/server/egressselector/egress_selector.go` (the same idea, for
tunnels), v1.36.
"""

from __future__ import annotations

from lifecycle.api.wire import Request, Response
from lifecycle.cri.runtime import HTTPRequest
from lifecycle.kubelet.kubelet import Kubelet


class KubeletConnection:
    """One node's kubelet, in the same process."""

    def __init__(self, kubelet: Kubelet) -> None:
        self._kubelet = kubelet

    async def round_trip(self, request: Request) -> Response:
        """Ask the kubelet's own API."""
        return await self._kubelet.server(request)

    async def reach_pod(self, ip: str, port: int, request: Request) -> Response:
        """A plain request to a pod of that node. Raises OSError."""
        answer = await self._kubelet.runtime.http_get(
            HTTPRequest(ip, port, request.path), 10.0
        )
        if not answer.status:
            raise ConnectionRefusedError(answer.text)
        return Response(
            answer.status, {"Content-Type": "text/plain"}, body=answer.text.encode()
        )
