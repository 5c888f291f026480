"""Going back on the server's side, and which ReplicaSets are kept to go back to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.controllers.small_cluster import DEPLOYMENTS, REPLICA_SETS, SmallCluster, deployment, small_cluster

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual

REVISION = "deployment.kubernetes.io/revision"
WISH = "deprecated.deployment.rollback.to"


def after_images(*images: str, then: Callable[[SmallCluster], Awaitable[None]], **spec: Any) -> None:
    """A Deployment that had these images one after the other, each with a change cause."""

    async def main() -> None:
        async with small_cluster() as cluster:
            await cluster.client.create(DEPLOYMENTS, deployment(1, images[0], **spec), "ns")
            for number, image in enumerate(images):
                await annotate(cluster, {"cause": f"change {number}"})
                await cluster.set_image(image)
                await asyncio.sleep(20)
            await then(cluster)

    run_virtual(main())


async def annotate(cluster: SmallCluster, annotations: dict[str, str]) -> None:
    await cluster.client.patch(DEPLOYMENTS, "nginx", "ns", {"metadata": {"annotations": annotations}})


async def current(cluster: SmallCluster) -> Object:
    return await cluster.client.get(DEPLOYMENTS, "nginx", "ns")


def image_of(obj: Object) -> str:
    return str(obj["spec"]["template"]["spec"]["containers"][0]["image"])


@pytest.mark.parametrize(("wish", "image", "number"), [("0", "nginx:2", 2), ("1", "nginx:1", 1)])
def test_the_wish_is_granted_and_taken_away(wish: str, image: str, number: int) -> None:
    async def then(cluster: SmallCluster) -> None:
        await annotate(cluster, {WISH: wish})
        await asyncio.sleep(20)
        now = await current(cluster)
        annotations = now["metadata"]["annotations"]
        assert image_of(now) == image
        assert (annotations[REVISION], annotations["cause"]) == ("4", f"change {number - 1}")
        assert WISH not in annotations
        assert "pod-template-hash" not in now["spec"]["template"]["metadata"]["labels"]
        assert f'Rolled back deployment "nginx" to revision {number}' in await cluster.messages("nginx")

    after_images("nginx:1", "nginx:2", "nginx:3", then=then)


@pytest.mark.parametrize(
    ("images", "wish", "message"),
    [
        (("nginx:1",), "0", "Unable to find last revision."),
        (("nginx:1", "nginx:2"), "7", "Unable to find the revision to rollback to."),
        (("nginx:1", "nginx:2"), "2", 'The rollback revision contains the same template as current deployment "nginx"'),
    ],
)
def test_a_wish_that_cannot_be_granted_is_answered(images: tuple[str, ...], wish: str, message: str) -> None:
    async def then(cluster: SmallCluster) -> None:
        await annotate(cluster, {WISH: wish})
        await asyncio.sleep(5)
        now = await current(cluster)
        assert image_of(now) == images[-1]
        assert WISH not in now["metadata"]["annotations"]
        assert message in await cluster.messages("nginx")

    after_images(*images, then=then)


def test_what_is_no_number_is_no_wish() -> None:
    async def then(cluster: SmallCluster) -> None:
        await annotate(cluster, {WISH: "yesterday"})
        await asyncio.sleep(5)
        assert (await current(cluster))["metadata"]["annotations"][WISH] == "yesterday"

    after_images("nginx:1", "nginx:2", then=then)


def test_the_lowest_revisions_go_not_the_oldest_replica_sets() -> None:
    async def then(cluster: SmallCluster) -> None:
        kept = {image_of(rs): rs["metadata"]["annotations"][REVISION] for rs in await cluster.items(REPLICA_SETS)}
        assert kept == {"nginx:1": "3", "nginx:3": "4"}  # nginx:1 is the oldest, but was in use again after nginx:2

    after_images("nginx:1", "nginx:2", "nginx:1", "nginx:3", then=then, revisionHistoryLimit=1)
