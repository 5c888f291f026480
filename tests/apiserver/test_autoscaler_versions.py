"""`autoscaling/v1`: the older face of an autoscaler. Whatever v1 has no field for goes through annotations and comes back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import find_resource, resource
from lifecycle.api.schema import decode
from lifecycle.api.status import StatusError
from lifecycle.apiserver.apis.autoscaler_versions import to_v1, to_v2
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.loopback import LOOPBACK_USER
from lifecycle.client.rest import Client
from lifecycle.etcd.memory import MemoryStore
from tests.apiserver.registry.by_kind import set_defaults
from tests.furnished import restored

V2 = resource("horizontalpodautoscalers.autoscaling")
V1 = find_resource("autoscaling", "v1", "horizontalpodautoscalers")
assert V1 is not None

PREFIX = "autoscaling.alpha.kubernetes.io/"
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}


def autoscaler(version: str, annotations: dict[str, str] | None = None, **spec: Any) -> Object:
    metadata: Object = {"name": "web", **({"annotations": annotations} if annotations else {})}
    given = {"scaleTargetRef": TARGET, "maxReplicas": 5, **spec}
    return {"apiVersion": f"autoscaling/{version}", "kind": V2.kind, "metadata": metadata, "spec": given}


def settled(version: str, **spec: Any) -> Object:
    obj, _ = decode(autoscaler(version, **spec), f"autoscaling/{version}", V2.kind)
    set_defaults(obj)
    return obj


def on_server(ask: Callable[[Client], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        server = create_server_chain(MemoryStore())
        await server.start(restored)
        try:
            return await ask(Client(server.in_process_transport(LOOPBACK_USER), "test"))
        finally:
            await server.stop()

    return run_virtual(main())


def test_what_is_written_by_one_version_is_read_by_the_other() -> None:
    async def ask(client: Client) -> list[Object]:
        await client.create(V1, autoscaler("v1", targetCPUUtilizationPercentage=70), "default")
        await client.patch(V1, "web", "default", {"spec": {"minReplicas": 2}})
        return [
            await client.get(V2, "web", "default"),
            await client.get(V1, "web", "default"),
            (await client.list(V1, "default"))["items"][0],
        ]

    new, old, listed = on_server(ask)
    target = {"type": "Utilization", "averageUtilization": 70}
    assert new["spec"]["metrics"] == [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    assert new["spec"]["minReplicas"] == old["spec"]["minReplicas"] == 2
    assert old["spec"]["targetCPUUtilizationPercentage"] == 70
    assert old["spec"] == listed["spec"]
    assert old["apiVersion"] == "autoscaling/v1"


def test_validation_is_that_of_the_newer_version() -> None:
    async def ask(client: Client) -> str:
        with pytest.raises(StatusError) as refused:
            await client.create(V1, autoscaler("v1", targetCPUUtilizationPercentage=0), "default")
        return refused.value.message

    where = "spec.metrics[0].resource.target.averageUtilization"
    assert on_server(ask) == (
        f'HorizontalPodAutoscaler.autoscaling "web" is invalid: {where}: Invalid value: 0: must be greater than 0'
    )


def test_without_metrics_the_old_version_says_eighty_percent() -> None:
    assert to_v1(to_v2(settled("v1")))["spec"]["targetCPUUtilizationPercentage"] == 80


METRICS = [
    {"type": "Resource", "resource": {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 60}}},
    {"type": "Pods", "pods": {"metric": {"name": "qps"}, "target": {"type": "AverageValue", "averageValue": "10"}}},
    {
        "type": "Object",
        "object": {
            "describedObject": {"kind": "Service", "name": "s"},
            "target": {"type": "Value", "value": "7"},
            "metric": {"name": "hits", "selector": {"matchLabels": {"a": "b"}}},
        },
    },
    {"type": "External", "external": {"metric": {"name": "queue"}, "target": {"type": "AverageValue", "averageValue": "3"}}},
    {
        "type": "ContainerResource",
        "containerResource": {
            "name": "cpu",
            "target": {"type": "Utilization", "averageUtilization": 50},
            "container": "app",
        },
    },
]  # fmt: skip


def test_nothing_is_lost_on_the_way_through_the_old_version() -> None:
    behavior = {
        "scaleDown": {"stabilizationWindowSeconds": 60, "policies": [{"type": "Pods", "value": 1, "periodSeconds": 9}]}
    }
    new = settled("v2", metrics=METRICS, behavior=behavior)
    new["status"] = {
        "desiredReplicas": 1,
        "currentMetrics": [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 3, "averageValue": "1m"}}}],
        "conditions": [{"type": "AbleToScale", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "R"}],
    }  # fmt: skip
    old = to_v1(new)
    assert old["status"]["currentCPUUtilizationPercentage"] == 3
    assert set(old["metadata"]["annotations"]) == {
        PREFIX + name for name in ("metrics", "current-metrics", "behavior", "conditions")
    }
    back = to_v2(old)
    assert back["spec"]["metrics"] == new["spec"]["metrics"]
    assert back["spec"]["behavior"] == new["spec"]["behavior"]
    assert back["status"]["conditions"] == new["status"]["conditions"]
    assert back["status"]["currentMetrics"] == new["status"]["currentMetrics"]
    assert "annotations" not in back["metadata"]


def test_annotations_have_the_words_of_their_types() -> None:
    new = settled("v2", metrics=METRICS[:2], behavior={"scaleDown": {"selectPolicy": "Disabled"}})
    kept = to_v1(new)["metadata"]["annotations"]
    assert fast_json.loads(kept[PREFIX + "metrics"]) == [
        {"type": "Resource", "resource": {"name": "memory", "targetAverageUtilization": 60}},
        {"type": "Pods", "pods": {"metricName": "qps", "targetAverageValue": "10"}},
    ]
    assert kept[PREFIX + "behavior"].startswith('{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max",')


@pytest.mark.parametrize("text", ["garbage", "5", '[{"type": 5}]'])
def test_annotations_that_cannot_be_read_are_dropped(text: str) -> None:
    obj, _ = decode(autoscaler("v1", {PREFIX + "metrics": text, "mine": "x"}), "autoscaling/v1", V2.kind)
    shown = to_v1(to_v2(obj))
    assert shown["metadata"]["annotations"] == {"mine": "x"}
    assert shown["spec"]["targetCPUUtilizationPercentage"] == 80
