"""An autoscaler's metrics: what is asked, how many replicas that makes, and what the status says of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.controllers.test_replica_calculator import FixedClock, running

from lifecycle.api.http.wire import Object, Response
from lifecycle.api.loop.clock import format_time
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.controllers.podautoscaler.metric_proposals import (
    MetricFailure,
    MetricProposal,
    MetricProposals,
    NoKindMatchError,
    ScaleTarget,
)
from lifecycle.controllers.podautoscaler.metrics_client import MetricsClient, MetricsError, PodMetric
from lifecycle.controllers.podautoscaler.replica_calculator import ReplicaCalculator, Tolerances

NOW = FixedClock().now()
THEN = format_time(NOW)


class Server:
    """Answers each path with items, or with an error."""

    def __init__(self, *items: Object, error: StatusError | None = None) -> None:
        self.items, self.error = items, error
        self.asked: list[tuple[str, str, Any]] = []

    async def request(self, method: str, path: str, *, query: Any = None) -> Response:
        self.asked.append((method, path, query))
        if self.error:
            raise self.error
        return Response(obj={"items": list(self.items)})


def proposed(server: Server, metric: Object, pods: int = 3) -> MetricProposal:
    client: Any = server

    def mapping(api_version: str, kind: str) -> Any:
        rows = {"Ingress": "ingresses.networking.k8s.io", "Service": "services", "Namespace": "namespaces"}
        if kind not in rows:
            raise NoKindMatchError(kind, api_version.rpartition("/")[0])
        return resource(rows[kind])

    calculator = ReplicaCalculator(running(pods), pods, Tolerances(0.1, 0.1), FixedClock())
    target = ScaleTarget("ns", "app=web", pods, calculator)
    return asyncio.run(MetricProposals(MetricsClient(client), mapping).propose(metric, target))


def refused(server: Server, metric: Object) -> tuple[str, str, str]:
    with pytest.raises(MetricFailure) as caught:
        proposed(server, metric)
    return caught.value.reason, caught.value.detail, str(caught.value)


def usage(number: int, *containers: tuple[str, str], window: str = "30s") -> Object:
    listed = [{"name": name, "usage": {"cpu": amount}} for name, amount in containers]
    return {"metadata": {"name": f"p{number}"}, "timestamp": THEN, "window": window, "containers": listed}


BUSY = [usage(n, ("c", "2"), ("side", "500m")) for n in range(3)]
PODS_PATH = "/apis/metrics.k8s.io/v1beta1/namespaces/ns/pods"


def test_the_usage_of_pods_against_what_they_request() -> None:
    server = Server(*BUSY)
    metric = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 100}},
    }
    found = proposed(server, metric)
    assert (found.replicas, found.name) == (8, "cpu resource utilization (percentage of request)")
    current = {"averageValue": "2500m", "averageUtilization": 250}
    assert found.status == {"type": "Resource", "resource": {"name": "cpu", "current": current}}
    assert server.asked == [("GET", PODS_PATH, {"labelSelector": "app=web"})]


def test_the_usage_of_pods_against_an_amount() -> None:
    metric = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "500m"}},
    }
    found = proposed(Server(*BUSY), metric)
    assert (found.replicas, found.name) == (15, "cpu resource")
    assert found.status["resource"]["current"] == {"averageValue": "2500m"}


def test_the_usage_of_one_container() -> None:
    target = {"type": "Utilization", "averageUtilization": 50}
    metric = {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c", "target": target}}
    found = proposed(Server(*BUSY), metric)
    assert (found.replicas, found.name) == (12, "cpu container resource utilization (percentage of request)")
    assert found.status == {
        "type": "ContainerResource",
        "containerResource": {
            "name": "cpu",
            "container": "c",
            "current": {"averageValue": "2", "averageUtilization": 200},
        },
    }
    reason, detail, text = refused(Server(usage(0, ("side", "1"))), metric)
    why = "failed to get container metrics: container c not present in metrics for pod ns/p0"
    assert reason == "FailedGetContainerResourceMetric"
    assert detail == f"failed to get cpu utilization: unable to get metrics for resource cpu: {why}"
    assert text == f"failed to get c container metric value: {detail}"


def sampled(name: str, value: str, **more: Any) -> Object:
    return {"describedObject": {"name": name}, "timestamp": THEN, "value": value, **more}


REQUESTS = {"metric": {"name": "requests", "selector": {"matchLabels": {"verb": "GET"}}}}


def test_a_metric_of_each_pod() -> None:
    server = Server(*(sampled(f"p{n}", "20") for n in range(3)))
    found = proposed(server, {"type": "Pods", "pods": {**REQUESTS, "target": {"averageValue": "10"}}})
    assert (found.replicas, found.name) == (6, "pods metric requests")
    assert found.status == {"type": "Pods", "pods": {**REQUESTS, "current": {"averageValue": "20"}}}
    path = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/ns/pods/*/requests"
    assert server.asked == [("GET", path, {"labelSelector": "app=web", "metricLabelSelector": "verb=GET"})]
    reason, detail, text = refused(Server(), {"type": "Pods", "pods": {**REQUESTS, "target": {"averageValue": "10"}}})
    assert reason == "FailedGetPodsMetric"
    assert detail == "unable to get metric requests: no metrics returned from custom metrics API"
    assert text == f"failed to get pods metric value: {detail}"


def on(kind: str, api_version: str = "", **target: Any) -> Object:
    described = {"apiVersion": api_version, "kind": kind, "name": "front"}
    return {"type": "Object", "object": {"metric": {"name": "hits"}, "describedObject": described, "target": target}}


@pytest.mark.parametrize(
    ("kind", "api_version", "place"),
    [
        ("Ingress", "networking.k8s.io/v1", "ingresses.networking.k8s.io/front"),
        ("Service", "v1", "services/front"),
        ("Namespace", "v1", "metrics"),
    ],
)
def test_a_metric_of_one_object(kind: str, api_version: str, place: str) -> None:
    server = Server(sampled("front", "30"))
    found = proposed(server, on(kind, api_version, type="Value", value="10"))
    assert (found.replicas, found.name) == (9, f"{kind} metric hits")
    described = {"apiVersion": api_version, "kind": kind, "name": "front"}
    told = {"metric": {"name": "hits"}, "current": {"value": "30"}, "describedObject": described}
    assert found.status == {"type": "Object", "object": told}
    path = f"/apis/custom.metrics.k8s.io/v1beta2/namespaces/ns/{place}/hits"
    assert server.asked == [("GET", path, {"metricLabelSelector": ""})]


def test_a_metric_of_one_object_shared_among_pods() -> None:
    found = proposed(Server(sampled("front", "50")), on("Service", "v1", type="AverageValue", averageValue="10"))
    assert (found.replicas, found.name) == (5, "external metric hits(nil)")
    told = found.status["object"]
    assert told["current"] == {"averageValue": "16667m"}
    assert told["describedObject"] == {"kind": "", "name": ""}, "as upstream leaves it"


def test_an_object_that_says_nothing_or_is_of_no_kind() -> None:
    reason, detail, text = refused(Server(), on("Service", "v1", type="Value", value="1"))
    what = "unable to get metric hits: Service on ns front/"
    assert (reason, detail) == ("FailedGetObjectMetric", f"{what}no metrics returned from custom metrics API")
    assert text == f"failed to get object metric value: {detail}"
    _, detail, text = refused(Server(), on("Bell", "example.com/v1", type="AverageValue", averageValue="1"))
    assert detail == 'unable to get metric hits: Bell on ns front/no matches for kind "Bell" in group "example.com"'
    assert text == f"failed to get object metric value: failed to get hits object metric: {detail}"


def outside(**target: Any) -> Object:
    metric = {"name": "queue", "selector": {"matchLabels": {"q": "a"}}}
    return {"type": "External", "external": {"metric": metric, "target": target}}


def test_what_lies_outside_is_added_up() -> None:
    server = Server({"value": "20"}, {"value": "10"})
    found = proposed(server, outside(type="Value", value="10"))
    assert found.replicas == 9
    assert found.status["type"] == "External"
    assert found.status["external"]["current"] == {"value": "30"}
    assert found.status["external"]["metric"]["name"] == "queue"
    path = "/apis/external.metrics.k8s.io/v1beta1/namespaces/ns/queue"
    assert server.asked == [("GET", path, {"labelSelector": "q=a"})]
    shared = proposed(server, outside(type="AverageValue", averageValue="5"))
    assert (shared.replicas, shared.status["external"]["current"]) == (6, {"averageValue": "10"})
    assert shared.name.startswith("external metric queue(")
    reason, detail, text = refused(Server(), outside(type="Value", value="10"))
    assert reason == "FailedGetExternalMetric"
    assert detail.endswith(": no metrics returned from external metrics API")
    assert text == f"failed to get queue external metric value: failed to get external metric queue: {detail}"


def test_how_an_answer_of_a_metrics_server_is_read() -> None:
    client: Any = Server(
        usage(0, ("c", "250m"), ("d", "1")),
        usage(1, ("c", "1"), window="1m0s"),
        {**usage(2, ("c", "1")), "containers": [{"name": "c", "usage": {"memory": "1Mi"}}]},
        {**usage(3), "containers": []},
    )
    metrics = asyncio.run(MetricsClient(client).resource_metric("cpu", "ns", ""))
    assert metrics == {"p0": PodMetric(1250, NOW, 30.0), "p1": PodMetric(1000, NOW, 60.0)}
    custom: Any = Server(sampled("a", "1500m", windowSeconds=10), sampled("b", "2"))
    found = asyncio.run(MetricsClient(custom).pods_metric("m", "ns", "", ""))
    assert found == {"a": PodMetric(1500, NOW, 10.0), "b": PodMetric(2000, NOW, 60.0)}


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({"kind": "Status", "code": 503, "message": "busy"}, "busy"),
        ({"code": 404, "message": "404 page not found"}, "no custom metrics API (custom.metrics.k8s.io) registered"),
    ],
)
def test_why_there_are_no_numbers(status: Object, words: str) -> None:
    client: Any = Server(error=StatusError(status))
    with pytest.raises(MetricsError) as caught:
        asyncio.run(MetricsClient(client).pods_metric("m", "ns", "", ""))
    assert str(caught.value) == f"unable to fetch metrics from custom metrics API: {words}"
