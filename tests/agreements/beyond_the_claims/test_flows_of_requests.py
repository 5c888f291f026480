"""In which lane a request waits: the administrator in none."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import MASTERS
from lifecycle.api.tracing import Span, listening
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.cluster.target import HandlerTarget


@pytest.mark.parametrize(
    ("user", "lane"),
    [
        (("admin", (MASTERS,)), {"level": "exempt", "flow": "exempt/"}),
        (("jane", ("system:authenticated",)), {"level": "global-default", "flow": "global-default/jane"}),
    ],
)
def test_a_request_waits_in_the_lane_of_who_sends_it(user: tuple[str, tuple[str, ...]], lane: dict[str, str]) -> None:
    spans: list[Span] = []

    async def scene(cluster: RehearsedCluster) -> None:
        with listening(spans.append):
            await HandlerTarget(cluster.server, user).request("GET", "/api/v1/namespaces/default/pods", {}, b"")

    rehearse(scene, without=("kubelet", "scheduler", "controllers"))
    assert [span.attributes for span in spans if span.name == "flow control"] == [lane]
