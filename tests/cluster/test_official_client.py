"""The line through the official Python client: objects, watch, informer."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from kubernetes import client as official
from kubernetes import watch
from kubernetes.client.exceptions import ApiException

from lifecycle.cluster.background import BackgroundCluster


def deployment(replicas: int = 3, image: str = "nginx") -> Any:
    container = official.V1Container(name="nginx", image=image)
    template = official.V1PodTemplateSpec(
        metadata=official.V1ObjectMeta(labels={"app": "nginx"}), spec=official.V1PodSpec(containers=[container])
    )
    spec = official.V1DeploymentSpec(
        replicas=replicas, selector=official.V1LabelSelector(match_labels={"app": "nginx"}), template=template
    )
    return official.V1Deployment(metadata=official.V1ObjectMeta(name="nginx"), spec=spec)


def until_rolled_out(apps: Any, namespace: str, replicas: int) -> Any:
    for event in watch.Watch().stream(apps.list_namespaced_deployment, namespace, timeout_seconds=30):
        seen = event["object"]
        if seen.status.observed_generation != seen.metadata.generation:
            continue  # the status still speaks of the spec before
        if seen.status.updated_replicas == replicas == seen.status.available_replicas == seen.status.replicas:
            return seen
    raise AssertionError("the rollout did not finish")


def test_a_deployment_rolls_out_scales_and_goes(cluster: BackgroundCluster, namespace: str) -> None:
    apps, core = cluster.client.AppsV1Api(), cluster.client.CoreV1Api()
    apps.create_namespaced_deployment(namespace, deployment())
    until_rolled_out(apps, namespace, 3)
    assert {pod.status.phase for pod in core.list_namespaced_pod(namespace).items} == {"Running"}
    apps.patch_namespaced_deployment_scale("nginx", namespace, {"spec": {"replicas": 5}})
    until_rolled_out(apps, namespace, 5)
    apps.patch_namespaced_deployment(
        "nginx", namespace, {"spec": {"template": {"spec": {"containers": [{"name": "nginx", "image": "nginx:1.28"}]}}}}
    )
    until_rolled_out(apps, namespace, 5)
    images = {
        pod.spec.containers[0].image
        for pod in core.list_namespaced_pod(namespace).items
        if not pod.metadata.deletion_timestamp
    }
    assert images == {"nginx:1.28"}
    version = core.list_namespaced_pod(namespace).metadata.resource_version
    apps.delete_namespaced_deployment("nginx", namespace)
    gone = 0
    for event in watch.Watch().stream(
        core.list_namespaced_pod, namespace, resource_version=version, timeout_seconds=30
    ):
        gone += event["type"] == "DELETED"
        if gone == 5:
            return
    raise AssertionError("the garbage collector left pods behind")


def test_a_watch_resumes_from_a_resource_version(cluster: BackgroundCluster, namespace: str) -> None:
    core = cluster.client.CoreV1Api()
    first = core.create_namespaced_config_map(namespace, {"metadata": {"name": "a"}})
    core.create_namespaced_config_map(namespace, {"metadata": {"name": "b"}})
    core.delete_namespaced_config_map("a", namespace)
    seen = []
    for event in watch.Watch().stream(
        core.list_namespaced_config_map, namespace, resource_version=first.metadata.resource_version, timeout_seconds=10
    ):
        if event["object"].metadata.name in "ab":
            seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 2:
            break
    assert seen == [("ADDED", "b"), ("DELETED", "a")]


def test_the_official_informer_keeps_a_cache(cluster: BackgroundCluster, namespace: str) -> None:
    from kubernetes.informer import SharedInformer

    core = cluster.client.CoreV1Api()
    core.create_namespaced_config_map(namespace, {"metadata": {"name": "before"}})
    informer = SharedInformer(list_func=core.list_namespaced_config_map, namespace=namespace)
    arrived = {name: threading.Event() for name in ("before", "after")}

    def added(obj: Any) -> None:
        if obj.metadata.name in arrived:
            arrived[obj.metadata.name].set()

    informer.add_event_handler("ADDED", added)
    informer.start()
    try:
        assert arrived["before"].wait(20)
        # not before the list has come: its `stop` waits for ever for a watch that has not begun yet
        core.create_namespaced_config_map(namespace, {"metadata": {"name": "after"}})
        assert arrived["after"].wait(20)
    finally:
        informer.stop()


def test_refusals_carry_the_status(cluster: BackgroundCluster, namespace: str) -> None:
    core = cluster.client.CoreV1Api()
    with pytest.raises(ApiException) as refused:
        core.read_namespaced_config_map("absent", namespace)
    assert refused.value.status == 404
    assert '"reason":"NotFound"' in refused.value.body
