"""How the kubelet reaches what listens in a pod: for probes, and for hooks that are
HTTP requests.

Ours: upstream's kubelet has the node's network itself. A hollow node has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

NO_TLS = "http: server gave HTTP response to HTTPS client"
"""Why there is no answer over HTTPS from a server that speaks plainly."""


@dataclass(slots=True, frozen=True)
class HTTPRequest:
    """One request. `path` with its query; `headers` are sent as they are, and no
    others.
    """

    host: str
    port: int
    path: str = "/"
    scheme: str = "http"
    headers: tuple[tuple[str, str], ...] = ()
    method: str = "GET"
    body: bytes = b""

    def header(self, name: str) -> str:
        """The first of that name, which is spelt anyhow; empty if there is none."""
        wanted = name.lower()
        return next((text for key, text in self.headers if key.lower() == wanted), "")

    @property
    def url(self) -> str:
        """As it is shown."""
        return f"{self.scheme}://{self.host}:{self.port}{self.path}"


@dataclass(slots=True, frozen=True)
class HTTPAnswer:
    """`status` 0: there is none, and `text` says why. Else `text` is the beginning of
    the body, and `location` where a redirect leads. `content_type` empty: the server
    said nothing of it.
    """

    status: int
    text: str = ""
    location: str = ""
    content_type: str = ""


class PodNetwork(Protocol):
    """How the kubelet reaches a container's ports, for probes. On a real node that is
    the network itself.
    """

    async def tcp_connect(self, ip: str, port: int, timeout: float) -> str:
        """Empty, or why not."""
        ...

    async def http_get(self, request: HTTPRequest, timeout: float) -> HTTPAnswer:
        """Ask once; redirects are not followed. `timeout` in seconds, 0: none."""
        ...
