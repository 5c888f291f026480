"""Which images go when the disk is filling?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from types import SimpleNamespace
from typing import Any, cast

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.cri.apis.image import Image
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.kubelet.images.image_gc_manager import (
    FsStats,
    ImageGCManager,
    ImageGCPolicy,
    ImageRecord,
)

CONTRACT = """\
images_to_remove(images, disk, policy, now) -> names of images, in the order in which
they are removed.

images: [{"name", "size", "detected", "last_used", "in_use", "pinned"}, …]: sizes are
        bytes, times are seconds; "last_used" is None for one that was never seen in
        use.
disk:   {"capacity", "available"}, in bytes.
policy: {"high", "low", "min_age"}: percents of the disk that are taken, and seconds.
now:    seconds.

Nothing goes while less than high percent are taken; whole percents are compared:
100 - (what is available of the disk, rounded down to a percent). Else images go until
enough is free that only low percent are taken, counted in bytes, whole ones. The
longest unused go first, those that were never used before all others; of equals the
one that was detected first. What is in use or pinned stays, and so does what was
detected less than min_age seconds ago."""

STARTER = '''\
def images_to_remove(images, disk, policy, now):
    """What goes, in order."""
    taken = 100 * (disk["capacity"] - disk["available"]) / disk["capacity"]
    if taken < policy["high"]:
        return []
    return [image["name"] for image in images if not image["in_use"]]
'''

NOW = 100_000.0
SEEDS = 12
GB = 10**9
LEVELS = {
    "room enough": (30.0, 60.0),
    "near the mark": (82.0, 88.0),
    "filling": (86.0, 95.0),
    "nearly full": (97.0, 99.9),
}
"""Percents of the disk that are taken, from and to."""


def cases() -> Iterator[Case]:
    """Shelves of images on disks that are more or less full."""
    for level, (least, most) in LEVELS.items():
        for seed in range(SEEDS):
            dice = Random(f"{level} {seed}")
            capacity = dice.randint(80, 120) * GB + dice.randrange(1000)
            available = int(capacity * (100 - dice.uniform(least, most)) / 100)
            disk = {"capacity": capacity, "available": available}
            policy = {"high": 85, "low": dice.choice((80, 84, 60)), "min_age": 120}
            images = [_image(dice, number) for number in range(8)]
            yield _case(level, f"disk {seed}", images, disk, policy)
    for percent in (84, 85, 86):
        for more in (-1, 0, 1):
            disk = {"capacity": 100, "available": 100 - percent}
            disk = {name: GB * value for name, value in disk.items()}
            disk["available"] += more
            images = [
                {**_image(Random(7), number), "in_use": False, "detected": 0.0}
                for number in range(4)
            ]
            policy = {"high": 85, "low": 80, "min_age": 120}
            label = f"{percent} percent and {-more} bytes"
            yield _case("on the mark", label, images, disk, policy)


def _image(dice: Random, number: int) -> Object:
    detected = float(dice.choice((0, 50_000, 90_000, NOW - 121, NOW - 120, NOW - 60)))
    used = dice.choice((None, detected + 10, 95_000.0, NOW - 5))
    return {
        "name": f"nginx:1.{number}",
        "size": dice.randint(1, 6) * GB,
        "detected": detected,
        "last_used": used,
        "in_use": dice.random() < 0.25,
        "pinned": dice.random() < 0.1,
    }


def _case(
    group: str, label: str, images: list[Object], disk: Object, policy: Object
) -> Case:
    return Case(
        group,
        label,
        images_to_remove(images, disk, policy, NOW),
        lambda attempt: attempt(images, disk, policy, NOW),
        [images, disk, policy],
    )


def images_to_remove(
    images: list[Object], disk: Object, policy: Object, now: float
) -> list[str]:
    """The book's own manager, with a runtime that has these images."""
    scene = _Scene(images, disk)
    manager = ImageGCManager(
        cast(Any, scene),
        cast(Any, scene),
        lambda: now,
        scene.stats,
        lambda *_: None,
        ImageGCPolicy(policy["high"], policy["low"], float(policy["min_age"])),
    )
    for each in images:
        used = each["last_used"]
        record = ImageRecord(each["detected"], -math.inf if used is None else used)
        manager.image_records[each["name"]] = record
    return run_virtual(manager.garbage_collect(0.0))


class _Scene:
    """A runtime, an image store and a disk."""

    def __init__(self, images: list[Object], disk: Object) -> None:
        self.images, self.disk = images, disk

    async def list_containers(self) -> list[Any]:
        """See `RuntimeService`."""
        used = [each["name"] for each in self.images if each["in_use"]]
        return [SimpleNamespace(image_id=n, image_ref=n, image=n) for n in used]

    async def list_images(self) -> list[Image]:
        """See `ImageService`."""
        return [
            Image(
                each["name"], (each["name"],), (), each["size"], pinned=each["pinned"]
            )
            for each in self.images
        ]

    async def remove_image(self, name: str) -> None:
        """See `ImageService`."""

    async def stats(self) -> FsStats:
        """See `image_fs_stats`."""
        return FsStats(self.disk["available"], self.disk["capacity"])


def ours() -> Attempt:
    """The book's."""
    return images_to_remove


EXERCISE = Exercise(
    "image-gc",
    "Which images go",
    CONTRACT,
    STARTER,
    "the book's own kubelet",
    cases,
    ours,
    ("garbage-collection",),
)
