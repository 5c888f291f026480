"""`kubectl create deployment NAME --image=IMAGE`: a Deployment that selects its pods by
`app=NAME`.

No generator in the old sense: upstream builds the typed object in the command itself.
Neither the name nor the image is checked here – a bad name is refused by the server, a
bad image by nobody until a kubelet cannot pull it.

Upstream: `kubectl/pkg/cmd/create/create_deployment.go` (`createDeployment`,
`buildPodSpec`, `sanitizeAndUniquify`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.names import NameSource


def create_deployment(
    name: str,
    images: Sequence[str],
    *,
    command: Sequence[str] = (),
    replicas: int = 1,
    port: int = -1,
    namespace: str = "",
    names: NameSource | None = None,
) -> Object:
    """The Deployment. `port` -1: none; it goes to the first container. `names` supplies
    the random suffix of odd container names.
    """
    labels = {"app": name}
    containers = []
    for image in images:
        container: Object = {"name": container_name(image, names), "image": image}
        if command:
            container["command"] = list(command)
        containers.append(container)
    if port >= 0 and containers:
        containers[0]["ports"] = [{"containerPort": port}]
    metadata: Object = {"name": name, "labels": labels}
    if namespace:
        metadata["namespace"] = namespace
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": containers},
            },
        },
    }


def container_name(image: str, names: NameSource | None = None) -> str:
    """A container's name from its image: the last part of the path, without tag and
    digest; dots and underscores become dashes.
    """
    name = image.rpartition("/")[2].split(":")[0].split("@")[0]
    if "_" in name or "." in name:
        name = (
            f"{name.replace('_', '-').replace('.', '-')}"
            f"-{(names or NameSource()).suffix()}"
        )
    return name
