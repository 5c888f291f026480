"""What a kubelet throws away, held against a real one: which images go when a disk is
too full, and what is said if that was not enough.

Behind both stands the same runtime, with images of chosen sizes on a small file system
of their own, which other things fill up to a chosen mark. Of several images that nobody
has ever used, which goes first is anybody's guess; how many go is not.
"""

from __future__ import annotations

import asyncio
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.api.go.duration import parse_duration
from lifecycle.api.http.wire import Object
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cluster.witness_runtime import POD_NAME, WitnessRuntime
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.cri.apis.container import ContainerConfig, ContainerMetadata
from lifecycle.cri.apis.image import Image
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxMetadata
from lifecycle.cri.hollow.images import HollowImages, digest_of
from lifecycle.kubelet.images.image_gc_manager import (
    FsStats,
    ImageGCManager,
    ImageGCPolicy,
)

LOOKS = 320.0
"""Seconds in which each kubelet has looked at its disk."""
ARRIVES = 60.0
"""Seconds after which those who had a container have none, and others come."""
TOLD = ("FreeDiskSpaceFailed", "ImageGCFailed", "InvalidDiskCapacity")
REASONS = ("used", "pinned", "formerly", "arrives")
SLEEPS = ("sleep", "9000")
MARKS = {
    "imageGCHighThresholdPercent": "high_threshold_percent",
    "imageGCLowThresholdPercent": "low_threshold_percent",
    "imageMinimumGCAge": "min_age",
    "imageMaximumGCAge": "max_age",
}


def image_collection_agreement(
    programs: ProgramAnswers | None = None,
) -> AgreementTable:
    """A row for each disk. `programs`: what the real one did; None: as recorded."""
    disks = asked(programs, "collected")
    table = AgreementTable(
        "Image garbage collection",
        "lifecycle",
        f"{disks[0].program}, asked directly",
        lambda table: (
            f"{len(disks)} disks with images on them, more or less full. How many"
            " images a real kubelet removes and ours does, which it spares, and what it"
            f" says if that was not enough: {table.outcome('answers')}."
        ),
    )
    for each in disks:
        theirs = each.answer["after"]
        mine = on_virtual_time(_collect(each.answer))
        what = each.question.partition("/")[2]
        table.add("images", what, _short(mine), _short(theirs), compare(mine, theirs))
    return table


def _short(after: Object) -> str:
    return f"{after['removed']} removed, {len(after['spared'])} left"


def furnished(disk: Object, *, arrived: bool = False) -> HollowImages:
    """The images of a disk, with those that come later or without."""
    return HollowImages(
        Image(digest_of(name), (name,), (), size, pinned=name in disk["pinned"])
        for name, size in disk["images"].items()
        if arrived or name not in disk["arrives"]
    )


async def _use(runtime: WitnessRuntime, disk: Object) -> None:
    """Containers that were made of some of the images."""
    for name in (*disk["used"], *disk["formerly"]):
        meta = PodSandboxMetadata(f"of-{name.partition(':')[0]}", name, "default")
        sandbox = await runtime.run_pod_sandbox(PodSandboxConfig(meta, hostname="h"))
        labels = {POD_NAME: meta.name, "io.kubernetes.pod.uid": meta.uid}
        container_meta = ContainerMetadata("c")
        config = ContainerConfig(container_meta, name, SLEEPS, labels=labels)
        container = await runtime.create_container(sandbox, config)
        await runtime.start_container(container)
        if name in disk["ended"]:
            await runtime.stop_container(container, 0)


async def _collect(disk: Object) -> Object:
    runtime = WitnessRuntime()
    await runtime.update_runtime_config("10.244.1.0/24")
    runtime.images = furnished(disk)
    await _use(runtime, disk)
    loop, events = asyncio.get_running_loop(), list[str]()

    async def stats() -> FsStats:
        return FsStats(disk["available"], disk["capacity"])

    settings: dict[str, Any] = {
        MARKS[key]: parse_duration(value) if isinstance(value, str) else value
        for key, value in disk["settings"].items()
    }
    manager = ImageGCManager(
        runtime,
        runtime,
        loop.time,
        stats,
        lambda kind, reason, message: events.append(f"{kind} {reason}: {message}"),
        ImageGCPolicy(**settings),
    )
    task = asyncio.create_task(manager.run())
    await asyncio.sleep(ARRIVES)
    for each in await runtime.list_containers():
        if each.image in disk["formerly"]:
            await runtime.stop_container(each.id, 0)
            await runtime.remove_container(each.id)
    runtime.images = furnished(disk, arrived=True)
    events.clear()  # of the first look, when nobody knows the disk, nothing is compared
    await asyncio.sleep(LOOKS - ARRIVES)
    task.cancel()
    removed = sum(call[0] == "remove image" for call in runtime.calls)
    return after(removed, runtime, disk, events)


def after(removed: int, runtime: Any, disk: Object, events: list[str]) -> Object:
    """How many were removed; which are left of those that anybody had a reason to
    spare, and how many others; what was said, each time that it was.
    """
    left = {name for each in runtime.images.list_images() for name in each.repo_tags}
    kept = {each for why in REASONS for each in disk[why]}
    return {
        "removed": removed,
        "spared": sorted(left & kept),
        "others left": len(left - kept),
        "said": sorted(events),
    }
