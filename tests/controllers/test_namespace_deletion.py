"""What a namespace says while it cannot go, and that it goes once it can."""

from __future__ import annotations

import asyncio
import logging

import pytest
from tests.controllers.small_cluster import NAMESPACES, PODS, SmallCluster
from tests.controllers.test_the_line import play

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import MERGE_PATCH

MAPS = resource("configmaps")
GOOD = {
    "NamespaceDeletionDiscoveryFailure": "All resources successfully discovered",
    "NamespaceDeletionGroupVersionParsingFailure": "All legacy kube types successfully parsed",
    "NamespaceDeletionContentFailure": "All content successfully deleted, may be waiting on finalization",
    "NamespaceContentRemaining": "All content successfully removed",
    "NamespaceFinalizersRemaining": "All content-preserving finalizers finished",
}


async def conditions(cluster: SmallCluster) -> dict[str, str]:
    """What is not fine, by type; every condition is there."""
    found = (await cluster.client.get(NAMESPACES, "ns"))["status"]["conditions"]
    assert [c["type"] for c in found] == list(GOOD)
    assert all(c["message"] == GOOD[c["type"]] for c in found if c["status"] == "False")
    return {c["type"]: f"{c['reason']}: {c['message']}" for c in found if c["status"] == "True"}


async def is_gone(cluster: SmallCluster) -> bool:
    try:
        await cluster.client.get(NAMESPACES, "ns")
    except StatusError as error:
        return error.code == 404
    return False


def a_pod(**spec: object) -> Object:
    containers = [{"name": "c", "image": "nginx:1.27"}]
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": {"containers": containers, **spec}}


def test_what_a_finalizer_holds_is_counted_and_waited_for() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        for name, finalizers in (("a", ["x.io/one"]), ("b", ["x.io/one", "x.io/two"]), ("c", [])):
            body = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name, "finalizers": finalizers}}
            await cluster.client.create(MAPS, body, "ns")
        await cluster.client.delete(NAMESPACES, "ns")
        await asyncio.sleep(8)
        held = "Some content in the namespace has finalizers remaining: x.io/one in 2 resource instances, x.io/two in 1 resource instances"
        assert await conditions(cluster) == {
            "NamespaceContentRemaining": "SomeResourcesRemain: Some resources are remaining: configmaps. has 2 resource instances",
            "NamespaceFinalizersRemaining": f"SomeFinalizersRemain: {held}",
        }
        for name in "ab":
            await cluster.client.patch(MAPS, name, "ns", {"metadata": {"finalizers": None}}, patch_type=MERGE_PATCH)
        await asyncio.sleep(20)
        assert await is_gone(cluster)

    play(scenario)


def test_pods_that_outlive_their_grace_are_a_failure_and_keep_everything_else() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        cluster.kubelets.stop_seconds = 200.0
        await cluster.client.create(PODS, a_pod(terminationGracePeriodSeconds=30), "ns")
        await asyncio.sleep(3)
        await cluster.client.delete(NAMESPACES, "ns")
        await asyncio.sleep(10)
        remaining = "SomeResourcesRemain: Some resources are remaining: pods. has 1 resource instances"
        assert await conditions(cluster) == {"NamespaceContentRemaining": remaining}
        await asyncio.sleep(60)
        unexpected = "unexpected items still remain in namespace: ns for gvr: /v1, Resource=pods"
        failure = f"ContentDeletionFailed: Failed to delete all resource types, 1 remaining: {unexpected}"
        assert await conditions(cluster) == {
            "NamespaceDeletionContentFailure": failure,
            "NamespaceContentRemaining": remaining,
        }
        assert await cluster.items(MAPS)  # nothing else is touched while a pod may need it
        await asyncio.sleep(400)
        assert await is_gone(cluster)

    play(scenario)


def test_an_api_that_nobody_answers_for_keeps_the_namespace(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(cluster: SmallCluster) -> None:
        spec = {
            "group": "metrics.k8s.io",
            "version": "v1beta1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "insecureSkipTLSVerify": True,
            "service": {"namespace": "kube-system", "name": "metrics-server"},
        }
        services = resource("apiservices.apiregistration.k8s.io")
        body = {"kind": "APIService", "apiVersion": "apiregistration.k8s.io/v1", "spec": spec}
        await cluster.client.create(services, {**body, "metadata": {"name": "v1beta1.metrics.k8s.io"}})
        await asyncio.sleep(5)
        await cluster.client.delete(NAMESPACES, "ns")
        await asyncio.sleep(10)
        stale = "metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1"
        incomplete = f"unable to retrieve the complete list of server APIs: {stale}"
        message = f"DiscoveryFailed: Discovery failed for some groups, 1 failing: {incomplete}"
        assert await conditions(cluster) == {"NamespaceDeletionDiscoveryFailure": message}
        assert await cluster.items(MAPS) == []  # what could be found is deleted all the same
        await cluster.client.delete(services, "v1beta1.metrics.k8s.io")
        await asyncio.sleep(60)
        assert await is_gone(cluster)

    play(scenario)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == [], (
        "it is only waited for"
    )
