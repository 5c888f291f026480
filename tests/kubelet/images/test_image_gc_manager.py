"""Images go when the disk is full: which, in what order, how many, and what is said if it does not help."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.cri.apis.container import ContainerConfig, ContainerMetadata
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.image import Image
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxMetadata
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.kubelet.images.image_gc_manager import (
    KIND_IMAGE_GC,
    FsStats,
    ImageGCManager,
    ImageGCPolicy,
    amount_to_free,
)

DAY = 86400.0


class Node:
    """A runtime with images of 10 bytes each, on a disk of 100."""

    def __init__(self, policy: ImageGCPolicy, *, others: int = 0) -> None:
        self.runtime, self.clock, self.others = HollowRuntime(), Clock(), others
        self.images: dict[str, Image] = {}
        self.said: list[tuple[str, str, str]] = []
        self.stuck: set[str] = set()
        self.manager = ImageGCManager(
            self.runtime,
            self,
            self.clock.now,
            self.stats,
            lambda *e: self.said.append(e),
            policy,  # type: ignore[arg-type]
        )

    def add(self, *names: str, size: int = 10, pinned: bool = False) -> None:
        for name in names:
            self.images[name] = Image(name, (f"{name}:1",), (), size, pinned=pinned)

    async def stats(self) -> FsStats:
        return FsStats(100 - self.others - sum(image.size for image in self.images.values()), 100)

    async def list_images(self) -> list[Image]:
        return list(self.images.values())

    async def remove_image(self, name: str) -> None:
        if name in self.stuck:
            raise RuntimeServiceError("in use by something else")
        del self.images[name]

    async def use(self, image: str) -> tuple[str, str]:
        """A container that is made from it; both ids."""
        await self.runtime.update_runtime_config("10.244.0.0/24")
        sandbox = await self.runtime.run_pod_sandbox(PodSandboxConfig(PodSandboxMetadata(image, image, "n")))
        await self.runtime.pull_image(image)
        container = await self.runtime.create_container(sandbox, ContainerConfig(ContainerMetadata("c"), image, ()))
        image_id = (await self.runtime.container_status(container)).image_id
        self.add(image_id)
        return container, image_id


def later(node: Node, seconds: float) -> None:
    """As if that long ago."""
    for record in node.manager.image_records.values():
        record.first_detected -= seconds
        record.last_used -= seconds


@pytest.mark.parametrize(
    ("available", "wanted"), [(100, 0), (16, 0), (15, 5), (0, 20), (120, 0)], ids=["empty", "84", "85", "full", "odd"]
)
def test_from_the_high_threshold_on_the_disk_is_emptied_to_the_low_one(available: int, wanted: int) -> None:
    assert amount_to_free(FsStats(available, 100), ImageGCPolicy()) == wanted


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"high_threshold_percent": 101}, r"invalid HighThresholdPercent 101, must be in range \[0-100\]"),
        ({"low_threshold_percent": -1}, r"invalid LowThresholdPercent -1, must be in range \[0-100\]"),
        ({"low_threshold_percent": 90}, "LowThresholdPercent 90 can not be higher than HighThresholdPercent 85"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(policy: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"{message}$"):
        ImageGCPolicy(**policy)


def test_the_longest_unused_go_first_and_no_more_than_needed() -> None:
    async def main() -> tuple[list[str], set[str]]:
        node = Node(ImageGCPolicy(), others=45)
        node.add("a", "b", "c", "d")
        await node.manager.detect_images(node.clock.now())
        later(node, DAY)
        records = node.manager.image_records
        records["a"].last_used, records["b"].last_used, records["c"].last_used = 30.0, 10.0, 20.0
        return await node.manager.garbage_collect(node.clock.now()), set(node.images)

    assert run_virtual(main()) == (["d"], {"a", "b", "c"})  # 85 percent: five bytes were enough


def test_what_a_container_is_made_from_stays_even_if_the_container_is_dead_and_so_does_what_is_pinned() -> None:
    async def main() -> tuple[list[str], bool]:
        node = Node(ImageGCPolicy(), others=70)
        node.add("unused")
        node.add("pause", pinned=True)
        container, image = await node.use("busybox")
        await node.manager.detect_images(-math.inf)
        await node.runtime.start_container(container)
        await node.runtime.stop_container(container, 0)
        removed = await node.manager.garbage_collect(node.clock.now())
        return removed, set(node.images) == {image, "pause"}

    assert run_virtual(main()) == (["unused"], True)


def test_what_came_a_moment_ago_is_spared_and_the_node_says_that_it_did_not_help() -> None:
    async def main() -> tuple[list[str], list[tuple[str, str, str]]]:
        node = Node(ImageGCPolicy(), others=80)
        node.add("new")
        return await node.manager.garbage_collect(node.clock.now()), node.said

    removed, said = run_virtual(main())
    assert removed == []
    assert said == [
        (
            "Warning",
            "FreeDiskSpaceFailed",
            "Insufficient free disk space on the node's image filesystem (90% of 100 B used). Failed to free sufficient"
            " space by deleting unused images (freed 0 bytes). Investigate disk usage, as it could be used by active"
            " images, logs, volumes, or other data.",
        )
    ]


def test_an_image_that_cannot_be_removed_does_not_hold_up_the_others() -> None:
    async def main() -> list[str]:
        node = Node(ImageGCPolicy(), others=70)
        node.add("a", "b")
        node.stuck = {"a"}
        await node.manager.detect_images(-math.inf)
        return await node.manager.garbage_collect(node.clock.now())

    assert run_virtual(main()) == ["b"]


def test_a_disk_without_size_is_told_and_nothing_goes() -> None:
    async def main() -> tuple[list[str], list[tuple[str, str, str]]]:
        node = Node(ImageGCPolicy())
        node.add("a")

        async def nothing() -> FsStats:
            return FsStats(0, 0)

        node.manager._fs_stats = nothing
        return await node.manager.garbage_collect(0.0), node.said

    assert run_virtual(main()) == ([], [("Warning", "InvalidDiskCapacity", "invalid capacity 0 on image filesystem")])


def test_with_a_maximum_age_the_unused_go_whatever_room_there_is_but_not_before_the_kubelet_has_looked_that_long() -> (
    None
):
    async def main() -> tuple[list[str], list[str]]:
        node = Node(ImageGCPolicy(max_age=DAY))
        node.add("old", "young")
        now = node.clock.now()
        await node.manager.detect_images(now)
        records = node.manager.image_records
        records["old"].last_used, records["young"].last_used = now - 2 * DAY, now - DAY / 2
        return await node.manager.garbage_collect(now - DAY / 2), await node.manager.garbage_collect(now - 2 * DAY)

    assert run_virtual(main()) == ([], ["old"])


def test_what_somebody_else_removed_is_forgotten() -> None:
    async def main() -> set[str]:
        node = Node(ImageGCPolicy())
        node.add("a", "b")
        await node.manager.detect_images(0.0)
        del node.images["a"]
        await node.manager.detect_images(0.0)
        return set(node.manager.image_records)

    assert run_virtual(main()) == {"b"}


def test_a_kubelet_looks_every_five_minutes_and_what_it_found_at_its_start_is_not_spared() -> None:
    async def main() -> tuple[set[str], set[str]]:
        node = Node(ImageGCPolicy(), others=70)
        node.add("a", "b")
        loop = asyncio.create_task(node.manager.run())
        await asyncio.sleep(299)
        before = set(node.images)
        await asyncio.sleep(2)
        loop.cancel()
        return before, set(node.images)

    assert run_virtual(main()) == ({"a", "b"}, {"b"})


def test_kinds_nodes_never_remove_an_image() -> None:
    assert KIND_IMAGE_GC.never
    assert not ImageGCPolicy().never
    assert not ImageGCPolicy(high_threshold_percent=100, max_age=1).never
