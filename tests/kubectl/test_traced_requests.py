"""What a trace hears of kubectl: one span for the command, one for discovery, one for each request with the object it was about."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.tracing import Span, listening
from tests.kubectl.fake_server import kubectl

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default", "uid": "u1"}}
MISSING = {"kind": "Status", "code": 404, "reason": "NotFound", "message": 'pods "p" not found'}


def traced(line: str, answers: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    spans: list[Span] = []
    with listening(spans.append):
        kubectl(line, answers)
    assert {span.component for span in spans} == {"kubectl"}
    return [(span.name, span.attributes) for span in sorted(spans, key=lambda span: span.start)]


@pytest.mark.parametrize(
    ("answer", "uid"),
    [(POD, "u1"), ((404, MISSING), ""), ({**POD, "metadata": None}, "")],
    ids=["there", "missing", "without metadata"],
)
def test_a_request_is_heard_of_with_the_uid_that_came_back(answer: Any, uid: str) -> None:
    path = "/api/v1/namespaces/default/pods/p"
    heard = traced("get pod p -o name", {f"GET {path}": answer})
    assert heard[0] == ("get", {"argv": "get pod p -o name"})
    assert [name for name, _ in heard[1:]] == ["discovery", "request"]
    assert heard[-1][1] == {"method": "GET", "path": path, "uid": uid}


def test_what_is_created_without_discovery_is_heard_of_too() -> None:
    path = "/apis/apps/v1/namespaces/default/deployments"
    heard = traced("create deployment d --image=i", {f"POST {path}": (201, {"metadata": {"uid": "u2"}})})
    assert [name for name, _ in heard] == ["create", "request"]
    assert heard[-1][1] == {"method": "POST", "path": path, "uid": "u2"}
