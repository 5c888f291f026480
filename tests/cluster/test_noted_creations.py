"""The controllers' creations of pods are noted as an audit log would, and are a moment on their way."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from lifecycle.api.http.wire import Request, Response, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.noted_creations import NotingCluster, _Noting


class Answering:
    def __init__(self) -> None:
        self.asked: list[tuple[float, str]] = []
        self.closed = 0

    async def round_trip(self, request: Request) -> Response:
        self.asked.append((asyncio.get_running_loop().time(), request.path))
        await asyncio.sleep(1)
        return Response(status=201, obj={"of": request.path})

    async def close(self) -> None:
        self.closed += 1


def noted(*requests: Request) -> tuple[list[dict[str, Any]], Answering, float]:
    """All sent at the same time; when the last was answered, since the first was sent."""

    async def main() -> tuple[list[dict[str, Any]], Answering, float]:
        created: list[dict[str, Any]] = []
        noting = _Noting(inner := Answering(), "system:serviceaccount:kube-system:replicaset-controller", created)
        begun = asyncio.get_running_loop().time()
        answers = await asyncio.gather(*map(noting.round_trip, requests))
        assert [answer.obj for answer in answers] == [{"of": request.path} for request in requests]
        took = asyncio.get_running_loop().time() - begun
        inner.asked = [(round(at - begun, 6), path) for at, path in inner.asked]
        await noting.close()
        return created, inner, took

    return run_virtual(main())


def test_a_creation_is_noted_when_it_leaves_and_when_it_is_back() -> None:
    paths = ["/api/v1/namespaces/a/pods", "/api/v1/namespaces/b/pods"]
    created, inner, took = noted(*(Request("POST", path) for path in paths))
    common = {
        "verb": "create",
        "user": {"username": "system:serviceaccount:kube-system:replicaset-controller"},
        "objectRef": {"resource": "pods"},
        "stageTimestamp": "",
    }
    assert created == [
        {**common, "auditID": "0", "stage": "RequestReceived"},
        {**common, "auditID": "1", "stage": "RequestReceived"},
        {**common, "auditID": "0", "stage": "ResponseComplete", "requestObject": {"of": paths[0]}},
        {**common, "auditID": "1", "stage": "ResponseComplete", "requestObject": {"of": paths[1]}},
    ]
    assert inner.asked == [(0.001, path) for path in paths]
    assert round(took, 6) == 1.001
    assert inner.closed == 1


def test_nothing_else_is_noted_or_held_up() -> None:
    created, inner, _ = noted(
        Request("GET", "/api/v1/namespaces/a/pods"),
        Request("POST", "/api/v1/namespaces/a/pods/p/binding"),
        Request("POST", "/api/v1/namespaces/a/services"),
    )
    assert created == []
    assert {at for at, _ in inner.asked} == {0}


def test_components_are_noted_by_their_names_and_the_administrator_is_not() -> None:
    async def main() -> None:
        cluster, inner = NotingCluster(ClusterConfig(https=False)), Answering()
        cluster.server = SimpleNamespace(in_process_transport=lambda user: inner)  # type: ignore[assignment]
        assert cluster.client("test").transport is inner
        client = cluster.client("replicaset-controller", UserInfo("system:controller"))
        await client.transport.round_trip(Request("POST", "/api/v1/namespaces/a/pods"))
        assert [line["user"] for line in cluster.created] == [{"username": "system:controller"}] * 2

    run_virtual(main())
