"""Claims about pull secrets. No recording shows one in use, so these are put to our
kubelet and a registry that asks for a password.
"""

from __future__ import annotations

import base64
import json

from lifecycle.api.http.wire import Object
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.compare.claims import rebuilt

IMAGE, PASSWORD = "registry.example/team/app:1", "hunter2"


def pull_secret(name: str, password: str = PASSWORD) -> Object:
    """A secret with credentials for `registry.example`."""
    auths = {"auths": {"registry.example": {"username": "me", "password": password}}}
    data = {".dockerconfigjson": base64.b64encode(json.dumps(auths).encode()).decode()}
    return {
        "kind": "Secret",
        "metadata": {"name": name},
        "type": "kubernetes.io/dockerconfigjson",
        "data": data,
    }


async def _private(node: OneNode) -> None:
    node.runtime.images.private = {"registry.example/": ("me", PASSWORD)}
    await node.create("secrets", pull_secret("right"))


@rebuilt("image-pull-secrets-retrieved-from-api-server")
def retrieved() -> bool:
    """Asked for before the runtime is; one that is missing is a warning, and a public
    image runs all the same.
    """

    async def scene(node: OneNode) -> bool:
        await _private(node)
        names: list[Object] = [{"name": "right"}, {}, {"name": "gone"}]
        pod = await node.run_pod("a", imagePullSecrets=names)
        asked = [
            url.rpartition("/")[2]
            for method, url in node.asked
            if method == "GET" and "/secrets/" in url
        ]
        steps = [step for step, _ in node.steps]
        warned = await node.events("FailedToRetrieveImagePullSecret")
        return (
            asked[:2] == ["right", "gone"]
            and steps.index("pull secrets") < steps.index("runtime")
            and warned
            == [
                "Unable to retrieve some image pull secrets (gone); attempting to pull"
                " the image may not succeed."
            ]
            and pod["status"]["phase"] == "Running"
        )

    return on_one_node(scene)


@rebuilt("image-pull-secrets-injected-into-container")
def injected() -> bool:
    """Whether anything of the secret is in what the runtime was told of the container,
    or on the pod's disk.
    """

    async def scene(node: OneNode) -> bool:
        await _private(node)
        pod = await node.run_pod(
            "a", container={"image": IMAGE}, imagePullSecrets=[{"name": "right"}]
        )
        assert pod["status"]["phase"] == "Running"
        configs = repr(
            (
                node.runtime.container_configs["a", "c"],
                node.runtime.sandbox_configs["a"],
            )
        )
        files = [
            p.read_bytes() for p in node.pod_directory(pod).rglob("*") if p.is_file()
        ]
        return PASSWORD in configs or any(PASSWORD.encode() in data for data in files)

    return on_one_node(scene)


@rebuilt("image-pull-secrets-used-for-private-pull")
def used() -> bool:
    """With the secret it runs; without, and with a wrong one, the registry says no."""

    async def scene(node: OneNode) -> bool:
        await _private(node)
        await node.create("secrets", pull_secret("wrong", "guess"))
        reasons = []
        for name, secrets in (
            ("none", []),
            ("wrong", ["wrong"]),
            ("right", ["wrong", "right"]),
        ):
            pod = await node.run_pod(
                name,
                container={"image": IMAGE},
                imagePullSecrets=[{"name": s} for s in secrets],
                seconds=1,
            )
            state = pod["status"]["containerStatuses"][0]["state"]
            reasons.append(state.get("waiting", {}).get("reason", "Running"))
        return reasons[2] == "Running" and not {"Running", "ContainerCreating"} & set(
            reasons[:2]
        )

    return on_one_node(scene)
