"""kubectl lines typed at a cluster, with what each printed and which requests it made.

Real kubectl shows its requests with `-v=8`. Here the transport keeps them, so a page
can put a line, its answer and its requests side by side; above all, it can show that
there were none.

Upstream: `client-go/transport/round_trippers.go` (`debuggingRoundTripper`), v1.36, is
what stands behind `-v=8`.
"""

from __future__ import annotations

import io
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from lifecycle.api.http.wire import Request, Response
from lifecycle.client.rest import Client, Transport
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.kubectl.command import run_kubectl


@dataclass(slots=True, frozen=True)
class Typed:
    """One line after it ran: exit code, both outputs, and every request with the status
    of its answer.
    """

    argv: tuple[str, ...]
    code: int
    out: str
    err: str
    requests: tuple[tuple[Request, int], ...]

    def __str__(self) -> str:
        """As on a terminal, the requests below."""
        asked = "".join(
            f"\n  → {_line(request, status)}" for request, status in self.requests
        )
        return (
            f"$ kubectl {shlex.join(self.argv)}\n{self.out}{self.err}  exit"
            f" {self.code}, requests: {len(self.requests)}{asked}\n"
        )


class Wiretap:
    """A transport that keeps what passes through it."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.heard: list[tuple[Request, int]] = []

    async def round_trip(self, request: Request) -> Response:
        """Pass on, and keep the request with the status."""
        response = await self._inner.round_trip(request)
        self.heard.append((request, response.status))
        return response

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()


async def type_line(
    line: str | Sequence[str], transport: Transport, *, namespace: str = ""
) -> Typed:
    """Run one kubectl line (without the word `kubectl`) over a transport."""
    argv = shlex.split(line) if isinstance(line, str) else list(line)
    out, err, tap = io.StringIO(), io.StringIO(), Wiretap(transport)
    code = await run_kubectl(
        argv, Client(tap, "kubectl"), out=out, err=err, namespace=namespace
    )
    return Typed(tuple(argv), code, out.getvalue(), err.getvalue(), tuple(tap.heard))


def type_lines(*lines: str, nodes: int = 3) -> list[Typed]:
    """Run lines one after the other on a fresh cluster, on virtual time: the same every
    time.
    """

    async def scene(cluster: RehearsedCluster) -> list[Typed]:
        transport = cluster.client("kubectl").transport
        return [await type_line(line, transport) for line in lines]

    return rehearse(scene, nodes=nodes)


def _line(request: Request, status: int) -> str:
    query = urlencode(request.query, doseq=True)
    return f"{status} {request.method} {request.path}" + (
        f"\n        ?{query}" if query else ""
    )
