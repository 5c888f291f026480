"""kubectl lines with what they printed and what they asked for."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.clock import run_virtual
from lifecycle.cluster.command_line import Typed, Wiretap, type_line, type_lines
from tests.kubectl.fake_server import FakeServer

POD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a b", "namespace": "shop"}}


def typed(line: Any, answers: dict[str, Any], **more: Any) -> Typed:
    return run_virtual(type_line(line, FakeServer(answers), **more))


def test_a_line_is_split_as_a_shell_would_and_keeps_its_words() -> None:
    answers = {"GET /api/v1/namespaces/shop/pods/a b": POD}
    for line in ("get pod 'a b' -o name", ["get", "pod", "a b", "-o", "name"]):
        seen = typed(line, answers, namespace="shop")
        assert seen.argv == ("get", "pod", "a b", "-o", "name")
        assert (seen.code, seen.out, seen.err) == (0, "pod/a b\n", "")


def test_every_request_is_kept_with_the_status_of_its_answer() -> None:
    seen = typed("get pod none", {})
    assert [(request.method, request.path, status) for request, status in seen.requests][-1] == (
        "GET",
        "/api/v1/namespaces/default/pods/none",
        404,
    )
    assert (seen.code, seen.out) == (1, "")
    assert seen.err.startswith("Error from server (NotFound): ")


def test_it_says_that_it_is_kubectl() -> None:
    seen = typed("get pod none", {})
    assert all(request.headers["user-agent"].startswith("kubectl/v") for request, _ in seen.requests)


def test_it_is_shown_as_on_a_terminal_with_its_requests_below() -> None:
    requests = ((Request("GET", "/api"), 200), (Request("POST", "/x", query={"dryRun": ["All"], "a": ["1", "2"]}), 409))
    seen = Typed(("run", "it's"), 1, "printed\n", "error: no\n", requests)
    assert str(seen) == (
        "$ kubectl run 'it'\"'\"'s'\n"
        "printed\n"
        "error: no\n"
        "  exit 1, requests: 2\n"
        "  → 200 GET /api\n"
        "  → 409 POST /x\n"
        "        ?dryRun=All&a=1&a=2\n"
    )


def test_a_line_that_asks_nothing_shows_that_there_were_no_requests() -> None:
    assert str(typed("run nginx", {})).endswith("  exit 1, requests: 0\n")


def test_what_passes_through_is_handed_on_and_the_end_as_well() -> None:
    class Inner:
        closed = 0

        async def round_trip(self, request: Request) -> Response:
            return Response(status=418, obj={"of": request.path})

        async def close(self) -> None:
            self.closed += 1

    async def main() -> None:
        tap = Wiretap(inner := Inner())
        response = await tap.round_trip(request := Request("GET", "/tea"))
        assert (response.status, response.obj) == (418, {"of": "/tea"})
        assert tap.heard == [(request, 418)]
        await tap.close()
        assert inner.closed == 1

    run_virtual(main())


@pytest.mark.parametrize(("more", "nodes"), [({}, 3), ({"nodes": 1}, 1)])
def test_lines_are_typed_one_after_the_other_at_the_same_cluster(more: dict[str, int], nodes: int) -> None:
    made, read, counted = type_lines(
        "create configmap words --from-literal=a=1", "get cm words -o jsonpath={.data.a}", "get nodes -o name", **more
    )
    assert made.out == "configmap/words created\n"
    assert read.out == "1"
    assert counted.out.count("node/") == nodes
