"""A server that answers from a table and remembers what it was asked; discovery is the published one."""

from __future__ import annotations

import io
import shlex
from typing import Any

from lifecycle.api.http.wire import Request, Response, WatchFrame
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.protobuf import decode, is_protobuf
from lifecycle.api.published import published, published_names
from lifecycle.client.rest import Client
from lifecycle.kubectl.command import run_kubectl


class FakeServer:
    """A transport. `answers` maps `METHOD path` to an object, a (code, object) pair or a list of watch frames (`WATCH path`)."""

    def __init__(self, answers: dict[str, Any] | None = None, *, aggregated: bool = True) -> None:
        self.answers = dict(answers or {})
        self.aggregated = aggregated
        self.discovered: list[str] = []
        self.requests: list[Request] = []

    async def round_trip(self, request: Request) -> Response:
        if request.method == "GET" and "discovery" in (document := self.discovery(request)):
            self.discovered.append(request.path)
            return Response(obj=document["discovery"])
        if is_protobuf(request.body):
            request.obj = decode(request.body)
        self.requests.append(request)
        method = "WATCH" if request.query.get("watch") else request.method
        answer = self.answers.get(f"{method} {request.path}")
        if isinstance(answer, list):
            return Response(stream=_frames(answer))
        if isinstance(answer, tuple):
            return Response(status=answer[0], obj=answer[1])
        if answer is None and request.method == "POST":
            return Response(status=201, obj=request.obj)
        if answer is None:
            resource, name = request.path.split("/")[-2:]
            message = f'{resource} "{name}" not found'
            return Response(status=404, obj={"kind": "Status", "code": 404, "reason": "NotFound", "message": message})
        return Response(obj=answer)

    def discovery(self, request: Request) -> dict[str, Any]:
        aggregated = self.aggregated and "apidiscovery.k8s.io" in request.headers.get("accept", "")
        name = f"discovery/{'aggregated' if aggregated else 'legacy'}{request.path}.json"
        return {"discovery": published(name)} if name in published_names("discovery/") else {}

    async def close(self) -> None:
        """Nothing to close."""

    def asked(self) -> list[str]:
        return [f"{request.method} {request.path}" for request in self.requests]


async def _frames(frames):
    for kind, obj in frames:
        yield WatchFrame(kind, obj)


def kubectl(
    command: str | list[str], answers: dict[str, Any] | None = None, *, server: FakeServer | None = None, **more: Any
):
    """(exit code, stdout, stderr, the server)."""
    server = server or FakeServer(answers)
    out, err = io.StringIO(), io.StringIO()
    argv = shlex.split(command) if isinstance(command, str) else command
    code = run_virtual(run_kubectl(argv, Client(server, "test"), out=out, err=err, **more))
    return code, out.getvalue(), err.getvalue(), server
