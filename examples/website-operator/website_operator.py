"""An operator, written with kopf: a Website becomes a ConfigMap with its page and a
Deployment of nginx that serves it. How many of its pods are ready is its status.

Run it by `kopf run --namespace NAMESPACE website_operator.py`.
"""

from __future__ import annotations

import os
from typing import Any

import kopf
from kubernetes import client, config


@kopf.on.login()
def login(**connection: Any) -> kopf.ConnectionInfo | None:
    """As the kubeconfig says."""
    return kopf.login_with_kubeconfig(**connection)


@kopf.on.startup()
def connect(**_: Any) -> None:
    """To the cluster that kopf itself is connected to."""
    config.load_kube_config(os.environ.get("KUBECONFIG"))


@kopf.on.create("example.org", "v1", "websites")
@kopf.on.update("example.org", "v1", "websites", field="spec")
def serve(spec: kopf.Spec, name: str, namespace: str, **_: Any) -> None:
    """Make what a Website needs, or change it; what is adopted goes with it."""
    objects = [page(name, spec["page"]), deployment(name, spec["replicas"])]
    kopf.adopt(objects)
    core, apps = client.CoreV1Api(), client.AppsV1Api()
    for patch, obj in zip(
        (core.patch_namespaced_config_map, apps.patch_namespaced_deployment),
        objects,
    ):
        patch(
            name,
            namespace,
            obj,
            field_manager="website-operator",
            force=True,
            _content_type="application/apply-patch+yaml",
        )


@kopf.on.field("apps", "v1", "deployments", field="status.readyReplicas")
def tell(new: int | None, name: str, namespace: str, spec: Any, **_: Any) -> None:
    """The Website's status says how many of its pods are ready."""
    client.CustomObjectsApi().patch_namespaced_custom_object_status(
        "example.org",
        "v1",
        namespace,
        "websites",
        name,
        {"status": {"ready": f"{new or 0}/{spec['replicas']}"}},
    )


def page(name: str, text: str) -> dict[str, Any]:
    """The ConfigMap that nginx serves from."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"index.html": text},
    }


def deployment(name: str, replicas: int) -> dict[str, Any]:
    """As many nginx as the Website asks for, with the page in their web root."""
    labels = {"website": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "containers": [
                        {
                            "name": "nginx",
                            "image": "nginx",
                            "volumeMounts": [
                                {"name": "page", "mountPath": "/usr/share/nginx/html"}
                            ],
                        }
                    ],
                    "volumes": [{"name": "page", "configMap": {"name": name}}],
                },
            },
        },
    }
