"""A volume that is an image: what the runtime is asked for, and what a pod is told whose image cannot be had."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.kubelet.config.directories import PodDirectories
from lifecycle.kubelet.kubelet_pods.mounts import make_mounts
from lifecycle.kubelet.volume.empty_dir import NotedMounter
from lifecycle.kubelet.volumemanager.volume_manager import IMAGE, MountedVolume


def pod(reference: str, **mount: str) -> Object:
    container = {"name": "c", "image": "nginx:1.27", "volumeMounts": [{"name": "v", "mountPath": "/volume", **mount}]}
    volumes = [{"name": "v", "image": {"reference": reference, "pullPolicy": "Always"}}]
    return {"metadata": {"name": "p", "uid": "u"}, "spec": {"containers": [container], "volumes": volumes}}


def mounts(**mount: str) -> list[Any]:
    obj = pod("example.com/data:1", **mount)
    volumes = {"v": MountedVolume("v", IMAGE, Path())}
    directories, mounter = PodDirectories(Path("/nowhere")), NotedMounter()
    container = obj["spec"]["containers"][0]
    return make_mounts(obj, container, volumes, directories, mounter, {"P": "sub"}, etc_hosts=False)


def test_the_runtime_is_asked_for_the_image_or_a_path_of_it_for_reading_only() -> None:
    image = {"image": "example.com/data:1", "user_specified_image": "example.com/data:1"}
    whole = {"container_path": "/volume", "image": image, "readonly": True}
    assert mounts() == [whole]
    assert mounts(subPath="a/b") == [{**whole, "image_sub_path": "a/b"}]
    assert mounts(subPathExpr="x/$(P)") == [{**whole, "image_sub_path": "x/sub"}]


def outcome(reference: str) -> tuple[Object, list[tuple[str, str]]]:
    """A pod's waiting container and its events after a minute on a hollow node."""

    async def main() -> tuple[Object, list[tuple[str, str]]]:
        cluster = Cluster(ClusterConfig(nodes=1, https=False))
        await cluster.start()
        try:
            client = cluster.client("test")
            await client.create(resource("pods"), pod(reference), "default")
            await asyncio.sleep(60)
            stored = await client.get(resource("pods"), "p", "default")
            [status] = stored["status"]["containerStatuses"]
            events = (await client.list(resource("events"), "default"))["items"]
            told = [
                (each["reason"], each["message"])
                for each in events
                if each["involvedObject"]["name"] == "p" and not each["involvedObject"].get("fieldPath")
            ]
            return status["state"]["waiting"], told
        finally:
            await cluster.stop()

    return run_virtual(main())


def test_a_pod_whose_volumes_image_cannot_be_had_waits_and_says_so() -> None:
    waiting, events = outcome("nginx:no-such-tag")
    assert waiting["reason"] in ("ErrImagePull", "ImagePullBackOff")
    assert ("Pulling", 'Pulling image "nginx:no-such-tag"') in events
    assert any(reason == "Failed" and "nginx:no-such-tag" in message for reason, message in events)
