"""Which images go first when a disk is full, which are in use, and what is remembered of those that are gone."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, cast

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.cri.apis.container import ContainerMetadata, ContainerState, ContainerStatus
from lifecycle.cri.apis.image import Image
from lifecycle.kubelet.images.image_gc_manager import (
    FsStats,
    ImageGCManager,
    ImageGCPolicy,
    ImageRecord,
    amount_to_free,
)

SIZE = 10


class Node:
    """A runtime, its images of ten bytes each and a disk of a hundred, nine tenths of which are taken; what is
    `wanted` of it is removed until so many bytes are free.
    """

    def __init__(self, *names: str, wanted: int = 1, **policy: Any) -> None:
        self.images = {name: Image(f"sha256:{name}", (f"{name}:1",), (f"{name}@sha256:d",), SIZE) for name in names}
        self.containers: list[ContainerStatus] = []
        self.now = 1000.0
        self.manager = ImageGCManager(
            cast(Any, self), cast(Any, self), lambda: self.now, self.stats, lambda *_: None,
            ImageGCPolicy(90, 90 - wanted, **policy),
        )  # fmt: skip

    def records(self) -> dict[str, ImageRecord]:
        return {id.removeprefix("sha256:"): each for id, each in self.manager.image_records.items()}

    def use(self, **names: str) -> None:
        """A container that tells of its image like this."""
        told = {"image": "", "image_ref": "", **names}
        self.containers.append(
            ContainerStatus("c", "s", ContainerMetadata("c"), ContainerState.EXITED, created_at=0, **cast(Any, told))
        )

    async def stats(self) -> FsStats:
        return FsStats(10, 100)

    async def list_containers(self) -> list[ContainerStatus]:
        return self.containers

    async def list_images(self) -> list[Image]:
        return list(self.images.values())

    async def remove_image(self, id: str) -> None:
        del self.images[id.removeprefix("sha256:")]

    def collected(self) -> list[str]:
        return [id.removeprefix("sha256:") for id in run_virtual(self.manager.garbage_collect(0.0))]

    def look(self) -> set[str]:
        return {id.removeprefix("sha256:") for id in run_virtual(self.manager.detect_images(self.now))}


NEVER = -math.inf
ORDERS: dict[str, tuple[dict[str, tuple[float, float]], str]] = {
    "known longest, used last": ({"a": (1, 500), "b": (200, 300), "c": (300, 400)}, "bca"),
    "known shortest, used first": ({"a": (300, 310), "b": (200, 320), "c": (100, 330)}, "abc"),
    "never used before used, however long known": ({"a": (1, 2), "b": (800, NEVER)}, "ba"),
    "never used: by when they came": ({"a": (3, NEVER), "b": (1, NEVER), "c": (2, NEVER)}, "bca"),
    "used at the same time: by when they came": ({"a": (3, 9), "b": (1, 9), "c": (2, 9)}, "bca"),
}


@pytest.mark.parametrize("case", ORDERS)
@pytest.mark.parametrize("many", [1, 2])
def test_those_go_first_that_were_not_used_for_the_longest_time(case: str, many: int) -> None:
    records, order = ORDERS[case]
    node = Node(*records, wanted=SIZE * many - 1)
    node.look()
    for name, (first_detected, last_used) in records.items():
        node.records()[name].first_detected, node.records()[name].last_used = first_detected, last_used
    assert node.collected() == list(order[:many])


def test_what_is_in_use_was_used_until_now_and_is_the_last_to_go_afterwards() -> None:
    node = Node("a", "b", wanted=1)
    node.use(image_id="sha256:a")
    node.look()
    node.now += 300
    assert node.look() == {"a"}
    node.containers.clear()
    assert {name: (each.first_detected, each.last_used) for name, each in node.records().items()} == {
        "a": (1000.0, 1300.0),
        "b": (1000.0, NEVER),
    }
    node.now += 300
    assert [node.collected(), node.collected()] == [["b"], ["a"]]


USES = {
    "its id": ({"image_id": "sha256:a", "image_ref": "a@sha256:d", "image": "a:1"}, "a"),
    "its id as what was run": ({"image_ref": "sha256:a"}, "a"),
    "its id, whatever else is said of what was run": ({"image_id": "sha256:a", "image_ref": "b@sha256:d"}, "a"),
    "its digest, where no id is told": ({"image_ref": "a@sha256:d"}, "a"),
    "its tag, which may be another's by now": ({"image_id": "sha256:old", "image_ref": "old", "image": "a:1"}, ""),
    "its tag, where nothing else is told": ({"image_ref": "a:1", "image": "a:1"}, ""),
    "another's": ({"image_id": "sha256:b"}, "b"),
    "one that is not there": ({"image_id": "sha256:c", "image_ref": "c@sha256:d"}, ""),
}


@pytest.mark.parametrize("case", USES)
def test_a_container_uses_an_image_by(case: str) -> None:
    told, used = USES[case]
    node = Node("a", "b", wanted=2 * SIZE)
    node.use(**told)
    node.now = 0.0
    assert node.look() == set(used)
    node.now += 1000
    assert sorted(node.collected()) == sorted({"a", "b"} - set(used))


@pytest.mark.parametrize("seen_without", [True, False])
def test_one_that_was_removed_and_pulled_again_is_new(seen_without: bool) -> None:
    """If anybody looked in between: who did not look cannot know."""
    node = Node("a", "b", wanted=SIZE)
    node.look()
    node.now += 1000
    gone = node.images.pop("a")
    if seen_without:
        node.look()
    node.images["a"] = replace(gone, size=7)
    node.look()
    assert node.records()["a"] == ImageRecord(2000.0 if seen_without else 1000.0, NEVER, 7)
    node.images["b"] = replace(node.images["b"], pinned=True)
    assert node.collected() == ([] if seen_without else ["a"])


def test_one_that_it_has_removed_itself_is_new_when_it_comes_again() -> None:
    node = Node("a", wanted=1)
    node.look()
    node.now += 1000
    again = node.images["a"]
    assert (node.collected(), node.records()) == (["a"], {})
    node.images["a"] = again
    assert node.collected() == [], "it came a moment ago"
    node.now += 120
    assert node.collected() == ["a"]


def test_who_begins_to_look_does_not_spare_what_was_there_before() -> None:
    node = Node("a")
    assert node.collected() == [], "seen for the first time"
    node = Node("a")
    run_virtual(node.manager.detect_images(NEVER))
    assert node.collected() == ["a"]


def test_when_one_came_is_what_it_is_told_and_when_one_was_used_is_now() -> None:
    node = Node("a", "b")
    node.use(image_id="sha256:a")
    run_virtual(node.manager.detect_images(NEVER))
    assert node.records() == {"a": ImageRecord(NEVER, 1000.0, SIZE), "b": ImageRecord(NEVER, NEVER, SIZE)}


ROOM = [
    # from which percent on, down to which, available of a thousand, to be freed
    (85, 80, 1000, 0), (85, 80, 160, 0), (85, 80, 159, 41), (85, 80, 150, 50), (85, 80, 149, 51), (85, 80, 0, 200),
    (85, 85, 160, 0), (85, 85, 150, 0), (85, 85, 149, 1), (85, 0, 100, 900), (100, 80, 10, 0), (100, 80, 9, 191),
    (100, 80, 0, 200), (0, 0, 1000, 0), (0, 0, 400, 600), (1, 0, 1000, 0), (1, 0, 999, 1), (1, 0, 990, 10),
    # more than there can be, as some file systems say: all of it is free, and no more
    (85, 80, 1200, 0), (0, 0, 1200, 0), (0, 0, 5000, 0),
]  # fmt: skip


@pytest.mark.parametrize(("high", "low", "available", "bytes_"), ROOM)
def test_so_much_has_to_go_as_is_missing_once_a_broken_percent_of_it_is_too_much(
    high: int, low: int, available: int, bytes_: int
) -> None:
    assert amount_to_free(FsStats(available, 1000), ImageGCPolicy(high, low)) == bytes_
