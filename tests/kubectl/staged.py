"""A server that says what a scene has it say, asked by the real kubectl over a socket once, and by ours in this process ever after.

A cluster hardly ever refuses an eviction because its namespace is going, closes a watch in the middle, or answers without a token. Here
it does. What the real kubectl 1.36 printed then, its exit code and what it asked to have changed are kept.
"""

from __future__ import annotations

import asyncio
import copy
import io
import json
import os
import re
import shlex
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from lifecycle.agreements.kubectl.printed import told
from lifecycle.api.http.wire import Request, Response, WatchFrame
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.protobuf import decode, is_protobuf
from lifecycle.client.rest import Client
from lifecycle.kubectl.command import run_kubectl
from lifecycle.kubectl.describe import moments
from lifecycle.kubectl.main import main
from tests.conftest import find_kubectl, unavailable
from tests.kubectl.fake_server import FakeServer

NOW = 1780000000.0
"""The moment at which ages are told where a scene does not keep the one at which it was asked: 2026-05-28."""
CONFIG = """apiVersion: v1
kind: Config
current-context: staged
contexts: [{name: staged, context: {cluster: staged, user: nobody}}]
clusters: [{name: staged, cluster: {server: "http://127.0.0.1:PORT"}}]
users: [{name: nobody, user: {}}]
"""


LOG = re.compile(r"(?m)^[IWE]\d{4} .*\n")
"""What the client library writes into its log, with lines of its own source."""
SCHEME = re.compile(r'(?<=in scheme ")[^"]*')
"""A place in the source, as it lay where the program was built."""
OWN_VERSION = re.compile(r"(?<=Client Version: v1\.36\.)\d+")


class Turns(list[Any]):
    """What is answered to the first, the second, … request; the last answer stays."""


class Watch(list[tuple[str, Any]]):
    """The frames of a watch, which then stays open."""


class Ended(Watch):
    """The frames of a watch that the server ends."""


@dataclass
class Scene:
    """What is asked, and what a server answers: `METHOD path` (a watch: `WATCH path`) to an object, a (code, object) pair, or
    several of them in turn."""

    answers: dict[str, Any]
    lines: list[str]
    typed: str = ""
    """What stands on the standard input."""
    half: bool = False
    """Whether a request may fail on its way: then nobody knows what was heard of it."""

    at_once: bool = False
    """Whether things happen at the same time: then no order is kept."""

    files: dict[str, str] = field(default_factory=dict)
    """What stands in `HOME`. A `config` is the kubeconfig; without one it leads to the stage."""


class Stage:
    """The answers to one line, each in its turn, and what was asked to be changed."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = copy.deepcopy(answers)
        self.changes: list[str] = []
        self.lock = threading.Lock()

    def answer(self, request: Request) -> Any:
        """(code, object), or the frames of a watch."""
        if request.method == "GET" and "discovery" in (document := FakeServer().discovery(request)):
            return 200, document["discovery"]
        obj = decode(request.body) if is_protobuf(request.body) else request.obj or request.body.decode() or None
        method = "WATCH" if request.query.get("watch") else request.method
        with self.lock:
            if request.method != "GET":
                query = "&".join(f"{key}={value}" for key in sorted(request.query) for value in request.query[key])
                self.changes.append(f"{method} {request.path}{query and '?' + query} {json.dumps(obj, sort_keys=True)}")
            answer = self._next(f"{method} {request.path}")
            if method == "WATCH" and answer is None and f"GET {request.path}" in self.answers:
                answer = Watch()
            if isinstance(answer, Watch) and request.query.get("sendInitialEvents") == ["true"]:
                answer = self._from_the_beginning(request.path, answer)
        if answer is None and method == "POST" and isinstance(obj, dict):
            return 201, obj
        if answer is None and request.path.startswith("/openapi/"):
            return 404, status(404, "NotFound", "the server could not find the requested resource")
        if answer is None and method == "WATCH":
            return Watch()
        if answer is None:
            resource, name = request.path.rpartition("/")[0].rpartition("/")[2], request.path.rpartition("/")[2]
            return 404, status(404, "NotFound", f'{resource} "{name}" not found')
        return answer if isinstance(answer, tuple | Watch) else (200, answer)

    def _next(self, request: str) -> Any:
        answer = self.answers.get(request)
        if isinstance(answer, Turns):
            return answer.pop(0) if len(answer) > 1 else answer[0]
        return answer

    def _from_the_beginning(self, path: str, frames: Watch) -> Any:
        """What there is comes first, as if it were new, and then a mark."""
        listed = self._next(f"GET {path}")
        if isinstance(listed, tuple):
            return listed
        about = {"kind": listed["kind"].removesuffix("List"), "apiVersion": listed["apiVersion"]}
        mark = {"resourceVersion": "5", "annotations": {"k8s.io/initial-events-end": "true"}}
        there = [("ADDED", {**about, **item}) for item in listed["items"]]
        return type(frames)([*there, ("BOOKMARK", {**about, "metadata": mark}), *frames])


def status(code: int, reason: str, message: str, **details: Any) -> dict[str, Any]:
    """A refusal."""
    refusal = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message}
    return {**refusal, "reason": reason, "code": code, **({"details": details} if details else {})}


class InProcess:
    """A transport to a stage."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    async def round_trip(self, request: Request) -> Response:
        answer = self.stage.answer(request)
        if isinstance(answer, Watch):
            return Response(stream=_frames(answer))
        return Response(status=answer[0], obj=answer[1])

    async def close(self) -> None:
        """Nothing to close."""


async def _frames(frames: Watch) -> AsyncIterator[WatchFrame]:
    for kind, obj in frames:
        yield WatchFrame(kind, obj)
    if not isinstance(frames, Ended):
        await asyncio.sleep(3600)


@contextmanager
def _listening(stage: Stage) -> Iterator[int]:
    """The same on a socket; its port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            parts = urlsplit(self.path)
            body = (
                self._chunks()
                if self.headers.get("transfer-encoding")
                else self.rfile.read(int(self.headers.get("content-length") or 0))
            )
            obj = json.loads(body) if body.startswith((b"{", b"[")) else None
            headers = {key.lower(): value for key, value in self.headers.items()}
            query = parse_qs(parts.query, keep_blank_values=True)
            said = stage.answer(Request(self.command, parts.path, query, headers, obj=obj, body=body))
            if isinstance(said, Watch):
                self._watch(said)
                return
            text = json.dumps(said[1], separators=(",", ":")).encode()
            kind = "application/json"
            if said[1].get("kind") == "APIGroupDiscoveryList":
                kind += ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
            self.send_response(said[0])
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def _chunks(self) -> bytes:
            whole = b""
            while size := int(self.rfile.readline() or b"0", 16):
                whole += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return whole

        def _watch(self, frames: Watch) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("connection", "close")
            self.end_headers()
            for kind, obj in frames:
                self.wfile.write(json.dumps({"type": kind, "object": obj}).encode() + b"\n")
                self.wfile.flush()
            if not isinstance(frames, Ended):
                self.rfile.read(1)  # until the other side has heard enough

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:
            """Nobody reads it."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            """Whoever has heard enough hangs up."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def _argv(line: str, home: Path) -> list[str]:
    return [word.replace("HOME", str(home)) for word in shlex.split(line)]


def _entry(scene: Scene, answer: tuple[int, str, str], stage: Stage, home: Path) -> dict[str, Any]:
    code, out, err = (
        answer[0],
        *(told((SCHEME.sub("…", OWN_VERSION.sub("x", LOG.sub("", text))),), home)[0] for text in answer[1:]),
    )
    if scene.at_once:
        out, err = ("".join(sorted(text.splitlines(keepends=True))) for text in (out, err))
    changed = [] if scene.half else sorted(stage.changes) if scene.at_once else stage.changes
    return {"said": [code, out, err], "changed": changed}


def ask_real(scene: Scene, line: str, home: Path) -> dict[str, Any]:
    """What the real kubectl says."""
    binary = find_kubectl("1.36")
    if binary is None:
        unavailable("kubectl 1.36 is not here (.ci/kubectl fetches it on Debian)")
    assert binary is not None
    stage = Stage(scene.answers)
    with _listening(stage) as port:
        if "config" not in scene.files:
            (home / "config").write_text(CONFIG.replace("PORT", str(port)))
        done = subprocess.run(
            [str(binary), *_argv(line, home)],
            env={"HOME": str(home), "KUBECONFIG": str(home / "config"), "PATH": os.environ["PATH"], "TZ": "UTC"},
            capture_output=True,
            text=True,
            timeout=30,
            input=scene.typed,
        )
    out, err = (
        text.replace(f"127.0.0.1:{port}", "SERVER").replace(binary.name, "kubectl")
        for text in (done.stdout, done.stderr)
    )
    return {**_entry(scene, (done.returncode, out, err), stage, home), "now": time.time()}


def ask_ours(scene: Scene, line: str, home: Path, now: float, patch: Callable[..., object]) -> dict[str, Any]:
    """What ours says to the same answers, at the same moment."""
    stage = Stage(scene.answers)
    out, err = io.StringIO(), io.StringIO()
    patch(moments, "Clock", lambda: _Standing(now))
    if "config" in scene.files:  # it ends before any server is asked
        environ = {"HOME": str(home), "KUBECONFIG": str(home / "config"), "PATH": os.environ["PATH"]}
        code = run_virtual(main(_argv(line, home), out=out, err=err, environ=environ))
    else:
        client = Client(InProcess(stage), "test")
        code = run_virtual(run_kubectl(_argv(line, home), client, out=out, err=err, stdin=io.StringIO(scene.typed)))
    return {**_entry(scene, (code, out.getvalue(), err.getvalue()), stage, home), "now": now}


@dataclass
class _Standing:
    at: float

    def now(self) -> float:
        return self.at


@cache
def _kept(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return document


def check(name: str, scene: Scene, line: str, kept: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours says and does what was kept of the real one; with `KEEP=anew` it is asked again."""
    for path, text in scene.files.items():
        (home / path).write_text(text.replace("HOME", str(home)))
    document = _kept(kept)
    if os.environ.get("KEEP") == "anew":
        document.setdefault(name, {})[line] = ask_real(scene, line, home)
        kept.write_text(json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    entry = document[name][line]
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert ask_ours(scene, line, home, entry["now"], monkeypatch.setattr) == entry
