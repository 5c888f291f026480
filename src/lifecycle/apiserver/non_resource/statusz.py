"""`/statusz`: how long the server has been up, what it is, and where else to look.

For people it is plain text, on purpose not meant to be parsed: each time with another sign between names and values. A program asks for the
object by name – `application/json;as=Statusz;v=v1beta1;g=config.k8s.io` – and for nothing else in JSON.

Upstream: `apiserver/pkg/server/statusz/{statusz,textserializer}.go`, v1.36. Left out: CBOR, and `/flagz`, since the options here are no
flags.
"""

from __future__ import annotations

import time
from typing import Any

from lifecycle.api.clock import Clock, format_time
from lifecycle.api.names import NameSource
from lifecycle.api.published import published
from lifecycle.api.status import failure
from lifecycle.api.wire import Object, Request, Response
from lifecycle.apiserver.endpoints.negotiation import JSON, YAML, encode
from lifecycle.apiserver.non_resource.document import text

PATH = "/statusz"
COMPONENT = "apiserver"
GROUP, KIND = "config.k8s.io", "Statusz"
VERSIONS = ("v1alpha1", "v1beta1")
DELIMITERS = (":", ": ", "=", " ")
DEPRECATED = "This version of the statusz endpoint is deprecated. Please use a newer version."
ELSEWHERE = frozenset({"/apis", "/api", "/openid", "/openapi", "/.well-known"})
HEAD = (
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees "
    "and is for debugging purposes only."
)


class Statusz:
    """The endpoint of a server that was started when this was made."""

    def __init__(self, clock: Clock, names: NameSource) -> None:
        self._clock, self._names = clock, names
        self._started = clock.now()

    def serve(self, request: Request) -> Response:
        """Text, or the object in the form asked for. Raises StatusError 406."""
        header = request.headers.get("accept", "").strip() or "*/*"
        for clause in header.split(","):
            media_type, *parameters = (part.strip() for part in clause.split(";"))
            asked = dict(part.split("=", 1) for part in parameters if "=" in part)
            wanted = (asked.get("g"), asked.get("as"))
            if media_type in ("text/plain", "text/*", "*/*") and "as" not in asked:
                return text(self._text())
            if media_type in (JSON, YAML) and wanted == (GROUP, KIND) and asked.get("v") in VERSIONS:
                if asked["v"] == "v1alpha1":
                    request.warnings.append(DEPRECATED)
                content_type, body = encode(self._object(asked["v"]), media_type)
                return Response(headers={"Content-Type": content_type}, body=body)
        accepted = ", ".join((JSON, YAML, "text/plain"))
        raise failure(406, "NotAcceptable", f"only the following media types are accepted: {accepted}")

    def _object(self, version: str) -> Object:
        build: dict[str, Any] = published("discovery/version.json")
        return {
            "kind": KIND,
            "apiVersion": f"{GROUP}/{version}",
            "metadata": {"name": COMPONENT},
            "startTime": format_time(self._started),
            "uptimeSeconds": self._uptime(),
            "goVersion": build["goVersion"],
            "binaryVersion": build["gitVersion"].removeprefix("v"),
            "emulationVersion": f"{build['major']}.{build['minor']}",
            "paths": _paths(),
        }

    def _uptime(self) -> int:
        return max(0, int(self._clock.now() - self._started))

    def _text(self) -> str:
        delimiter = DELIMITERS[int(self._names.uid()[0], 16) % len(DELIMITERS)]
        about, seconds = self._object("v1beta1"), self._uptime()
        lines = {
            "Started": time.strftime("%a %b %e %H:%M:%S UTC %Y", time.gmtime(self._started)),
            "Up": f"{seconds // 3600} hr {seconds // 60 % 60:02d} min {seconds % 60:02d} sec",
            "Go version": about["goVersion"],
            "Binary version": about["binaryVersion"],
            "Emulation version": about["emulationVersion"],
            "Paths": " ".join(about["paths"]),
        }
        body = "\n".join(f"{name}{delimiter} {value}" for name, value in lines.items())
        return f"\n{COMPONENT} statusz\n{HEAD}\n\n{body}\n"


def _paths() -> list[str]:
    """The first parts of all paths that help with debugging. Upstream: `aggregatePaths`."""
    listed: list[str] = published("discovery/root.json")["paths"]
    first = {"/" + path.split("/")[1] for path in listed if path.strip("/")}
    return sorted(first - ELSEWHERE)
