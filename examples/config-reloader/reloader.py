"""A controller, written with the official client: when a ConfigMap changes, the
Deployments that are annotated with `reload-on: NAME` get new pods.

nginx reads its configuration when it starts, and nobody tells it that a ConfigMap has
changed. Run it by `python reloader.py NAMESPACE`.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from typing import Any

from kubernetes import client, config, watch

RELOAD_ON = "example.org/reload-on"
CHECKSUM = "example.org/checksum"


def run(
    api: client.ApiClient, namespace: str, stopped: Callable[[], bool] = lambda: False
) -> None:
    """List, then watch from there; after a watch has ended, begin again."""
    core = client.CoreV1Api(api)
    while not stopped():
        listed = core.list_namespaced_config_map(namespace)
        for config_map in listed.items:
            reconcile(api, config_map)
        for event in watch.Watch().stream(
            core.list_namespaced_config_map,
            namespace,
            resource_version=listed.metadata.resource_version,
            timeout_seconds=1 if stopped() else 60,
        ):
            if stopped():
                return
            if event["type"] in ("ADDED", "MODIFIED"):
                reconcile(api, event["object"])


def reconcile(api: client.ApiClient, config_map: client.V1ConfigMap) -> None:
    """Every Deployment that asks for it carries this ConfigMap's checksum in its pod
    template. Where that is so already, the patch changes nothing, and no pod is made.
    """
    apps, namespace = client.AppsV1Api(api), config_map.metadata.namespace
    for deployment in apps.list_namespaced_deployment(namespace).items:
        annotations = deployment.metadata.annotations or {}
        if annotations.get(RELOAD_ON) != config_map.metadata.name:
            continue
        template = {"metadata": {"annotations": {CHECKSUM: checksum(config_map.data)}}}
        apps.patch_namespaced_deployment(
            deployment.metadata.name, namespace, {"spec": {"template": template}}
        )


def checksum(data: dict[str, Any] | None) -> str:
    """Of all of a ConfigMap's texts; their order does not matter."""
    text = json.dumps(data or {}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    config.load_config()
    run(client.ApiClient(), sys.argv[1])
