"""The real kubelet and ours, each with a containerd of its own and an API server of its own: the same pods, at the same time.

For each scene: the same objects are left (status, conditions, managed fields), the same is told, and each field of each status
went the same way. Runs as root where `KUBE_BIN` is set.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from tests.conftest import unavailable
from tests.cri.private_containerd import why_not
from tests.cri.subjects import registry
from tests.live.kubelet_known import excused
from tests.live.kubelet_scenes import SCENES
from tests.live.kubelet_sides import NODE, Side, machine, side
from tests.live.kubelet_stage import NodeStage, true
from tests.live.kubelet_witness import NodeOutcome, strayed, told, ways
from tests.live.real_programs import kube_bin
from tests.live.stage import Stage
from tests.live.witness import Outcome, differences, untold

pytestmark = [pytest.mark.alone, pytest.mark.timeout(900)]
"""Two kubelets look once a second at what two containerds do: others beside them would change what they see."""

AT_ONCE = 8
"""Scenes: a machine of two processors has to start all their containers twice."""
QUIET = 1.5
"""Seconds without a change after which nothing more is to come: both kubelets look once a second."""
TRIES = 3
FIRST = "plain"
"""The scene that pulls the image; all others find it."""


@dataclass(slots=True)
class Judged:
    """What came of all scenes on one side; `node` is its Node at the end."""

    scenes: dict[str, NodeOutcome] = field(default_factory=dict)
    node: Outcome = field(default_factory=Outcome)


async def play(node: Side, image: str, name: str, namespace: str) -> NodeOutcome:
    """A scene, until nothing changes any more; then its pods make room."""
    outcome = NodeOutcome()
    stage = NodeStage(Stage(node.admin, namespace), image, node.manifests)
    try:
        await stage.open()
        await SCENES[name](stage)
        await stage.settle(QUIET)
    except Exception as error:  # the other scenes go on
        outcome.error = repr(error)
    pods = await node.admin.list(resource("pods"), namespace)
    outcome.lists = {"pods": pods}
    outcome.events = await told(node.admin, namespace)
    outcome.ways = ways(node.audit, namespace)
    for path in stage.written:
        path.unlink(missing_ok=True)
    for pod in pods["items"]:
        try:
            if pod["metadata"].get("finalizers"):
                await stage.patch("pods", pod["metadata"]["name"], {"metadata": {"finalizers": None}})
            await stage.delete("pods", pod["metadata"]["name"], grace_period=0)
        except StatusError:
            continue  # it has gone by itself
    return outcome


async def play_all(node: Side, image: str, scenes: Iterable[str], suffix: str, at_once: int) -> dict[str, NodeOutcome]:
    """Some scenes, by name."""
    room = asyncio.Semaphore(at_once)

    async def one(name: str) -> NodeOutcome:
        async with room:
            return await play(node, image, name, name + suffix)

    names = list(scenes)
    return dict(zip(names, await asyncio.gather(*map(one, names)), strict=True))


def portless(nodes: Object, port: int) -> Object:
    """Without the port that this kubelet was told to listen at."""
    for each in (copy := json.loads(json.dumps(nodes)))["items"]:
        assert each["status"].pop("daemonEndpoints") == {"kubeletEndpoint": {"Port": port}}
    return dict(copy)


async def node_of(node: Side, image: str) -> Outcome:
    """What it says of itself once it has told of the image."""
    outcome = Outcome()

    def has_image(nodes: dict[str, Object]) -> bool:
        images = nodes[NODE]["status"].get("images", ())
        return any(image in entry["names"] for entry in images)

    try:
        await Stage(node.admin, "").until("nodes", has_image)
    except TimeoutError as error:
        outcome.error = repr(error)
    outcome.events = await told(node.admin, "default")
    outcome.lists = {"nodes": portless(await node.admin.list(resource("nodes")), node.port)}
    return outcome


def unlike(scene: str, ours: NodeOutcome, theirs: NodeOutcome) -> list[str]:
    """All that differs and nobody knows of."""
    return [
        *(line for line in (ours.error, theirs.error) if line),
        *excused(f"{scene} object", map(str, differences(ours, theirs))),
        *excused(f"{scene} event", untold(ours, theirs)),
        *excused(f"{scene} way", strayed(ours.ways, theirs.ways)),
    ]


async def both(folder: Path) -> tuple[Judged, Judged]:
    """Ours and theirs, at the same time.

    Both look about once a second, and on a busy machine a look may come too late for what it was to see. So a scene that differs is
    played again, with less going on beside it: what differs by chance does not differ `TRIES` times.
    """
    async with registry() as served, AsyncExitStack() as stack:
        image = served.name("library/shell:1")
        opening = (stack.enter_async_context(side(folder / name, real=name == "theirs")) for name in ("ours", "theirs"))
        sides = [await each for each in opening]
        for node in sides:
            await Stage(node.admin, "").until("nodes", lambda nodes: any(map(true("Ready"), nodes.values())))
        judged = Judged(), Judged()

        async def round_of(scenes: Iterable[str], suffix: str, at_once: int) -> None:
            played = await asyncio.gather(*(play_all(node, image, scenes, suffix, at_once) for node in sides))
            for result, outcomes in zip(judged, played, strict=True):
                result.scenes |= outcomes

        await round_of([FIRST], "", 1)
        longest_first = sorted(SCENES, key=lambda name: "crash-loop" not in name)
        await round_of([name for name in longest_first if name != FIRST], "", AT_ONCE)
        for number in range(1, TRIES):
            again = [name for name in SCENES if unlike(name, *(each.scenes[name] for each in judged))]
            await round_of(again, f"-{number + 1}", 2)
        for result, node in zip(judged, sides, strict=True):
            result.node = await node_of(node, image)
    return judged


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Judged, Judged]]:
    """Ours and theirs; afterwards nothing of both is left on the machine."""
    kube_bin("kubelet")
    if why_not():
        unavailable(why_not())
    folder = tmp_path_factory.mktemp("kubelet")
    with machine():
        sides = asyncio.run(both(folder))
    yield sides
    left = [line for line in Path("/proc/self/mounts").read_text().splitlines() if str(folder) in line]
    assert left == []


@pytest.mark.parametrize("scene", SCENES)
def test_the_same_objects_are_left(judged: tuple[Judged, Judged], scene: str) -> None:
    ours, theirs = (each.scenes[scene] for each in judged)
    assert (ours.error, theirs.error) == ("", "")
    assert excused(f"{scene} object", map(str, differences(ours, theirs))) == []


@pytest.mark.parametrize("scene", SCENES)
def test_the_same_is_told(judged: tuple[Judged, Judged], scene: str) -> None:
    ours, theirs = (each.scenes[scene] for each in judged)
    assert ours.events
    assert excused(f"{scene} event", untold(ours, theirs)) == []


@pytest.mark.parametrize("scene", SCENES)
def test_each_field_goes_the_same_way(judged: tuple[Judged, Judged], scene: str) -> None:
    ours, theirs = (each.scenes[scene] for each in judged)
    assert ours.ways
    assert excused(f"{scene} way", strayed(ours.ways, theirs.ways)) == []


def test_the_node_says_the_same_of_itself(judged: tuple[Judged, Judged]) -> None:
    ours, theirs = (each.node for each in judged)
    assert (ours.error, theirs.error) == ("", "")
    assert excused("node object", map(str, differences(ours, theirs))) == []


def test_the_same_is_told_of_the_node(judged: tuple[Judged, Judged]) -> None:
    ours, theirs = (each.node for each in judged)
    assert ours.events
    assert excused("node event", untold(ours, theirs)) == []
