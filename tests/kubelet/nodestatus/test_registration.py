"""How a node comes to be known: tried again and again until the API server answers, created, or taken over as it is."""

from __future__ import annotations

import asyncio
import itertools
import logging
from typing import Any

import pytest

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.kubelet.kubelet_node_status import Machine, NodeRegistration
from tests.kubelet.small_cluster import SmallCluster, small_cluster

FORBIDDEN = {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "not you"}


class Unreachable:
    """A way to the API server on which the first requests for a new node are lost, or refused."""

    def __init__(self, inner: Any, tries: int, refusal: dict[str, Any] | None = None) -> None:
        self.inner, self.left, self.refusal = inner, tries, refusal
        self.tried: list[float] = []

    async def round_trip(self, request: Request) -> Response:
        if (request.method, request.path) == ("POST", "/api/v1/nodes"):
            self.tried.append(asyncio.get_running_loop().time())
            self.left -= 1
            if self.left >= 0:
                if self.refusal is None:
                    raise ConnectionRefusedError("connect: connection refused")
                return Response(status=403, obj=self.refusal)
        response: Response = await self.inner.round_trip(request)
        return response

    async def close(self) -> None:
        """Nothing to close."""


def registration(cluster: SmallCluster, tries: int = 0, refusal: Any = None) -> tuple[NodeRegistration, Unreachable]:
    inner = cluster.client("kubelet", "system:node:n", ("system:nodes", "system:authenticated")).transport
    way = Unreachable(inner, tries, refusal)
    runtime = HollowRuntime(clock=cluster.clock)
    return NodeRegistration(Client(way, "kubelet"), Machine("n", "192.0.2.1"), runtime, cluster.clock), way


def test_it_waits_twice_as_long_each_time_and_never_more_than_seven_seconds() -> None:
    async def main() -> None:
        async with small_cluster(nodes=()) as cluster:
            node, way = registration(cluster, tries=9)
            await node.register()
            waits = [round(later - earlier, 3) for earlier, later in itertools.pairwise(way.tried)]
            assert waits == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 7.0, 7.0]
            assert node.registered.is_set()
            assert (await cluster.admin.get(resource("nodes"), "n"))["status"]["conditions"]
            await node.stop()

    run_virtual(main())


def test_it_waits_for_nothing_if_the_api_server_answers() -> None:
    async def main() -> None:
        async with small_cluster(nodes=()) as cluster:
            node, way = registration(cluster)
            before = cluster.clock.now()
            await node.register()
            assert (len(way.tried), cluster.clock.now()) == (1, before)
            await node.stop()

    run_virtual(main())


@pytest.mark.parametrize(
    ("refusal", "levels"), [(None, ["DEBUG"] * 3), (FORBIDDEN, ["ERROR", "DEBUG", "DEBUG"])], ids=["lost", "refused"]
)
def test_a_refusal_is_told_once_and_that_nobody_is_there_yet_only_to_who_asks(
    refusal: Any, levels: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with small_cluster(nodes=()) as cluster:
            node, _ = registration(cluster, 3, refusal)
            with caplog.at_level(logging.DEBUG, "lifecycle.kubelet.kubelet_node_status"):
                await node.register()
            await node.stop()

    run_virtual(main())
    told = [record for record in caplog.records if "register" in record.message]
    assert [record.levelname for record in told] == levels
    why = "not you" if refusal else "connect: connection refused"
    assert {record.message for record in told} == {f"Unable to register node with API server: n: {why}"}


def test_a_node_that_is_there_is_taken_over() -> None:
    async def main() -> None:
        async with small_cluster(nodes=()) as cluster:
            first, _ = registration(cluster)
            await first.register()
            await first.stop()
            labels = {"metadata": {"labels": {"kept": "yes"}}}
            await cluster.admin.patch(resource("nodes"), "n", "", labels)
            second, way = registration(cluster)
            await second.register(port=12345)
            node = await cluster.admin.get(resource("nodes"), "n")
            assert len(way.tried) == 1
            assert node["metadata"]["uid"] == first.node["metadata"]["uid"]
            assert node["metadata"]["labels"]["kept"] == "yes"
            assert node["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 12345}}
            await second.stop()

    run_virtual(main())


def test_the_status_is_worked_out_again_only_if_something_else_is_seen_or_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heartbeat of a node of which there is nothing new renews a lease, and that is all: thousands do so."""
    worked_out: list[str] = []
    status = NodeRegistration._status

    def counted(self: NodeRegistration, old: Any, seen: Any) -> Any:
        worked_out.append("status")
        return status(self, old, seen)

    monkeypatch.setattr(NodeRegistration, "_status", counted)

    async def main() -> None:
        async with small_cluster(nodes=()) as cluster:
            node, _ = registration(cluster)
            await node.register()
            await asyncio.sleep(1)

            async def beats(number: int) -> int:
                worked_out.clear()
                for _ in range(number):
                    await node.keep_fresh()
                    await asyncio.sleep(10)
                return len(worked_out)

            assert await beats(1) == 1
            assert await beats(20) == 0
            await node._runtime.pull_image("httpd:2.4")
            assert await beats(5) == 3  # seen, reported, and found to be said
            await cluster.admin.patch(
                resource("nodes"), "n", "", {"status": {"capacity": {"example.com/gpu": "1"}}}, subresource="status"
            )
            await asyncio.sleep(1)
            assert await beats(5) == 3
            known = await cluster.admin.get(resource("nodes"), "n")
            assert known["status"]["allocatable"]["example.com/gpu"] == "1"
            await asyncio.sleep(300)
            assert await beats(5) == 3  # it was time
            await node.stop()

    run_virtual(main())
