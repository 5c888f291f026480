"""What a kubelet throws away, held against a real one: which images go when a disk is
too full, and what is said if that was not enough.

Behind both stands the same runtime, with images of chosen sizes on a small file system
of their own, which other things fill up to a chosen mark. Of several images that nobody
has ever used, which goes first is anybody's guess; how many go is not.
"""

from __future__ import annotations

from typing import Any

from lifecycle.agreements.asked_programs import asked
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
    IMAGE_GC_PERIOD,
    FsStats,
    ImageGCManager,
    ImageGCPolicy,
)

SLEEPS = ("sleep", "9000")
MARKS = {
    "imageGCHighThresholdPercent": "high_threshold_percent",
    "imageGCLowThresholdPercent": "low_threshold_percent",
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


def furnished(disk: Object) -> HollowImages:
    """The images of a disk."""
    return HollowImages(
        Image(digest_of(name), (name,), (), size, pinned=name in disk["pinned"])
        for name, size in disk["images"].items()
    )


async def _use(runtime: WitnessRuntime, disk: Object) -> None:
    """Containers that were made of some of the images."""
    for name in disk["used"]:
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
    events: list[str] = []
    removed: list[str] = []

    async def stats() -> FsStats:
        return FsStats(disk["available"], disk["capacity"])

    settings = {MARKS[key]: value for key, value in disk["settings"].items()}
    manager = ImageGCManager(
        runtime,
        runtime,
        lambda: IMAGE_GC_PERIOD,
        stats,
        lambda kind, reason, message: events.append(message),
        ImageGCPolicy(**settings),
    )
    await manager.detect_images(float("-inf"))
    if not manager.policy.never:
        removed = await manager.garbage_collect(0.0)
    return after(len(removed), runtime, disk, events)


def after(removed: int, runtime: Any, disk: Object, events: list[str]) -> Object:
    """How many were removed; which are left that had to be, or all if nothing else is;
    what was said, each time that it was.
    """
    left = {name for each in runtime.images.list_images() for name in each.repo_tags}
    kept = {*disk["used"], *disk["pinned"]}
    return {
        "removed": removed,
        "spared": sorted(left & kept),
        "others left": len(left - kept),
        "said": sorted(events),
    }
