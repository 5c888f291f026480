"""A cluster that is asked without a socket gets the same question as over one, and gives the same answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from cryptography import x509

from lifecycle.api.http.wire import Request, Response, WatchFrame
from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.cluster.target import HandlerTarget


class Server:
    """In the place of a `GenericAPIServer`: `answer` is what its handlers say."""

    def __init__(self, answer: Response, *warnings: str) -> None:
        self.certificates, self.answer, self.warnings = CertificateAuthority(), answer, warnings
        self.asked: list[Request] = []

    async def handler(self, request: Request) -> Response:
        self.asked.append(request)
        request.warnings.extend(self.warnings)
        return self.answer


async def frames(*kinds: str) -> AsyncIterator[WatchFrame]:
    for kind in kinds:
        yield WatchFrame(kind, {"kind": "Pod"})


def asked(server: Server, path: str = "/api", **more: Any) -> tuple[int, dict[str, str], bytes]:
    target = HandlerTarget(server, **more)  # type: ignore[arg-type]
    return run_virtual(target.request("POST", path, {"Accept": "application/json", "X-Y": "z"}, b"body"))


def test_a_question_is_read_as_from_a_wire() -> None:
    server = Server(Response(obj={}))
    asked(server, "/api/v1/a%20b/?limit=5&a=1&a=2&empty=")
    (request,) = server.asked
    assert (request.method, request.path, request.body) == ("POST", "/api/v1/a b/", b"body")
    assert request.query == {"limit": ["5"], "a": ["1", "2"], "empty": [""]}
    assert request.headers == {"accept": "application/json", "x-y": "z"}
    assert request.target == "/api/v1/a%20b/?limit=5&a=1&a=2&empty="


@pytest.mark.parametrize(
    ("more", "name", "groups"),
    [
        ({}, "kubernetes-admin", ["kubeadm:cluster-admins"]),
        ({"user": ("jane", ("a", "b"))}, "jane", ["a", "b"]),
    ],
)
def test_it_shows_a_certificate_of_whoever_asks(more: Any, name: str, groups: list[str]) -> None:
    server = Server(Response(obj={}))
    asked(server, **more)
    shown = x509.load_der_x509_certificate(server.asked[0].peer_certificate or b"")
    named = {str(part.oid.dotted_string): [] for part in shown.subject}  # type: dict[str, list[str]]
    for part in shown.subject:
        named[part.oid.dotted_string].append(str(part.value))
    assert (named["2.5.4.3"], sorted(named["2.5.4.10"])) == ([name], groups)


def test_an_answer_is_encoded_and_keeps_its_headers() -> None:
    status, headers, body = asked(Server(Response(201, {"Audit-Id": "1"}, obj={"kind": "Pod"})))
    assert (status, headers["Audit-Id"], headers["Content-Type"]) == (201, "1", "application/json")
    assert body.strip() == b'{"kind":"Pod"}'
    assert "Warning" not in headers


def test_an_answer_without_a_body_has_an_empty_one() -> None:
    assert asked(Server(Response(204)))[2] == b""


def test_warnings_are_one_header() -> None:
    _, headers, _ = asked(Server(Response(obj={}), "old", "older"))
    assert headers["Warning"] == '299 - "old", 299 - "older"'


def test_a_watch_is_read_to_its_end_frame_by_frame() -> None:
    status, headers, body = asked(Server(Response(200, {"X": "y"}, stream=frames("ADDED", "DELETED"))))
    assert (status, headers) == (200, {"X": "y"})
    assert [line for line in body.splitlines() if line] == [
        b'{"type":"ADDED","object":{"kind":"Pod"}}',
        b'{"type":"DELETED","object":{"kind":"Pod"}}',
    ]


def test_frames_are_encoded_as_the_answer_wants() -> None:
    answer = Response(stream=frames("a", "b"), encode_frame=lambda frame: f"<{frame.type}>".encode())
    assert asked(Server(answer))[2] == b"<a><b>"


@pytest.mark.parametrize(
    ("path", "query"),
    [("/api/v1/pods", {"watch": ["true"]}), ("/api/v1/pods?limit=5", {"limit": ["5"], "watch": ["true"]})],
)
def test_the_events_of_a_collection_are_objects(path: str, query: dict[str, list[str]]) -> None:
    server = Server(Response(stream=frames("ADDED", "MODIFIED")))

    async def main() -> list[dict[str, Any]]:
        target = HandlerTarget(server)  # type: ignore[arg-type]
        return [event async for event in target.watch(path)]

    pod = {"kind": "Pod"}
    assert run_virtual(main()) == [{"type": "ADDED", "object": pod}, {"type": "MODIFIED", "object": pod}]
    (request,) = server.asked
    assert (request.method, request.path, request.query) == ("GET", "/api/v1/pods", query)
    assert request.headers == {"accept": "application/json"}
