"""What an API server makes of an added server that answers, but not well: the first
thing that it says of it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from generators.programs.aggregated import API_SERVICES, service, slices
from generators.programs.answer import Answer
from generators.programs.connection import Connection
from generators.programs.control_plane import ControlPlane
from generators.programs.forwarded import outward_address
from generators.programs.https_server import https_server
from lifecycle.agreements.apiserver.aggregated_servers import condition
from lifecycle.agreements.apiserver.answering import without_address

WHO = "kube-apiserver v1.36.2"
Object = dict[str, Any]
CASES: tuple[tuple[str, tuple[int, ...], int], ...] = (
    *((f"always {code}", (), code) for code in (200, 201, 204, 299)),
    *((f"always {code}", (), code) for code in (300, 304, 400, 401, 403, 404, 429)),
    *((f"always {code}", (), code) for code in (500, 503)),
    *((f"the first {n} are refused", (503,) * n, 200) for n in (1, 3, 4, 5, 6)),
    ("the first one is well", (200,), 503),
)
"""What is asked, the codes of the first answers, and of all others."""


@contextmanager
def scripted(plane: ControlPlane, codes: dict[str, list[int]]) -> Iterator[int]:
    """A server that answers whoever asks whether it is there by a script for each
    group; it is well towards everybody else. Its port.
    """
    heard: defaultdict[str, int] = defaultdict(int)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            group = self.path.split("/")[2] if self.path.count("/") > 1 else ""
            code = 200
            if "Accept" not in self.headers and group in codes:
                script = codes[group]
                code = script[min(heard[group], len(script) - 1)]
                heard[group] += 1
            body = b"" if code in (204, 304) else b"{}"
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with https_server(plane, Handler, "") as port:
        yield port


def answers(plane: ControlPlane) -> Iterator[Answer]:
    """All of it, of an API server with a part of etcd for itself."""
    flags = ("--etcd-prefix=/answering", "--enable-aggregator-routing=true")
    admin = plane.api_server("answering", *flags).admin
    groups = [f"g{number}.example" for number in range(len(CASES))]
    codes = {
        group: [*first, then]
        for group, (_, first, then) in zip(groups, CASES, strict=True)
    }
    with scripted(plane, codes) as port:
        address = {"addresses": [outward_address()]}
        path, one = slices("answering", address)
        one["ports"][0]["port"] = port
        admin("POST", *service("answering"))
        admin("POST", path, one)
        for group, (what, first, then) in zip(groups, CASES, strict=True):
            seen = _first_word(admin, group)
            yield Answer(
                f"answering/{what}",
                WHO,
                "an added server answers by a script when it is asked whether it is"
                " there: what its APIService's condition says first",
                {"first": list(first), "then": then, "group": group, "said": seen},
            )
        for group in groups:
            admin("DELETE", f"{API_SERVICES}/v1.{group}")


def _first_word(admin: Connection, group: str) -> Object:
    name = f"v1.{group}"
    watching = admin.open()
    selected = (
        f"fieldSelector=metadata.name%3D{name}&timeoutSeconds=25&resourceVersion=0"
    )
    watching.request("GET", f"{API_SERVICES}?watch=1&{selected}")
    stream = watching.getresponse()
    try:
        made = {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": name},
            "spec": {
                "group": group,
                "version": "v1",
                "groupPriorityMinimum": 1000,
                "versionPriority": 10,
                "insecureSkipTLSVerify": True,
                "service": {"name": "answering", "namespace": "default"},
            },
        }
        reply = admin("POST", API_SERVICES, made)
        if reply.status != 201:
            raise ValueError(reply.message)
        while line := stream.readline():
            event = json.loads(line)
            if event["type"] not in ("ADDED", "MODIFIED"):
                raise ValueError(f"{event}")
            said = condition((200, event["object"]))
            if said:
                return without_address(said)
        raise TimeoutError(f"nothing was said of {group}")
    finally:
        watching.close()
