"""Volumes held against a real kubelet: what lies in a volume's directory, what is a
`tmpfs`, and what is told if a volume cannot be mounted.

Each pod has one volume. Then some objects change, and the same directories are looked
at once more.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.agreements.kubelet.node_admission import EVICTION_HARD
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.kubelet.eviction.thresholds import parse_thresholds
from lifecycle.kubelet.volume.empty_dir import NotedMounter

VOLUME = "v"
STARTED = 3.0
CHANGED = 150.0
"""Seconds in which a kubelet looks at every pod again."""
TOKEN = "eyJ"
"""A token of a service account begins so."""
TIME = re.compile(r"\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+")


def volume_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each pod, before and after the change. `programs`: what the real one
    did; None: as recorded.
    """
    [scene] = asked(programs, "mounted")
    table = AgreementTable(
        "Volumes",
        "lifecycle",
        f"{scene.program}, asked directly",
        lambda table: (
            f"{len(scene.answer['pods'])} pods, each with a volume of another sort:"
            " which files and links a real kubelet and ours make of it, with which"
            " modes, what of it changes later, and what is told if it cannot be had:"
            f" {table.outcome('answers')}."
        ),
    )
    ours = our_volumes(scene.answer)
    for when in ("before", "after"):
        for name, theirs in scene.answer[when].items():
            mine = ours[when].get(name, {})
            table.add(when, name, _short(mine), _short(theirs), compare(mine, theirs))
    return table


def _short(answer: Object) -> str:
    if answer.get("told"):
        return str(answer["told"][0]).partition(" : ")[2]
    kinds = [entry[0] for entry in answer.get("entries", {}).values()]
    counts = [(kind, kinds.count(kind)) for kind in ("directory", "file", "link")]
    words = [f"{count} × {kind}" for kind, count in counts if count]
    return ", ".join(words) or "an empty directory"


def our_volumes(scene: Object) -> Object:
    """What our kubelet makes of them."""
    mounter = NotedMounter()

    async def play(node: OneNode) -> Object:
        for plural, obj in scene["objects"]:
            await node.admin.create(resource(plural), obj, "default")
        for pod in scene["pods"]:
            await node.admin.create(resource("pods"), pod, "default")
        await asyncio.sleep(STARTED)
        before = await _seen(node, mounter, scene["pods"])
        for plural, name, patch in scene["changes"]:
            await node.admin.patch(resource(plural), name, "default", patch)
        await asyncio.sleep(CHANGED)
        everything = await _seen(node, mounter, scene["pods"])
        after = {name: everything[name] for name in scene["after"]}
        written_anew(before, after)
        return {"before": before, "after": after}

    seen: Object = on_one_node(
        play,
        local={"mounter": mounter},
        capacity=scene["machine"]["capacity"],
        eviction_hard=parse_thresholds(EVICTION_HARD),
        sync_frequency=60.0,
    )
    return seen


async def _seen(node: OneNode, mounter: NotedMounter, pods: list[Object]) -> Object:
    events = (await node.admin.list(resource("events"), "default"))["items"]
    sizes = {str(path): size for path, size in mounter.tmpfs.items()}
    seen = {}
    for pod in pods:
        name = pod["metadata"]["name"]
        place = node.pod_directory(await node.pod(name))
        seen[name] = look(place, sizes, told(events, name))
    return seen


def told(events: list[Object], name: str) -> list[str]:
    """What was said of mounts of a pod that failed; not that somebody waited."""
    return sorted(
        {
            event["message"]
            for event in events
            if event["involvedObject"]["name"] == name
            and event["reason"] == "FailedMount"
            and event["message"].startswith("MountVolume")
        }
    )


def written_anew(before: dict[str, Object], after: dict[str, Object]) -> None:
    """Say of each volume that was looked at twice whether it was written again; when
    it was written is nobody's business.
    """
    for name, each in after.items():
        each["written anew"] = each["stamp"] != before[name]["stamp"]
    for each in (*before.values(), *after.values()):
        del each["stamp"]


def look(pod: Path, sizes: Mapping[str, int], told: list[str]) -> Object:
    """What is in the directory of a pod's volume: kind, mode, text or target, by path;
    how large the `tmpfs` is; its stamp, when it was written. `sizes`: bytes of every
    `tmpfs` by path.
    """
    found = sorted(pod.glob(f"volumes/*/{VOLUME}")) if not told else []
    answer: Object = {"told": told, "entries": {}, "stamp": ""}
    for root in found:
        if (root / "..data").is_symlink():
            answer["stamp"] = str((root / "..data").readlink())
        answer["plugin"] = root.parent.name
        answer["mode"] = oct(root.stat().st_mode & 0o7777)
        if str(root) in sizes:
            answer["tmpfs"] = sizes[str(root)]
        for path in sorted(root.rglob("*")):
            place = TIME.sub("..TIME", str(path.relative_to(root)))
            answer["entries"][place] = _entry(path)
    return answer


def _entry(path: Path) -> list[Any]:
    if path.is_symlink():
        return ["link", TIME.sub("..TIME", str(path.readlink()))]
    mode = oct(path.lstat().st_mode & 0o7777)
    if path.is_dir():
        return ["directory", mode]
    text = path.read_bytes().decode(errors="replace")
    return ["file", mode, "a token" if text.startswith(TOKEN) else text]
