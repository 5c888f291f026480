"""A component's loopback port: is it alive, is it ready, and what has it counted?

`/healthz` and `/livez` say whether starting it again would help, `/readyz` whether it
has the picture that it works from. Each is a list of named checks: `?verbose` shows
them, `/readyz/informer-sync` asks one alone, `?exclude=` leaves one out.

Upstream: `apiserver/pkg/server/healthz/healthz.go` (`InstallHandler`,
`handleRootHealth`), `cmd/kube-scheduler/app/server.go`
(`newEndpointsHandler`), v1.36. Left out: TLS and authorization, since nobody but this
machine can ask; `/configz`, `/flagz`, `/statusz`, profiles.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from lifecycle.api.late_import import late_import

if TYPE_CHECKING:
    from aiohttp import web
else:
    web = late_import("aiohttp.web")

LOOPBACK = "127.0.0.1"
TEXT = "text/plain; version=0.0.4; charset=utf-8"

Check = Callable[[], str]
"""Returns an empty string, or what is wrong."""


def always() -> str:
    """`ping`: whoever answers is alive."""
    return ""


class HealthServer:
    """`healthz` and `readyz`: checks by name, asked in this order. `metrics` makes the
    text of `/metrics`.
    """

    def __init__(
        self,
        healthz: Mapping[str, Check],
        readyz: Mapping[str, Check],
        metrics: Callable[[], Awaitable[str]],
    ) -> None:
        alive = {"ping": always, **healthz}
        self._endpoints = {
            "healthz": alive,
            "livez": alive,
            "readyz": {"ping": always, **readyz},
        }
        self._metrics = metrics
        self._connections: web.Server | None = None
        self._listener: asyncio.Server | None = None

    async def start(self, port: int = 0) -> int:
        """Listen on a loopback port; which. Raises OSError if it is taken."""
        self._connections = web.Server(self._answer, access_log=None)
        self._listener = await asyncio.get_running_loop().create_server(
            self._connections, LOOPBACK, port
        )
        bound: int = self._listener.sockets[0].getsockname()[1]
        return bound

    async def stop(self) -> None:
        """Stop listening, and close every connection."""
        if self._listener is not None:
            self._listener.close()
        if self._connections is not None:
            await self._connections.shutdown(timeout=0.2)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.method not in ("GET", "HEAD"):
            return _text(405, "method not allowed\n")
        if request.path == "/metrics":
            return web.Response(
                body=(await self._metrics()).encode(), headers={"Content-Type": TEXT}
            )
        endpoint, _, single = request.path.strip("/").partition("/")
        checks = self._endpoints.get(endpoint)
        if checks is None or (single and single not in checks):
            return _text(404, "404 page not found\n")
        if single:
            problem = checks[single]()
            return (
                _text(500, f"internal server error: {problem}\n")
                if problem
                else _text(200, "ok")
            )
        excluded = request.query.getall("exclude", [])
        return _all(endpoint, checks, excluded, verbose="verbose" in request.query)


def _all(
    endpoint: str, checks: Mapping[str, Check], excluded: list[str], *, verbose: bool
) -> web.Response:
    lines, failed = [], False
    for name, check in checks.items():
        if name in excluded:
            lines.append(f"[+]{name} excluded: ok\n")
        elif problem := check():
            failed = True
            lines.append(f"[-]{name} failed: {problem}\n")
        else:
            lines.append(f"[+]{name} ok\n")
    if failed:
        return _text(500, f"{''.join(lines)}{endpoint} check failed\n")
    return _text(200, f"{''.join(lines)}{endpoint} check passed\n" if verbose else "ok")


def _text(status: int, text: str) -> web.Response:
    headers = {"X-Content-Type-Options": "nosniff"}
    return web.Response(status=status, text=text, headers=headers)
