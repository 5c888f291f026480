"""How the API server reaches kubelets and pods of this process.

A real API server dials a node's address and port 10250. The nodes of an embedded
cluster have addresses that lead nowhere, so the cluster tells its API server a way to
each of them, as a cloud provider's tunnel would. Upgraded connections are handed on as
they are.

Upstream: `apiserver/pkg/server/egressselector/egress_selector.go` (the same idea, for
tunnels), v1.36.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lifecycle.api.http.auto_headers import AUTO_HEADERS
from lifecycle.api.http.wire import Request, Response, WatchFrame
from lifecycle.api.late_import import late_import
from lifecycle.cri.apis.pod_network import HTTPRequest
from lifecycle.cri.hollow.network.http_headers import body_of, headers_of
from lifecycle.cri.node_access import NodeAccess, connector_in
from lifecycle.kubelet.kubelet import Kubelet

if TYPE_CHECKING:
    import aiohttp
    import yarl
else:
    aiohttp = late_import("aiohttp")
    yarl = late_import("yarl")

DIAL_TIMEOUT = 30.0
IN_ONE_PIECE = 1 << 20
"""Bytes of an answer of known length up to which it is read before it is passed on."""

NOT_TLS = "tls: first record does not look like a TLS handshake"
_HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "transfer-encoding",
        "content-length",
        "date",
        "trailer",
        "upgrade",
    }
)
_WITHOUT_BODY = frozenset({204, 304})


class KubeletConnection:
    """One node's kubelet, in the same process."""

    def __init__(self, kubelet: Kubelet) -> None:
        self._kubelet = kubelet

    async def round_trip(self, request: Request) -> Response:
        """Ask the kubelet's own API."""
        return await self._kubelet.server(request)

    async def reach_pod(
        self, ip: str, port: int, request: Request, scheme: str = "http"
    ) -> Response:
        """Ask whoever listens at an address of that node: `request.target`, with its
        body. Raises OSError.
        """
        runtime = self._kubelet.runtime
        if isinstance(runtime, NodeAccess):
            return await _forward(runtime.host_netns, ip, port, request, scheme)
        outgoing = HTTPRequest(
            ip, port, request.target or request.path, scheme, method=request.method
        )
        answer = await runtime.http_get(outgoing, DIAL_TIMEOUT)
        if not answer.status:
            why = answer.text.removeprefix(f'Get "{outgoing.url}": ')
            raise ConnectionRefusedError(
                NOT_TLS if scheme == "https" and "dial" not in why else why
            )
        return Response(answer.status, headers_of(answer), body=body_of(answer))


class _Pieces:
    """The body of an answer as it comes; closing it closes the connection."""

    def __init__(
        self, session: aiohttp.ClientSession, answer: aiohttp.ClientResponse
    ) -> None:
        self._session, self._answer = session, answer

    def __aiter__(self) -> _Pieces:
        return self

    async def __anext__(self) -> WatchFrame:
        try:
            piece = await self._answer.content.readany()
        except aiohttp.ClientError:  # the other side has gone: that is all there is
            piece = b""
        if not piece:
            raise StopAsyncIteration
        return WatchFrame("", {}, encoded=piece)

    async def aclose(self) -> None:
        """No more."""
        self._answer.close()
        await self._session.close()


async def _forward(
    host_netns: str, ip: str, port: int, request: Request, scheme: str
) -> Response:
    """Over a real network. Whose certificate it is nobody looks at, as upstream. Raises
    OSError.
    """
    host = f"[{ip}]" if ":" in ip else ip
    session = aiohttp.ClientSession(
        connector=connector_in(host_netns),
        skip_auto_headers=AUTO_HEADERS,
        auto_decompress=False,
    )
    streaming: Any = None
    try:
        answer = await session.request(
            request.method,
            yarl.URL(f"{scheme}://{host}:{port}{request.target}", encoded=True),
            headers=request.headers,
            data=request.body or None,
            ssl=False,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=DIAL_TIMEOUT),
        )
        headers = {
            name: value
            for name, value in answer.headers.items()
            if name.lower() not in _HOP_BY_HOP
        }
        if request.method == "HEAD" or answer.status in _WITHOUT_BODY:
            return Response(answer.status, headers, body=b"")
        if answer.content_length is not None and answer.content_length <= IN_ONE_PIECE:
            return Response(answer.status, headers, body=await answer.read())
        streaming = _Pieces(session, answer)
        return Response(
            answer.status,
            headers,
            stream=streaming,
            encode_frame=lambda frame: frame.encoded or b"",
        )
    except aiohttp.ClientConnectorSSLError:
        raise ConnectionError(NOT_TLS) from None
    except aiohttp.ClientOSError as error:
        why = os.strerror(error.errno).lower() if error.errno else str(error)
        raise ConnectionError(f"dial tcp {ip}:{port}: connect: {why}") from None
    except (aiohttp.ClientError, TimeoutError) as error:
        raise ConnectionError(str(error) or "EOF") from None
    finally:
        if streaming is None:
            await session.close()
