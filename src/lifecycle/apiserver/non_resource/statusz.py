"""`/statusz`: how long the server has been up, what it is, and where else to look.

Upstream: `apiserver/pkg/server/statusz/{statusz,textserializer}.go`, v1.36.
"""

from __future__ import annotations

import time
from typing import Any

from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.loop.clock import Clock, format_time
from lifecycle.api.names import NameSource
from lifecycle.api.published import published
from lifecycle.apiserver.non_resource.zpages import (
    COMPONENT,
    HEAD,
    delimiter,
    serve_page,
)

PATH = "/statusz"
KIND = "Statusz"
ELSEWHERE = frozenset({"/apis", "/api", "/openid", "/openapi", "/.well-known"})


class Statusz:
    """The endpoint of a server that was started when this was made."""

    def __init__(self, clock: Clock, names: NameSource) -> None:
        self._clock, self._names = clock, names
        self._started = clock.now()

    def serve(self, request: Request) -> Response:
        """Text, or the object in the form asked for. Raises StatusError 406."""
        return serve_page(request, KIND, self._plain_text, self._body)

    def _body(self) -> Object:
        build: dict[str, Any] = published("discovery/version.json")
        return {
            "startTime": format_time(self._started),
            "uptimeSeconds": self._uptime(),
            "goVersion": build["goVersion"],
            "binaryVersion": build["gitVersion"].removeprefix("v"),
            "emulationVersion": f"{build['major']}.{build['minor']}",
            "paths": _paths(),
        }

    def _uptime(self) -> int:
        return max(0, int(self._clock.now() - self._started))

    def _plain_text(self) -> str:
        sign, about, seconds = delimiter(self._names), self._body(), self._uptime()
        lines = {
            "Started": time.strftime(
                "%a %b %e %H:%M:%S UTC %Y", time.gmtime(self._started)
            ),
            "Up": (
                f"{seconds // 3600} hr {seconds // 60 % 60:02d} min"
                f" {seconds % 60:02d} sec"
            ),
            "Go version": about["goVersion"],
            "Binary version": about["binaryVersion"],
            "Emulation version": about["emulationVersion"],
            "Paths": " ".join(about["paths"]),
        }
        body = "\n".join(f"{name}{sign} {value}" for name, value in lines.items())
        return f"\n{COMPONENT} statusz\n{HEAD}\n\n{body}\n"


def _paths() -> list[str]:
    """The first parts of all paths that help with debugging. Upstream:
    `aggregatePaths`.
    """
    listed: list[str] = published("discovery/root.json")["paths"]
    first = {"/" + path.split("/")[1] for path in listed if path.strip("/")}
    return sorted(first - ELSEWHERE)
