"""The Deployments that claims are checked with."""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object


def a_deployment(
    name: str = "web", image: str = "nginx:1.27", **spec: object
) -> Object:
    """Three replicas of it."""
    labels = {"app": name}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "c", "image": image}]},
    }
    body = {
        "replicas": 3,
        "selector": {"matchLabels": labels},
        "template": template,
        **spec,
    }
    return {
        "kind": "Deployment",
        "apiVersion": "apps/v1",
        "metadata": {"name": name},
        "spec": body,
    }


def a_named_deployment(**spec: Any) -> Object:
    """The same, as the API server has it."""
    deployment = a_deployment(**spec)
    deployment["metadata"].update(namespace="default", uid="u")
    return deployment
