"""A static pod's mirror: drawn when it is missing, drawn anew when somebody wants it gone, and taken away when the pod has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, cast

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.status import already_exists
from lifecycle.client.rest import Client
from lifecycle.kubelet.pod.mirror_client import MirrorClient, MirrorPods
from lifecycle.kubelet.pod.pod_manager import PodManager
from lifecycle.kubelet.types.pod_update import CONFIG_HASH, CONFIG_MIRROR

POD: Object = {
    "metadata": {"name": "static-node", "namespace": "default", "uid": "hash", "annotations": {CONFIG_HASH: "hash"}},
    "spec": {"containers": []},
}
NODE: Object = {"metadata": {"name": "node", "uid": "u"}}


class Noting:
    """A client that keeps what it was asked to do."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def create(self, row: Any, obj: Object, namespace: str = "") -> Object:
        self.asked.append(f"create {obj['metadata']['annotations'][CONFIG_MIRROR]}")
        return obj

    async def delete(self, row: Any, name: str, namespace: str = "", **options: Any) -> None:
        self.asked.append(f"delete {options['uid']}")


class Occupied(Noting):
    """Somebody has a pod of that name already."""

    def __init__(self, there: Object) -> None:
        super().__init__()
        self.there = there

    async def create(self, row: Any, obj: Object, namespace: str = "") -> Object:
        raise already_exists("pods", obj["metadata"]["name"])

    async def get(self, row: Any, name: str, namespace: str = "") -> Object:
        assert (name, namespace) == (self.there["metadata"]["name"], self.there["metadata"]["namespace"])
        return self.there


def mirror(shows: str = "hash", **meta: Any) -> Object:
    metadata = {**POD["metadata"], "uid": "m", "annotations": {CONFIG_MIRROR: shows}, **meta}
    return {**POD, "metadata": metadata}


@pytest.mark.parametrize(
    ("there", "asked"),
    [
        (None, ["create hash"]),
        (mirror(), []),
        (mirror("older"), ["delete m", "create hash"]),
        (mirror(deletionTimestamp="2026-01-01T00:00:00Z"), ["delete m", "create hash"]),
    ],
)
def test_a_mirror_is_made_to_show_the_pod_as_it_is(there: Object | None, asked: list[str]) -> None:
    async def main() -> list[str]:
        client, manager, tasks = Noting(), PodManager(), asyncio.TaskGroup()
        async with tasks:

            def start(work: Coroutine[Any, Any, None]) -> None:
                tasks.create_task(work)

            mirrors = MirrorPods(cast("Client", client), manager, lambda: NODE, start)
            if there is not None:
                manager.update_mirror_pod(there)
            mirrors.try_reconcile(POD)
        return client.asked

    assert run_virtual(main()) == asked


@pytest.mark.parametrize(
    ("there", "drawn"),
    [(mirror(), True), (mirror("older"), False), ({"metadata": {**POD["metadata"], "annotations": {}}}, False)],
)
def test_a_pod_of_the_same_name_may_be_the_picture_or_somebody_elses(there: Object, drawn: bool) -> None:
    client = MirrorClient(cast("Client", Occupied(there)), NODE)
    assert run_virtual(client.create_mirror_pod(POD)) is drawn
