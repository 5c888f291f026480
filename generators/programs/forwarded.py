"""What an API server tells an added server about who asks."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from generators.programs.aggregated import API_SERVICES, service, slices
from generators.programs.answer import Answer
from generators.programs.control_plane import ControlPlane, until
from generators.programs.https_server import https_server
from lifecycle.agreements.apiserver.forwarded import OF_THE_CONNECTION

WHO = "kube-apiserver v1.36.2"
GROUP = "echo.example"
PATH = f"/apis/{GROUP}/v1/things"
Object = dict[str, Any]

ASKED: tuple[tuple[str, Object, Object], ...] = (
    ("a name", {"Impersonate-User": "jane"}, {}),
    (
        "a name and groups",
        {"Impersonate-User": "jane", "Impersonate-Group": "shop"},
        {},
    ),
    ("a name and a uid", {"Impersonate-User": "jane", "Impersonate-Uid": "u-1"}, {}),
    (
        "what else is known of her",
        {
            "Impersonate-User": "jane",
            "Impersonate-Extra-scopes": "read",
            "Impersonate-Extra-example.com%2fteam": "a b",
        },
        {},
    ),
    ("nobody in particular", {"Impersonate-User": "system:anonymous"}, {}),
    (
        "headers of her own",
        {"Impersonate-User": "jane"},
        {"X-Own": "1", "Accept": "application/json", "User-Agent": "me/1.0"},
    ),
    (
        "somebody else's name, forged",
        {"Impersonate-User": "jane"},
        {"X-Remote-User": "admin", "X-Remote-Uid": "u-2"},
    ),
    (
        "somebody else's groups, forged",
        {"Impersonate-User": "jane"},
        {"X-Remote-Group": "system:masters", "X-Remote-Extra-Scopes": "write"},
    ),
    (
        "a header that only begins like these",
        {"Impersonate-User": "jane"},
        {"X-Remotely": "1"},
    ),
    (
        "what belongs to one connection",
        {"Impersonate-User": "jane"},
        {"Keep-Alive": "timeout=5", "Proxy-Authorization": "Basic YTpi", "TE": "gzip"},
    ),
)
"""What is asked, as whom, and with which headers beside."""


def outward_address() -> str:
    """An address of this machine that is no loopback: a slice may have no other."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # nothing is sent
        return str(probe.getsockname()[0])


@contextmanager
def echo(plane: ControlPlane) -> Iterator[tuple[int, list[Object]]]:
    """A server that keeps the headers it is sent: its port, and what came."""
    heard: list[Object] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            heard.append({"path": self.path, "headers": self.headers.items()})
            body = json.dumps(
                {
                    "kind": "APIResourceList",
                    "apiVersion": "v1",
                    "groupVersion": f"{GROUP}/v1",
                    "resources": [],
                }
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with https_server(plane, Handler, "") as port:
        yield port, heard


def answers(plane: ControlPlane) -> Iterator[Answer]:
    """All of it, of an API server with a part of etcd for itself."""
    flags = (
        "--etcd-prefix=/forwarded",
        "--enable-aggregator-routing=true",
        "--authorization-mode=AlwaysAllow",
    )
    admin = plane.api_server("forwarded", *flags).admin
    with echo(plane) as (port, heard):
        objects = [
            service("echo"),
            slices("echo", {"addresses": [outward_address()]}, port="https"),
        ]
        objects[1][1]["ports"][0]["port"] = port
        api_service = {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": f"v1.{GROUP}"},
            "spec": {
                "group": GROUP,
                "version": "v1",
                "groupPriorityMinimum": 1000,
                "versionPriority": 10,
                "insecureSkipTLSVerify": True,
                "service": {"name": "echo", "namespace": "default"},
            },
        }
        for path, obj in (*objects, (API_SERVICES, api_service)):
            made = admin("POST", path, obj)
            if made.status != 201:
                raise ValueError(made.message)
        until("the echo", lambda: admin("GET", PATH).status == 200)
        for what, user, headers in ASKED:
            heard.clear()
            asker = admin.with_headers(**user, **headers)
            reply = asker("GET", PATH)
            if reply.status != 200:
                raise ValueError(f"{what}: {reply.status} {reply.message}")
            came = [each for each in heard if each["path"] == PATH][-1]["headers"]
            reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
            review = {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "SelfSubjectReview",
            }
            known = admin.with_headers(**user)("POST", reviews, review).body
            yield Answer(
                f"forwarded/{what}",
                WHO,
                "a request to a group of an added server: whom the API server knows the"
                " asker as, what was sent, and which headers the added server got",
                {
                    "user": known["status"]["userInfo"],
                    "sent": headers,
                    "received": sorted(
                        [name.lower(), value]
                        for name, value in came
                        if name.lower() not in OF_THE_CONNECTION
                    ),
                },
            )
