"""Requests on the wire held against recorded traces: the journey's commands typed
again, each request beside the one that was recorded.

Recorded is what kubectl printed with `-v=8` and `-v=9` while it created, exposed,
scaled, changed, undid and deleted a Deployment. Ours gets the same lines in the same
order on a cluster of its own. Compared are method, path, query, the `Accept` and
`Content-Type` headers, and the body, field by field (protobuf is decoded first). The
recorded kubectl had discovery on disk already, so ours is not compared there.
"""

from __future__ import annotations

import asyncio
from typing import Any

from lifecycle.agreements.kubectl.traced_requests import Traced, traced_requests
from lifecycle.api import fast_json, protobuf
from lifecycle.api.http.wire import Request
from lifecycle.cluster.command_line import Typed, type_line
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.compare import AgreementTable, compare
from lifecycle.inspector import Recording
from lifecycle.inspector.transcript import Transcript, parse_transcript

NAMESPACE = "journey"
SETTLED = 30.0
"""Virtual seconds between two lines."""


def journey(recording: Recording) -> dict[str, Transcript]:
    """The commands of the journey by their file's name, in order."""
    files = sorted((recording.path / "kubectl").glob("*.txt"))
    return {file.stem: parse_transcript(file.read_text()) for file in files}


def typed_again(lines: dict[str, Transcript]) -> dict[str, Typed]:
    """The same lines (without `-v`) on a cluster of our own."""

    async def scene(cluster: RehearsedCluster) -> dict[str, Typed]:
        transport = cluster.client("kubectl").transport
        await type_line(f"create namespace {NAMESPACE}", transport)
        typed = {}
        for name, transcript in lines.items():
            argv = [word for word in transcript.argv if not word.startswith("-v=")]
            argv.append(f"--namespace={NAMESPACE}")  # which the recorder did not print
            typed[name] = await type_line(argv, transport)
            await asyncio.sleep(SETTLED)
        return typed

    return rehearse(scene, nodes=1)


def sent(request: Request) -> dict[str, Any]:
    """A request of ours, as it is compared."""
    body = request.body or (
        fast_json.dumps(request.obj) if request.obj is not None else b""
    )
    return _as_compared(
        Traced(
            request.method,
            request.path,
            {name: values[0] for name, values in request.query.items()},
            {name.lower(): value for name, value in request.headers.items()},
            body,
        )
    )


def _as_compared(traced: Traced) -> dict[str, Any]:
    headers = {
        name: traced.headers[name]
        for name in ("accept", "content-type")
        if traced.headers.get(name)
    }
    return {
        "method": traced.method,
        "path": traced.path,
        "query": traced.query,
        "headers": headers,
        "body": _decoded(traced.body),
    }


def _decoded(body: bytes) -> Any:
    if protobuf.is_protobuf(body):
        return protobuf.decode(body)
    try:
        return fast_json.loads(body) if body else None
    except fast_json.JSONDecodeError:
        return body.decode(errors="replace")


def request_agreement(
    recording: Recording, ours: dict[str, Typed] | None = None
) -> AgreementTable:
    """A row per recorded request. `ours`: judge these answers instead of our
    kubectl's.
    """
    table = AgreementTable(
        "The requests of the journey",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            f"{len(lines)} kubectl commands, traced while they were typed: what went"
            " over the wire, path, query, headers and body, and what ours sends for"
            f" the same commands; {table.outcome('requests')}."
        ),
    )
    lines = {
        name: transcript
        for name, transcript in journey(recording).items()
        if traced_requests(transcript.err)
    }
    typed = ours or typed_again(
        {name: t for name, t in journey(recording).items() if name in lines}
    )
    for name, transcript in lines.items():
        theirs = [_as_compared(traced) for traced in traced_requests(transcript.err)]
        mine = [
            sent(request)
            for request, _ in typed[name].requests
            if request.path not in ("/api", "/apis")
        ]
        for i in range(max(len(theirs), len(mine))):
            left, right = (side[i] if i < len(side) else {} for side in (mine, theirs))
            table.add(
                name.partition("-")[2],
                say(right or left),
                say(left),
                say(right),
                compare(left, right),
            )
    return table


def say(request: dict[str, Any]) -> str:
    """A request in a few words."""
    if not request:
        return "nothing"
    path = (
        request["path"]
        .removeprefix("/apis/apps/v1")
        .removeprefix("/api/v1")
        .replace(f"/namespaces/{NAMESPACE}", "…")
    )
    return f"{request['method']} {path}"
