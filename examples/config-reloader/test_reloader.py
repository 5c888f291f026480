"""The controller in a thread, and a cluster that pytest starts."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import reloader

from lifecycle.pytest_plugin.cluster_under_test import ClusterUnderTest

SERVER = """
apiVersion: v1
kind: ConfigMap
metadata: {name: nginx-conf}
data: {nginx.conf: "worker_processes 1;"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {example.org/reload-on: nginx-conf}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: nginx, image: nginx}]}
"""


@pytest.fixture
def served(lifecycle_namespace: ClusterUnderTest) -> Iterator[ClusterUnderTest]:
    """nginx runs, and so does the controller."""
    lifecycle_namespace.apply(SERVER)
    api, stopping = lifecycle_namespace.api_client, threading.Event()
    controller = threading.Thread(
        target=reloader.run,
        args=(api, lifecycle_namespace.namespace, stopping.is_set),
    )
    controller.start()
    try:
        yield lifecycle_namespace
    finally:
        stopping.set()
        lifecycle_namespace.kubectl("create configmap wake-up")
        controller.join(timeout=30)
        api.close()
    assert not controller.is_alive()


def rolled_out(revision: str) -> str:
    return (
        r"jsonpath={.metadata.annotations.deployment\.kubernetes\.io/revision}"
        f"={revision}"
    )


def test_a_changed_configuration_brings_new_pods(served: ClusterUnderTest) -> None:
    web = served.wait_for("deployment/web", "condition=Available")
    before = web["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
    served.kubectl(
        "patch", "configmap", "nginx-conf", "-p", '{"data": {"nginx.conf": "two;"}}'
    )
    served.wait_for("deployment/web", rolled_out(str(int(before) + 1)))
    served.kubectl("rollout status deployment web --timeout=30s")


def test_another_config_map_changes_nothing(served: ClusterUnderTest) -> None:
    annotation = "jsonpath={.spec.template.metadata.annotations}"
    before = served.wait_for("deployment/web", annotation)
    served.kubectl("create configmap other --from-literal=a=1")
    served.kubectl("create configmap last --from-literal=a=1")
    assert (
        served.wait_for("deployment/web")["metadata"]["generation"]
        == before["metadata"]["generation"]
    )
