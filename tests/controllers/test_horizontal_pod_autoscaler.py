"""The autoscaler at work: what it says without metrics, and what it does with them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

from tests.controllers.small_cluster import DEPLOYMENTS, EVENTS, PODS, SmallCluster, deployment, small_cluster

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.labels import parse_selector
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.rest import MERGE_PATCH

AUTOSCALERS = resource("horizontalpodautoscalers.autoscaling")
CPU = "cpu resource utilization (percentage of request)"


class MetricsServer:
    """Stands before a transport and answers what an aggregated metrics server would: the same usage for every pod."""

    def __init__(self, cluster: SmallCluster) -> None:
        self.cluster, self.inner = cluster, cluster.witness.inner
        self.usage: dict[str, str] = {}
        self.values: dict[str, str] = {}
        self.asked: list[str] = []
        cluster.witness.inner = self

    async def round_trip(self, request: Request) -> Response:
        if ".metrics.k8s.io/" not in request.path and "/metrics.k8s.io/" not in request.path:
            return await self.inner.round_trip(request)
        self.asked.append(request.path)
        now = self.cluster.clock.timestamp()
        if "/metrics.k8s.io/" in request.path:
            if not self.usage:
                return await self.inner.round_trip(request)
            selector = parse_selector(request.param("labelSelector"))
            pods = [p for p in await self.cluster.items(PODS) if selector.matches(p["metadata"].get("labels"))]
            containers = [{"name": "nginx", "usage": self.usage}]
            meta: list[Object] = [{"metadata": p["metadata"], "timestamp": now, "window": "15s"} for p in pods]
            return Response(obj={"items": [{**each, "containers": containers} for each in meta]})
        value = self.values.get(request.path.rpartition("/")[2])
        if value is None:
            return Response(status=404, body=b"404 page not found\n")
        return Response(body=fast_json.dumps({"items": [{"value": value, "timestamp": now}]}))

    async def close(self) -> None:
        await self.inner.close()


def autoscaler(*metrics: Object, least: int = 1, most: int = 10, name: str = "web", **spec: Any) -> Object:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "nginx"}
    body = {"scaleTargetRef": reference, "minReplicas": least, "maxReplicas": most, **spec}
    if metrics:
        body["metrics"] = list(metrics)
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name},
        "spec": body,
    }


def cpu(target: int = 50) -> Object:
    return {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": target}},
    }


def external(name: str, **target: Any) -> Object:
    return {"type": "External", "external": {"metric": {"name": name}, "target": target}}


class Scene:
    def __init__(self, cluster: SmallCluster) -> None:
        self.cluster, self.client = cluster, cluster.client
        self.metrics = MetricsServer(cluster)

    async def deploy(self, replicas: int, **requests: str) -> None:
        body = deployment(replicas)
        if requests:
            body["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": requests}
        await self.client.create(DEPLOYMENTS, body, "ns")
        await asyncio.sleep(5)
        for pod in await self.cluster.items(PODS):  # what a kubelet says, and long ago
            start = {"status": {"startTime": "2026-12-31T00:00:00Z"}}
            await self.client.patch(PODS, pod["metadata"]["name"], "ns", start, subresource="status")

    async def create(self, body: Object) -> None:
        await self.client.create(AUTOSCALERS, body, "ns")
        await asyncio.sleep(16)

    async def status(self, name: str = "web") -> Object:
        found: Object = (await self.client.get(AUTOSCALERS, name, "ns"))["status"]
        return found

    async def conditions(self, name: str = "web") -> dict[str, tuple[str, str, str]]:
        found = (await self.status(name))["conditions"]
        return {c["type"]: (c["status"], c["reason"], c["message"]) for c in found}

    async def replicas(self) -> int:
        return int((await self.client.get(DEPLOYMENTS, "nginx", "ns"))["spec"]["replicas"])

    async def told(self) -> list[tuple[str, str, str]]:
        await asyncio.sleep(1)
        events = [e for e in await self.cluster.items(EVENTS) if e["involvedObject"]["kind"] == AUTOSCALERS.kind]
        assert all(e["source"] == {"component": "horizontal-pod-autoscaler"} for e in events)
        events.sort(key=lambda e: str(e["metadata"]["name"]))
        return [(e["type"], e["reason"], e["message"]) for e in events]


def play(scene: Callable[[Scene], Awaitable[None]]) -> None:
    async def main() -> None:
        async with small_cluster() as cluster:
            await scene(Scene(cluster))

    run_virtual(main())


def test_without_a_metrics_api_it_says_so_and_leaves_everything_as_it_is() -> None:
    async def scene(scene: Scene) -> None:
        await scene.deploy(3, cpu="100m")
        await scene.create(autoscaler(cpu()))
        absent = "the server could not find the requested resource (get pods.metrics.k8s.io)"
        fetch = f"unable to fetch metrics from resource metrics API: {absent}"
        failed = f"failed to get cpu utilization: unable to get metrics for resource cpu: {fetch}"
        assert await scene.conditions() == {
            "AbleToScale": (
                "True", "SucceededGetScale", "the HPA controller was able to get the target's current scale"
            ),
            "ScalingActive": (
                "False", "FailedGetResourceMetric", f"the HPA was unable to compute the replica count: {failed}"
            ),
        }  # fmt: skip
        first = (
            f"invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: {failed}"
        )
        assert await scene.told() == [
            ("Warning", "FailedGetResourceMetric", failed),
            ("Warning", "FailedComputeMetricsReplicas", first),
        ]
        status = await scene.status()
        assert (status["currentReplicas"], status["desiredReplicas"]) == (3, 0)
        assert status["currentMetrics"] == [{"type": ""}]
        assert await scene.replicas() == 3

    play(scene)


def test_up_at_once_but_at_most_double_and_down_after_five_minutes() -> None:
    async def scene(scene: Scene) -> None:
        await scene.deploy(2, cpu="100m")
        scene.metrics.usage = {"cpu": "250m"}
        await scene.create(autoscaler(cpu(), most=8))
        assert await scene.replicas() == 4
        assert ("Normal", "SuccessfulRescale", f"New size: 4; reason: {CPU} above target") in await scene.told()
        told = await scene.conditions()
        message = "the HPA controller was able to update the target scale to 4"
        assert told["AbleToScale"] == ("True", "SucceededRescale", message)
        active = f"the HPA was able to successfully calculate a replica count from {CPU}"
        assert told["ScalingActive"] == ("True", "ValidMetricFound", active)
        limit = "the desired replica count is increasing faster than the maximum scale rate"
        assert told["ScalingLimited"] == ("True", "ScaleUpLimit", limit)
        current = {"averageUtilization": 250, "averageValue": "250m"}
        status = await scene.status()
        assert status["currentMetrics"] == [{"type": "Resource", "resource": {"name": "cpu", "current": current}}]
        assert (status["currentReplicas"], status["desiredReplicas"]) == (2, 4)
        assert "lastScaleTime" in status
        scene.metrics.usage = {"cpu": "10m"}
        await asyncio.sleep(60)
        assert await scene.replicas() == 8  # ten were recommended, and that still counts
        steadied = "recent recommendations were higher than current one, applying the highest recent recommendation"
        assert (await scene.conditions())["AbleToScale"] == ("True", "ScaleDownStabilized", steadied)
        await asyncio.sleep(330)
        assert await scene.replicas() == 1
        assert ("Normal", "SuccessfulRescale", "New size: 1; reason: All metrics below target") in await scene.told()

    play(scene)


def test_a_behavior_sets_the_pace() -> None:
    async def scene(scene: Scene) -> None:
        await scene.deploy(4, cpu="100m")
        scene.metrics.usage = {"cpu": "1m"}
        policies = [{"type": "Pods", "value": 1, "periodSeconds": 60}]
        behavior = {"scaleDown": {"stabilizationWindowSeconds": 0, "policies": policies}}
        await scene.create(autoscaler(cpu(), behavior=behavior))
        assert await scene.replicas() == 3
        limit = "the desired replica count is decreasing faster than the maximum scale rate"
        assert (await scene.conditions())["ScalingLimited"] == ("True", "ScaleDownLimit", limit)
        await asyncio.sleep(44)
        assert await scene.replicas() == 3
        await asyncio.sleep(30)
        assert await scene.replicas() == 2

    play(scene)


def test_bounds_are_kept_without_asking_any_metric() -> None:
    async def scene(scene: Scene) -> None:
        await scene.deploy(1)
        await scene.create(autoscaler(least=3))
        assert await scene.replicas() == 3
        below = "New size: 3; reason: Current number of replicas below Spec.MinReplicas"
        assert await scene.told() == [("Normal", "SuccessfulRescale", below)]
        await scene.client.patch(DEPLOYMENTS, "nginx", "ns", {"spec": {"replicas": 0}}, patch_type=MERGE_PATCH)
        await asyncio.sleep(31)
        assert await scene.replicas() == 0  # zero means: leave it alone
        disabled = "scaling is disabled since the replica count of the target is zero"
        assert (await scene.conditions())["ScalingActive"] == ("False", "ScalingDisabled", disabled)
        assert not scene.metrics.asked

    play(scene)


def test_one_failing_metric_stops_going_down_but_not_going_up() -> None:
    async def scene(scene: Scene) -> None:
        await scene.deploy(2, cpu="100m")
        scene.metrics.usage = {"cpu": "1m"}
        queue = external("queue", type="AverageValue", averageValue="10")
        await scene.create(autoscaler(cpu(), queue))
        why = "unable to get external metric ns/queue/nil: unable to fetch metrics from external metrics API: "
        why += "the server could not find the requested resource (get queue.external.metrics.k8s.io)"
        assert (await scene.conditions())["ScalingActive"][:2] == ("False", "FailedGetExternalMetric")
        told = await scene.told()
        assert told[0] == ("Warning", "FailedGetExternalMetric", why)
        first = f"failed to get queue external metric value: failed to get queue external metric: {why}"
        message = f"invalid metrics (1 invalid out of 2), first error is: {first}"
        assert told[1] == ("Warning", "FailedComputeMetricsReplicas", message)
        scene.metrics.usage = {"cpu": "90m"}
        await asyncio.sleep(16)
        assert await scene.replicas() == 4
        scene.metrics.values["queue"] = "35"
        await asyncio.sleep(16)
        current = (await scene.status())["currentMetrics"][1]["external"]
        assert current["current"] == {"averageValue": "8750m"}  # 35 over 4
        assert current["metric"] == {"name": "queue"}

    play(scene)


def test_a_failing_metric_does_not_matter_while_the_others_are_content() -> None:
    async def scene(scene: Scene) -> None:
        await scene.deploy(2, cpu="100m")
        scene.metrics.usage = {"cpu": "50m"}
        await scene.create(autoscaler(cpu(), external("queue", type="AverageValue", averageValue="10")))
        assert (await scene.conditions())["ScalingActive"][:2] == ("True", "ValidMetricFound")
        assert [reason for _, reason, _ in await scene.told()] == ["FailedGetExternalMetric"]
        assert (await scene.status())["desiredReplicas"] == await scene.replicas() == 2

    play(scene)


def test_each_direction_has_its_own_tolerance() -> None:
    async def scene(scene: Scene) -> None:
        await scene.deploy(4, cpu="100m")
        scene.metrics.usage = {"cpu": "70m"}
        patient = {"scaleUp": {"tolerance": "1"}, "scaleDown": {"tolerance": "0", "stabilizationWindowSeconds": 0}}
        await scene.create(autoscaler(cpu(), behavior=patient))
        assert await scene.replicas() == 4  # 40 % above: that is tolerated
        scene.metrics.usage = {"cpu": "37m"}
        await asyncio.sleep(16)
        assert await scene.replicas() == 3

    play(scene)


def test_a_pod_of_which_one_container_tells_nothing_has_told_nothing() -> None:
    class Half(MetricsServer):
        async def round_trip(self, request: Request) -> Response:
            response = await super().round_trip(request)
            for item in (response.obj or {}).get("items") or () if "/metrics.k8s.io/" in request.path else ():
                item["containers"] = [*item["containers"], {"name": "side", "usage": {"memory": "1"}}]
            return response

    async def scene(scene: Scene) -> None:
        await scene.deploy(1, cpu="100m")
        scene.cluster.witness.inner = scene.metrics.inner
        scene.metrics = Half(scene.cluster)
        scene.metrics.usage = {"cpu": "500m"}
        await scene.create(autoscaler(cpu()))
        why = "failed to get cpu utilization: did not receive metrics for targeted pods (pods might be unready)"
        assert (await scene.told())[0] == ("Warning", "FailedGetResourceMetric", why)
        assert await scene.replicas() == 1

    play(scene)


def test_requests_that_are_missing_and_targets_that_are_not_there() -> None:
    async def scene(scene: Scene) -> None:
        await scene.deploy(1)
        scene.metrics.usage = {"cpu": "1m"}
        await scene.create(autoscaler(cpu()))
        pod = (await scene.cluster.items(PODS))[0]["metadata"]["name"]
        missing = f"failed to get cpu utilization: missing request for cpu in container nginx of Pod {pod}"
        assert (await scene.told())[0] == ("Warning", "FailedGetResourceMetric", missing)
        await scene.client.delete(DEPLOYMENTS, "nginx", "ns")
        await asyncio.sleep(16)
        gone = 'deployments.apps "nginx" not found'
        why = f"the HPA controller was unable to get the target's current scale: {gone}"
        assert (await scene.conditions())["AbleToScale"] == ("False", "FailedGetScale", why)
        assert ("Warning", "FailedGetScale", gone) in await scene.told()
        reference = {"apiVersion": "example.com/v1", "kind": "Bell", "name": "noon"}
        await scene.create(autoscaler(name="bells", scaleTargetRef=reference))
        why = 'no matches for kind "Bell" in group "example.com"'
        assert ("Warning", "FailedGetScale", why) in await scene.told()

    play(scene)


def test_a_scale_that_cannot_be_written_is_said_and_the_wish_stays_what_it_was() -> None:
    async def scene(scene: Scene) -> None:
        await scene.deploy(2, cpu="100m")
        scene.metrics.usage = {"cpu": "100m"}
        inner = scene.metrics.inner

        async def refusing(request: Request) -> Response:
            if request.path.endswith("/scale") and request.method != "GET":
                refused = {
                    "kind": "Status",
                    "status": "Failure",
                    "message": "not now",
                    "reason": "Forbidden",
                    "code": 403,
                }
                return Response(status=403, obj={"apiVersion": "v1", **refused})
            return await inner.round_trip(request)

        scene.metrics.inner = SimpleNamespace(round_trip=refusing, close=inner.close)
        await scene.create(autoscaler(cpu()))
        why = "the HPA controller was unable to update the target scale: not now"
        assert (await scene.conditions())["AbleToScale"] == ("False", "FailedUpdateScale", why)
        words = "New size: 4; reason: cpu resource utilization (percentage of request) above target; error: not now"
        assert ("Warning", "FailedRescale", words) in await scene.told()
        status = await scene.status()
        assert (status["currentReplicas"], status["desiredReplicas"], await scene.replicas()) == (2, 0, 2)

    play(scene)


def test_a_selector_that_makes_no_sense_is_said() -> None:
    async def scene(scene: Scene) -> None:
        await scene.deploy(2, cpu="100m")
        scene.metrics.usage = {"cpu": "100m"}
        inner = scene.metrics.inner

        async def odd(request: Request) -> Response:
            answer = await inner.round_trip(request)
            if request.path.endswith("/scale") and answer.obj is not None:
                return Response(obj={**answer.obj, "status": {"replicas": 2, "selector": "a in"}})
            return answer

        scene.metrics.inner = SimpleNamespace(round_trip=odd, close=inner.close)
        await scene.create(autoscaler(cpu()))
        status, reason, message = (await scene.conditions())["ScalingActive"]
        assert (status, reason) == ("False", "InvalidSelector")
        assert message.startswith("couldn't convert selector into a corresponding internal selector object: ")
        assert ("Warning", "InvalidSelector", message) in await scene.told()

    play(scene)


def test_two_autoscalers_of_the_same_pods_both_stop() -> None:
    async def scene(scene: Scene) -> None:
        await scene.deploy(1, cpu="100m")
        scene.metrics.usage = {"cpu": "500m"}
        await scene.client.create(AUTOSCALERS, autoscaler(cpu(), name="a"), "ns")
        await scene.create(autoscaler(cpu(), name="b"))
        await asyncio.sleep(16)
        both = "pods by selector app=nginx are controlled by multiple HPAs: [{a ns} {b ns}]"
        assert (await scene.conditions("a"))["ScalingActive"] == ("False", "AmbiguousSelector", both)
        await scene.client.delete(AUTOSCALERS, "b", "ns")
        elsewhere = resource("namespaces")
        await scene.client.create(elsewhere, {"metadata": {"name": "ns-2"}})
        await scene.client.create(DEPLOYMENTS, deployment(1), "ns-2")
        await scene.client.create(AUTOSCALERS, autoscaler(cpu(), name="b"), "ns-2")
        for _ in range(3):  # each of them has looked by then
            await asyncio.sleep(16)
        assert (await scene.conditions("a"))["ScalingActive"][1] == "ValidMetricFound"

    play(scene)


def test_a_scale_without_a_selector_is_left_alone_and_both_say_what_is_missing() -> None:
    async def scene(scene: Scene) -> None:
        await scene.deploy(3, cpu="100m")
        inner = scene.metrics.inner

        async def without_selector(request: Request) -> Response:
            answer = await inner.round_trip(request)
            if request.path.endswith("/scale") and answer.obj is not None:
                return Response(obj={**answer.obj, "status": {"replicas": 3}})
            return answer

        scene.metrics.inner = SimpleNamespace(round_trip=without_selector, close=inner.close)
        await scene.create(autoscaler(cpu()))
        missing = ("False", "InvalidSelector", "the HPA target's scale is missing a selector")
        assert (await scene.conditions())["ScalingActive"] == missing
        told = await scene.told()
        assert told[:2] == [
            ("Warning", "SelectorRequired", "selector is required"),
            ("Warning", "FailedComputeMetricsReplicas", "selector is required"),
        ]
        assert await scene.replicas() == 3

    play(scene)
