"""How often a kubectl asks a server that puts it off: one that says 429, 5xx, or hangs
up.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from generators.programs.answer import Answer
from generators.programs.kubectl import version_of

HANGS_UP, RESETS, NONSENSE = 0, -1, -2
METHODS = {"create token": "POST"}
CASES: tuple[tuple[str, list[tuple[int, str]]], ...] = (
    ("429 twice, a second each", [(429, "1"), (429, "1"), (200, "")]),
    ("429, two seconds", [(429, "2"), (200, "")]),
    ("429, no time named", [(429, ""), (200, "")]),
    ("429 for ever, no second each", [(429, "0")] * 20),
    ("503, a second", [(503, "1"), (200, "")]),
    ("500, a second", [(500, "1"), (200, "")]),
    ("500, no time named", [(500, ""), (200, "")]),
    ("404, a second", [(404, "1"), (200, "")]),
    ("429, a date", [(429, "Wed, 21 Oct 2026 07:28:00 GMT"), (200, "")]),
    ("hangs up once", [(HANGS_UP, ""), (200, "")]),
    ("hangs up for ever", [(HANGS_UP, "")] * 20),
    ("resets the connection once", [(RESETS, ""), (200, "")]),
    ("talks nonsense once", [(NONSENSE, ""), (200, "")]),
    *(
        (f"{what}, {verb}", script)
        for verb in METHODS
        for what, script in (
            ("hangs up once", [(HANGS_UP, ""), (200, "")]),
            ("429, a second", [(429, "1"), (200, "")]),
            ("503, a second", [(503, "1"), (200, "")]),
        )
    ),
)
"""What is asked, and what the server does, one answer after the other: code and
Retry-After.
"""
VERSION = {
    "kind": "TokenRequest",
    "apiVersion": "authentication.k8s.io/v1",
    "status": {"token": "t"},
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.2",
}
"""An answer to both.
"""


class _Server(ThreadingHTTPServer):
    def __init__(self, script: list[tuple[int, str]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = list(script)
        self.times: list[float] = []


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def _answer(self) -> None:
        self.server.times.append(time.monotonic())
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        code, after = self.server.script.pop(0)
        if code <= 0:
            self.close_connection = True
            if code == RESETS:
                gone = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, gone)
                self.connection.close()
            elif code == NONSENSE:
                self.wfile.write(b"good morning\r\n\r\n")
            return
        body = json.dumps(VERSION).encode()
        self.send_response(code)
        if after:
            self.send_header("Retry-After", after)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._answer
        raise AttributeError(name)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def _line(name: str) -> list[str]:
    """What is typed: a write that needs no discovery, if the case is named after it."""
    verb = name.rpartition(", ")[2]
    return [*verb.split(), "default"] if verb in METHODS else ["version"]


def answers(kubectl: Path) -> Iterator[Answer]:
    """All of it."""
    who = version_of(kubectl)
    for name, script in CASES:
        server = _Server(script)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run(
                [
                    kubectl,
                    f"--server=http://127.0.0.1:{server.server_port}",
                    *_line(name),
                ],
                capture_output=True,
                text=True,
                check=False,
                env={"HOME": home, "PATH": os.environ["PATH"]},
            )
        server.shutdown()
        server.server_close()
        pauses = [b - a for a, b in zip(server.times, server.times[1:], strict=False)]
        yield Answer(
            f"retries/{name}",
            who,
            "kubectl version of a server that answers so, or a write: how many requests"
            " came, how many whole seconds apart, and whether the line succeeded",
            {
                "method": METHODS.get(name.rpartition(", ")[2], "GET"),
                "script": script,
                "requests": len(server.times),
                "pauses": [int(pause + 0.2) for pause in pauses],
                "succeeded": done.returncode == 0,
            },
        )
