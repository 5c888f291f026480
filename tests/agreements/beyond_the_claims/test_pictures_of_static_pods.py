"""Pods that nobody asked the API server for: what it gets to see of them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.one_node import NODE, OneNode, on_one_node

PODS = resource("pods")
NAME = f"web-{NODE}"
MANIFEST = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "c", "image": "nginx:1.27"}]},
}


async def _seen(node: OneNode) -> list[tuple[str, str, int]]:
    """Name, phase and age of the pods that the API server knows, and how many
    containers run, all told.
    """
    items: list[Object] = (await node.admin.list(PODS, "default"))["items"]
    running = len(await node.runtime.list_containers())
    return [(pod["metadata"]["name"], pod["status"]["phase"], running) for pod in items]


def a_picture_and_no_more() -> bool:
    """A manifest in a folder of the node: its pod runs, and there is a picture of it.
    Who takes the picture away ends nothing, and there is another one; without the
    manifest both are gone.
    """

    async def scene(node: OneNode) -> bool:
        await asyncio.sleep(60)
        first = await _seen(node)
        before = (await node.pod(NAME))["metadata"]
        await node.admin.delete(PODS, NAME, "default", grace_period=0)
        await asyncio.sleep(60)
        again = await _seen(node)
        after = (await node.pod(NAME))["metadata"]
        withdraw()
        await asyncio.sleep(120)
        return (
            first == again == [(NAME, "Running", 1)]
            and before["uid"] != after["uid"]
            and before["ownerReferences"][0]["kind"] == "Node"
            and await _seen(node) == []
            and not await node.runtime.list_containers()
        )

    with TemporaryDirectory() as folder:
        manifest = Path(folder, "web.json")
        manifest.write_text(json.dumps(MANIFEST))
        withdraw = manifest.unlink
        return on_one_node(scene, static_pod_path=Path(folder))


def test_the_api_server_has_a_picture_of_a_static_pod_and_no_more() -> None:
    assert a_picture_and_no_more()
