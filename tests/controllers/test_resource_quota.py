"""Quotas are counted again: what each kind of object uses, whom the scopes mean, and what is given back."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.controllers.small_cluster import DEPLOYMENTS, PODS, SERVICES, SmallCluster, deployment, service
from tests.controllers.test_the_line import play

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.rest import MERGE_PATCH

QUOTAS, CLAIMS = resource("resourcequotas"), resource("persistentvolumeclaims")
COMPUTE = {
    "requests": {"cpu": "100m", "memory": "64Mi", "hugepages-2Mi": "4Mi"},
    "limits": {"cpu": "1", "memory": "128Mi", "hugepages-2Mi": "4Mi"},
}


async def quota(cluster: SmallCluster, name: str, *hard: str, **spec: Any) -> None:
    body = {"hard": dict.fromkeys(hard, "100Gi"), **spec}
    await cluster.client.create(QUOTAS, {"kind": "ResourceQuota", "metadata": {"name": name}, "spec": body}, "ns")


async def used(cluster: SmallCluster, name: str) -> dict[str, str]:
    found: dict[str, str] = (await cluster.client.get(QUOTAS, name, "ns"))["status"]["used"]
    return found


def a_pod(name: str, *, phase: str = "", **spec: Any) -> Object:
    containers = [{"name": "c", "image": "nginx:1.27", "resources": COMPUTE}]
    return {"kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def test_what_is_used_and_given_back() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        cluster.kubelets.nodes = ["n1"]
        compute = (
            "pods",
            "count/pods",
            "cpu",
            "requests.cpu",
            "limits.memory",
            "hugepages-2Mi",
            "requests.hugepages-2Mi",
        )
        await quota(cluster, "pods", *compute)
        storage = ("persistentvolumeclaims", "requests.storage", "gold.storageclass.storage.k8s.io/requests.storage")
        others = (
            "services",
            "services.nodeports",
            "services.loadbalancers",
            "count/deployments.apps",
            "resourcequotas",
        )
        await quota(cluster, "rest", *storage, *others)
        await asyncio.sleep(1)
        for name in ("a", "b"):
            await cluster.client.create(PODS, a_pod(name), "ns")
        await cluster.client.create(
            SERVICES, {**service(), "spec": {**service()["spec"], "type": "LoadBalancer"}}, "ns"
        )
        await cluster.client.create(DEPLOYMENTS, deployment(0), "ns")
        for name, storage_class, size in (("one", "gold", "3Gi"), ("two", "", "1536Mi")):
            requests = {"requests": {"storage": size}}
            spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": storage_class, "resources": requests}
            body = {"kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}
            await cluster.client.create(CLAIMS, body, "ns")
        await asyncio.sleep(3)
        both = {"pods": "2", "count/pods": "2", "cpu": "200m", "requests.cpu": "200m", "limits.memory": "256Mi"}
        assert await used(cluster, "pods") == {**both, "hugepages-2Mi": "8Mi", "requests.hugepages-2Mi": "8Mi"}
        assert await used(cluster, "rest") == {
            "persistentvolumeclaims": "2",
            "requests.storage": "4608Mi",
            "gold.storageclass.storage.k8s.io/requests.storage": "3Gi",
            "services": "1",
            "services.nodeports": "1",
            "services.loadbalancers": "1",
            "count/deployments.apps": "1",
            "resourcequotas": "2",
        }
        done = {"status": {"phase": "Succeeded"}}
        await cluster.client.patch(PODS, "a", "ns", done, patch_type=MERGE_PATCH, subresource="status")
        plain = {"spec": {"type": "ClusterIP", "ports": [{"port": 80, "nodePort": None}]}}
        await cluster.client.patch(SERVICES, "nginx", "ns", plain, patch_type=MERGE_PATCH)
        await cluster.client.delete(CLAIMS, "one", "ns")
        await asyncio.sleep(3)
        pods = await used(cluster, "pods")
        assert (pods["pods"], pods["count/pods"], pods["cpu"]) == ("1", "2", "100m")  # it is done, but it is there
        rest = await used(cluster, "rest")
        assert (rest["services.nodeports"], rest["services.loadbalancers"], rest["services"]) == ("0", "0", "1")
        assert (rest["requests.storage"], rest["persistentvolumeclaims"]) == ("1536Mi", "1")

    play(scenario)


def test_scopes_choose_whose_use_counts() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        priorities = resource("priorityclasses.scheduling.k8s.io")
        await cluster.client.create(priorities, {"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 10})

        def by_class(operator: str, *values: str) -> Object:
            chosen: Object = {"scopeName": "PriorityClass", "operator": operator}
            return {"scopeSelector": {"matchExpressions": [{**chosen, "values": list(values)} if values else chosen]}}

        for name, spec in (
            ("none", {}),
            ("best-effort", {"scopes": ["BestEffort"]}),
            ("not-best-effort", {"scopes": ["NotBestEffort"]}),
            ("terminating", {"scopes": ["Terminating"]}),
            ("not-terminating", {"scopes": ["NotTerminating"]}),
            ("high", by_class("In", "low", "high")),
            ("not-high", by_class("NotIn", "high")),
            ("some-class", by_class("Exists")),
            ("no-class", by_class("DoesNotExist")),
        ):
            await quota(cluster, name, "pods", **spec)
        await asyncio.sleep(2)  # until a quota has been counted once, admission does not know it
        bare = a_pod("bare")
        del bare["spec"]["containers"][0]["resources"]
        for pod in (bare, a_pod("short", activeDeadlineSeconds=600), a_pod("important", priorityClassName="high")):
            await cluster.client.create(PODS, pod, "ns")
        await asyncio.sleep(5)
        counted = {q["metadata"]["name"]: q["status"]["used"]["pods"] for q in await cluster.items(QUOTAS)}
        assert counted == {
            "none": "3",
            "best-effort": "1",
            "not-best-effort": "2",
            "terminating": "1",
            "not-terminating": "2",
            "high": "1",
            "not-high": "2",
            "some-class": "1",
            "no-class": "2",
        }

    play(scenario)


def test_a_changed_limit_is_repeated_and_what_is_no_longer_limited_forgotten() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await quota(cluster, "q", "pods", "secrets", "count/nothing.example.com")
        await asyncio.sleep(2)
        assert await used(cluster, "q") == {"pods": "0", "secrets": "0"}  # of what it does not know it says nothing
        changed = {"spec": {"hard": {"pods": "7", "secrets": None, "count/nothing.example.com": None}}}
        await cluster.client.patch(QUOTAS, "q", "ns", changed, patch_type=MERGE_PATCH)
        await asyncio.sleep(2)
        status = (await cluster.client.get(QUOTAS, "q", "ns"))["status"]
        assert status == {"hard": {"pods": "7"}, "used": {"pods": "0"}}

    play(scenario)
