"""Images that nobody uses go when the disk is getting full, those first that were not
used for the longest time.

Nobody tells a kubelet that an image is not needed any more. So it looks every five
minutes which images are there and which a container is made from, dead ones included,
and writes the time down. When more than the high threshold of the disk is taken, it
removes images until the low one is reached. What came a moment ago is spared: somebody
is about to start a container from it.

Upstream: `pkg/kubelet/images/image_gc_manager.go` (`realImageGCManager`),
`pkg/kubelet/kubelet.go` (`StartGarbageCollection`), v1.36. Left out: images told apart
by runtime class, the size that the runtime's tracing shows.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.services import ImageService, RuntimeService

log = logging.getLogger(__name__)

IMAGE_GC_PERIOD = 300.0
"""Seconds between two looks."""


@dataclass(slots=True, frozen=True)
class ImageGCPolicy:
    """Percent of the disk at which images go, and down to which. `min_age`: seconds for
    which a new image is spared. `max_age`: seconds after which an image that nobody
    uses goes, however much room there is; 0: never. Raises ValueError.
    """

    high_threshold_percent: int = 85
    low_threshold_percent: int = 80
    min_age: float = 120.0
    max_age: float = 0.0

    def __post_init__(self) -> None:
        for name, percent in (
            ("HighThresholdPercent", self.high_threshold_percent),
            ("LowThresholdPercent", self.low_threshold_percent),
        ):
            if not 0 <= percent <= 100:
                raise ValueError(f"invalid {name} {percent}, must be in range [0-100]")
        if self.low_threshold_percent > self.high_threshold_percent:
            raise ValueError(
                f"LowThresholdPercent {self.low_threshold_percent} can not be higher"
                f" than HighThresholdPercent {self.high_threshold_percent}"
            )

    @property
    def never(self) -> bool:
        """Whether nothing is ever removed: kind's nodes are set up like this."""
        return self.high_threshold_percent == 100 and not self.max_age


KIND_IMAGE_GC = ImageGCPolicy(high_threshold_percent=100)
"""kind's nodes share one disk with everything else on the machine, and never remove an
image.
"""


@dataclass(slots=True, frozen=True)
class FsStats:
    """Bytes of a file system."""

    available: int
    capacity: int


@dataclass(slots=True)
class ImageRecord:
    """What is remembered of an image. Never seen in use: `last_used` is minus
    infinity.
    """

    first_detected: float
    last_used: float = -math.inf
    size: int = 0
    pinned: bool = False


async def image_fs_stats(service: ImageService) -> FsStats:
    """Of the file system that holds the images. Raises RuntimeServiceError, OSError."""
    [filesystem] = await service.image_fs_info()
    found = os.statvfs(filesystem["fs_id"]["mountpoint"])
    return FsStats(found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize)


def amount_to_free(stats: FsStats, policy: ImageGCPolicy) -> int:
    """Bytes; 0 as long as the disk is not full enough."""
    if usage_percent(stats) < policy.high_threshold_percent:
        return 0
    left = stats.capacity * (100 - policy.low_threshold_percent) // 100
    return left - min(stats.available, stats.capacity)


def usage_percent(stats: FsStats) -> int:
    """Whole percents, a broken one rounded up."""
    return 100 - min(stats.available, stats.capacity) * 100 // stats.capacity


def format_size(size: int) -> str:
    """Bytes as a person reads them: `64.0 MiB`. Upstream: `formatSize`."""
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.1f} {unit}" if unit != "B" else f"{size} B"


class ImageGCManager:
    """One per node. `fs_stats()` is awaited for the room there is; `node_event` takes
    type, reason and message.
    """

    def __init__(
        self,
        runtime: RuntimeService,
        images: ImageService,
        now: Callable[[], float],
        fs_stats: Callable[[], Awaitable[FsStats]],
        node_event: Callable[[str, str, str], None],
        policy: ImageGCPolicy | None = None,
    ) -> None:
        self._runtime = runtime
        self._images = images
        self._now = now
        self._fs_stats = fs_stats
        self._node_event = node_event
        self.policy = policy or ImageGCPolicy()
        self.image_records: dict[str, ImageRecord] = {}
        self.failure = ""
        """Why the last collection was not enough; empty: it was."""

    async def detect_images(self, detect_time: float) -> set[str]:
        """Write down what is there and what is used; ids of those in use."""
        in_use = {  # not by tag: that may be another image's by now
            status.image_id or status.image_ref
            for status in await self._runtime.list_containers()
        }
        images = await self._images.list_images()
        now = self._now()
        used = set()
        for image in images:
            record = self.image_records.setdefault(image.id, ImageRecord(detect_time))
            record.size, record.pinned = image.size, image.pinned
            if in_use & {image.id, *image.repo_digests}:
                record.last_used = now
                used.add(image.id)
        for gone in self.image_records.keys() - {image.id for image in images}:
            del self.image_records[gone]
        return used

    async def images_in_eviction_order(self, free_time: float) -> list[str]:
        """Those that may go, the longest unused first."""
        used = await self.detect_images(free_time)
        records = self.image_records
        return sorted(
            (id for id in records if id not in used and not records[id].pinned),
            key=lambda id: (records[id].last_used, records[id].first_detected),
        )

    async def garbage_collect(
        self, began: float, stats: FsStats | None = None
    ) -> list[str]:
        """Remove what is too old, then what is too much; the ids. `began`: since when
        this kubelet has been looking, for nothing is called unused before that.
        `stats`: what is known of the disk; None: that is to be found out.
        """
        now, self.failure = self._now(), ""
        images = await self.images_in_eviction_order(now)
        removed = []
        if self.policy.max_age and now - began > self.policy.max_age:
            for image in [id for id in images if self._too_old(id, now)]:
                images.remove(image)
                if await self._free_image(image) is not None:
                    removed.append(image)
        stats = stats or await self._fs_stats()
        if not stats.capacity:
            self.failure = "invalid capacity 0 on image filesystem"
            self._node_event("Warning", "InvalidDiskCapacity", self.failure)
            return removed
        wanted = amount_to_free(stats, self.policy)
        freed = 0
        for image in images if wanted > 0 else ():
            if now - self.image_records[image].first_detected < self.policy.min_age:
                continue
            size = await self._free_image(image)
            if size is not None:
                removed.append(image)
                freed += size
            if freed >= wanted:
                break
        if freed < wanted:
            self.failure = (
                "Insufficient free disk space on the node's image filesystem"
                f" ({usage_percent(stats)}% of {format_size(stats.capacity)} used)."
                " Failed to free sufficient space by deleting unused images (freed"
                f" {freed} bytes). Investigate disk usage, as it could be used by"
                " active images, logs, volumes, or other data."
            )
            self._node_event("Warning", "FreeDiskSpaceFailed", self.failure)
        return removed

    def _too_old(self, image: str, now: float) -> bool:
        """One that was never seen in use is."""
        return now - self.image_records[image].last_used > self.policy.max_age

    async def _free_image(self, image: str) -> int | None:
        """Its size; None if the runtime would not remove it."""
        try:
            await self._images.remove_image(image)
        except RuntimeServiceError as error:
            log.debug("image %s not removed: %s", image, error)
            return None
        return self.image_records.pop(image).size

    async def run(self) -> None:
        """Look, and collect, until cancelled. What was there before the first look came
        at an unknown time, so it is not spared. The first collection comes before
        anybody knows how large the disk is; one that fails after another is told once
        more. Upstream: `StartGarbageCollection`.
        """
        began = self._now()
        try:
            await self.detect_images(-math.inf)
        except RuntimeServiceError as error:
            log.debug("images not looked at: %s", error)
        failed, known = False, [FsStats(0, 0)]
        while not self.policy.never:
            try:
                await self.garbage_collect(began, known.pop() if known else None)
            except (RuntimeServiceError, OSError) as error:
                self.failure = str(error)
                log.debug("images not collected: %s", error)
            if failed and self.failure:
                self._node_event("Warning", "ImageGCFailed", self.failure)
            failed = bool(self.failure)
            await asyncio.sleep(IMAGE_GC_PERIOD)
