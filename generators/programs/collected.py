"""Which images a kubelet removes when it begins on a disk that is rather full."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from generators.programs.admitted import pod
from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.control_plane import Server
from generators.programs.node import RealNode
from lifecycle.agreements.kubelet.image_collection import after, furnished

WHO = "kubelet v1.36.2"
Object = dict[str, Any]
MIB = 1 << 20
DISK = 64
"""MiB."""
LOOKS = 320.0
"""Seconds in which each kubelet has looked at its disk."""
EVENTS = "/api/v1/namespaces/default/events"
TEN = [4] * 10


def disk(
    sizes: list[int],
    other: int,
    high: int = 85,
    low: int = 80,
    used: str = "",
    ended: str = "",
    pinned: str = "",
) -> Object:
    """Images `a`, `b`, … of so many MiB, and so many MiB of other things. `used`, and
    of these `ended`: from which a container was made; `pinned`: what the runtime needs.
    """

    def names(letters: str) -> list[str]:
        return [f"{letter}.example/{letter}:1" for letter in letters]

    letters = "abcdefghijkl"[: len(sizes)]
    return {
        "images": dict(zip(names(letters), [s * MIB for s in sizes], strict=True)),
        "other": other * MIB,
        "settings": {
            "imageGCHighThresholdPercent": high,
            "imageGCLowThresholdPercent": low,
        },
        "used": names(used),
        "ended": names(ended),
        "pinned": names(pinned),
    }


DISKS: tuple[tuple[str, Object], ...] = (
    ("below the mark", disk(TEN, 10)),
    ("above the mark", disk(TEN, 16)),
    ("one mark just below the other", disk(TEN, 16, 85, 84)),
    ("exactly at the mark", disk([4] * 4, 32, 75, 50)),
    ("one less", disk([4] * 4, 31, 75, 50)),
    ("a high one is no mark at all", disk(TEN, 20, 100, 50)),
    ("a low one is none either", disk([4] * 4, 8, 10, 0)),
    ("some are used", disk([4] * 6, 32, 50, 10, used="abc", ended="c")),
    ("some are pinned", disk([4] * 6, 32, 50, 10, pinned="de")),
    ("used and pinned", disk([4] * 6, 32, 50, 10, used="ab", ended="a", pinned="bc")),
    ("all are used", disk([8] * 4, 28, used="abcd", ended="ab")),
    ("no images", disk([], 60)),
    ("one large one", disk([40], 16)),
    ("full to the brim", disk(TEN, 24)),
)


def answers(server: Server, programs: Path) -> Iterator[Answer]:
    """All of it: so many kubelets at once, each of which looks when it begins, before
    it knows anything of its disk, and then after five minutes.
    """
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(_node(server, programs, f"node-{number}", wanted))
            for number, (_, wanted) in enumerate(DISKS)
        ]
        path = namespace(server.admin, "collected")
        for (_, wanted), node in zip(DISKS, nodes, strict=True):
            for image in wanted["used"]:
                node.create(path, _user(node.name, image, image in wanted["ended"]))
        time.sleep(LOOKS)
        events = server.admin("GET", EVENTS).body["items"]
        for (what, wanted), node in zip(DISKS, nodes, strict=True):
            removed = sum(call[0] == "remove image" for call in node.runtime.calls)
            said = [
                event["message"]
                for event in events
                if event["reason"] == "FreeDiskSpaceFailed"
                and event["involvedObject"]["name"] == node.name
                for _ in range(event["count"])
            ]
            yield Answer(
                f"collected/{what}",
                WHO,
                "a kubelet on a node with images on a disk of 64 MiB: how many it has"
                " removed after five minutes, what is left, and what it says",
                {**wanted, "after": after(removed, node.runtime, wanted, said)},
            )


def _node(server: Server, programs: Path, name: str, wanted: Object) -> RealNode:
    async def prepare(runtime: Any) -> None:
        runtime.images = furnished(wanted)
        assert runtime.disk is not None
        for image in runtime.images.list_images():
            _fill(runtime.disk / image.id.replace(":", "-"), image.size)
        _fill(runtime.disk / "other", wanted["other"])
        room = os.statvfs(runtime.disk)
        wanted["capacity"] = room.f_blocks * room.f_frsize
        wanted["available"] = room.f_bavail * room.f_frsize

    settings = wanted["settings"]
    return RealNode(server, programs, settings, name=name, disk=DISK, furnish=prepare)


def _user(node: str, image: str, ended: bool) -> Object:
    """A pod of an image, which may be over."""
    container = {"image": image, "command": ["true"] if ended else ["sleep", "9000"]}
    made = pod(f"{node}-{image[0]}", container, restartPolicy="Never")
    made["spec"]["nodeName"] = node
    return made


def _fill(path: Path, size: int) -> None:
    path.write_bytes(bytes(size))
