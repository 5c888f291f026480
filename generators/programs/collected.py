"""Which images a kubelet removes when it begins on a disk that is rather full."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from generators.programs.admitted import pod
from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.control_plane import Server
from generators.programs.node import RealNode
from lifecycle.agreements.kubelet.image_collection import (
    ARRIVES,
    LOOKS,
    TOLD,
    after,
    furnished,
)
from lifecycle.cri.apis.image import Image

WHO = "kubelet v1.36.2"
Object = dict[str, Any]
MIB = 1 << 20
DISK = 64
"""MiB."""
AT_ONCE = 12
EVENTS = "/api/v1/namespaces/default/events"
UNUSED: dict[str, Object] = {
    age: {"imageMaximumGCAge": age, "imageMinimumGCAge": "30s"} for age in ("4m", "6m")
}
TEN = [4] * 10


def disk(
    sizes: list[int],
    other: int,
    high: int = 85,
    low: int = 80,
    used: str = "",
    ended: str = "",
    pinned: str = "",
    formerly: str = "",
    arrives: str = "",
    **settings: Any,
) -> Object:
    """Images `a`, `b`, … of so many MiB, and so many MiB of other things. `used`, and
    of these `ended`: from which a container was made; `pinned`: what the runtime needs;
    `formerly`: from which there was a container when the kubelet began, and soon after
    there was none; `arrives`: what was not there when it began. `settings`: more.
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
            **settings,
        },
        "used": names(used),
        "ended": names(ended),
        "pinned": names(pinned),
        "formerly": names(formerly),
        "arrives": names(arrives),
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
    ("four are exactly enough", disk([4] * 6, 24, 75, 50)),
    ("three and a bit are enough", disk([4, 4, 4, 4, 4, 3], 24, 75, 50)),
    ("formerly used", disk([4] * 6, 24, 75, 50, formerly="abc")),
    ("formerly used, and used", disk([4] * 6, 24, 75, 50, "ab", formerly="cd")),
    ("some have just come", disk([4] * 6, 24, 75, 50, arrives="abcde")),
    ("all have just come", disk([4] * 6, 24, 75, 50, arrives="abcdef")),
    (
        "four minutes unused are too long",
        disk([4] * 6, 8, used="a", pinned="b", formerly="cd", **UNUSED["4m"]),
    ),
    (
        "six minutes unused are too long",
        disk([4] * 6, 8, used="a", pinned="b", formerly="cd", **UNUSED["6m"]),
    ),
)


def answers(server: Server, programs: Path) -> Iterator[Answer]:
    """All of it: some kubelets at once, as many as a kernel lets watch their files;
    each looks when it begins, before it knows anything of its disk, and then after five
    minutes.
    """
    for first in range(0, len(DISKS), AT_ONCE):
        yield from _looked_at(server, programs, first)


def _looked_at(server: Server, programs: Path, first: int) -> Iterator[Answer]:
    disks = DISKS[first : first + AT_ONCE]
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(_node(server, programs, f"node-{number}", wanted))
            for number, (_, wanted) in enumerate(disks, first)
        ]
        path = namespace(server.admin, f"collected-{first}")
        for (_, wanted), node in zip(disks, nodes, strict=True):
            for image in (*wanted["used"], *wanted["formerly"]):
                node.create(path, _user(node.name, image, image in wanted["ended"]))
        again = [
            (wanted, node)
            for (_, wanted), node in zip(disks, nodes, strict=True)
            if wanted["formerly"]
        ]
        for _, node in again:
            node.stop()
            node.start()
        time.sleep(ARRIVES)
        for wanted, node in again:
            for image in wanted["formerly"]:
                server.admin("DELETE", f"{path}/pods/{node.name}-{image[0]}")
        for (_, wanted), node in zip(disks, nodes, strict=True):
            node.runtime.images = furnished(wanted, arrived=True)
            for image in node.runtime.images.list_images():
                if image.repo_tags[0] in wanted["arrives"]:
                    _keep(node.runtime, image)
            _note_room(node.runtime, wanted)
        before = _told(server, [node.name for node in nodes])
        time.sleep(LOOKS - ARRIVES)
        after_all = _told(server, [node.name for node in nodes])
        for (what, wanted), node in zip(disks, nodes, strict=True):
            removed = sum(call[0] == "remove image" for call in node.runtime.calls)
            said = (after_all[node.name] - before[node.name]).elements()
            yield Answer(
                f"collected/{what}",
                WHO,
                "a kubelet on a node with images on a disk of 64 MiB: how many it has"
                " removed after five minutes, what is left, and what it says",
                {**wanted, "after": after(removed, node.runtime, wanted, list(said))},
            )


def _told(server: Server, names: list[str]) -> dict[str, Counter[str]]:
    """What was told of each node so far, and how often."""
    told: dict[str, Counter[str]] = {name: Counter() for name in names}
    for event in server.admin("GET", EVENTS).body["items"]:
        name = event["involvedObject"]["name"]
        if event["reason"] in TOLD and name in told:
            text = f"{event['type']} {event['reason']}: {event['message']}"
            told[name][text] += event["count"]
    return told


def _node(server: Server, programs: Path, name: str, wanted: Object) -> RealNode:
    async def prepare(runtime: Any) -> None:
        runtime.images = furnished(wanted)
        assert runtime.disk is not None
        for image in runtime.images.list_images():
            _keep(runtime, image)
        _fill(runtime.disk / "other", wanted["other"])

    settings = wanted["settings"]
    return RealNode(server, programs, settings, name=name, disk=DISK, furnish=prepare)


def _user(node: str, image: str, ended: bool) -> Object:
    """A pod of an image, which may be over."""
    container = {"image": image, "command": ["true"] if ended else ["sleep", "9000"]}
    made = pod(f"{node}-{image[0]}", container, restartPolicy="Never")
    made["spec"]["nodeName"] = node
    return made


def _keep(runtime: Any, image: Image) -> None:
    _fill(runtime.disk / image.id.replace(":", "-"), image.size)


def _note_room(runtime: Any, wanted: Object) -> None:
    room = os.statvfs(runtime.disk)
    wanted["capacity"] = room.f_blocks * room.f_frsize
    wanted["available"] = room.f_bavail * room.f_frsize


def _fill(path: Path, size: int) -> None:
    path.write_bytes(bytes(size))
