"""How long containers that have to end are waited for, and what is kept of those that
have ended.
"""

from __future__ import annotations

import asyncio

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.cri.apis.container import (
    ContainerMetadata,
    ContainerState,
    ContainerStatus,
)
from lifecycle.kubelet.images.image_gc_manager import (
    FsStats,
    ImageGCPolicy,
    amount_to_free,
)
from lifecycle.kubelet.kuberuntime.container_killer import termination_grace_period
from lifecycle.kubelet.kuberuntime.kuberuntime_gc import GCPolicy, containers_to_remove
from lifecycle.kubelet.server.container_logs import NoLogsError, container_for_logs

PODS = resource("pods")


async def dies_in(node: OneNode) -> list[int]:
    """Seconds until a pod is gone whose hook takes nearly ten minutes, if it is deleted
    with the ten minutes that it asks for; if somebody says half a minute; and if
    somebody else comes later who waits for ten seconds only.
    """
    hook = {"lifecycle": {"preStop": {"sleep": {"seconds": 570}}}}
    took = []
    for name, patience in (("x", [600]), ("y", [30]), ("z", [500, 10])):
        await node.run_pod(name, container=hook, terminationGracePeriodSeconds=600)
        for seconds in patience:
            await asyncio.sleep(5)
            await node.admin.delete(PODS, name, "default", grace_period=seconds)
        for second in range(1000):
            if not (await node.admin.list(PODS, "default"))["items"]:
                took.append(round(second, -1))
                break
            await asyncio.sleep(1)
    return took


PROBE_SAID = "Container c failed {} probe, will be restarted"
PERIODS = [
    # deleted with, the pod's, liveness probe's, startup probe's, condemned by, seconds
    (7, 9, 3, 4, "", 7), (7, 9, 3, 4, "liveness", 7), (7, 9, 3, 4, "startup", 7),
    (0, 9, 3, 4, "liveness", 0), (0, 9, None, None, "", 0), (7, None, None, None, "", 7),
    (None, 9, 3, 4, "liveness", 3), (None, 9, 3, 4, "startup", 4), (None, 9, 3, 4, "", 9),
    (None, 9, 33, None, "liveness", 33), (None, 9, None, 4, "liveness", 9), (None, 9, 3, None, "startup", 9),
    (None, 0, None, None, "", 0), (None, None, None, None, "", 30),
]  # fmt: skip
"""Seconds that a container gets."""


RUNS = [
    "now",
    "before",
    'container "fresh" in pod "p" is waiting to start: ContainerCreating',
    'previous terminated container "fresh" in pod "p" not found',
    "over",
    "before",
    'container "lost" in pod "p" is terminated',
    'container "none" in pod "p" is not available',
    'container "vague" in pod "p" is waiting to start - no logs yet',
]


def runs_with_logs() -> list[str]:
    """Whose log is meant, by container, or why there is none."""
    before = {"lastState": {"terminated": {"containerID": "containerd://before"}}}
    now = {"containerID": "containerd://now", "state": {"running": {}}}
    waits: Object = {"waiting": {"reason": "ContainerCreating"}}
    over: Object = {"terminated": {"containerID": "containerd://over"}}
    statuses: list[Object] = [
        {"name": "app", **now, **before},
        {"name": "fresh", "state": waits, "lastState": {}},
        {"name": "done", "state": over, **before},
        {"name": "back", "state": waits, **before},
        {"name": "lost", "state": {"terminated": {}}},
        {"name": "vague", "state": {}},
    ]
    asked = (
        ("app", False), ("app", True), ("fresh", False), ("fresh", True),
        ("done", False), ("back", False), ("lost", False), ("none", False),
        ("vague", False),
    )  # fmt: skip
    found = []
    for name, previous in asked:
        try:
            status = {"containerStatuses": statuses}
            found.append(container_for_logs("p", status, name, previous))
        except NoLogsError as error:
            found.append(str(error))
    return found


LEFT = {
    "as many as there are": "a3 a2 a1 b5 b4 c6",
    "two each": "a3 a2 b5 b4 c6",
    "two each, four in all": "a3 b5 c6",
    "two each, two in all": "b5 c6",
    "nobody's": "",
}


def left_of_the_dead() -> dict[str, str]:
    """Of three containers that have died three times, twice and once, newest first."""

    def died(name: str, number: int) -> ContainerStatus:
        return ContainerStatus(
            id=f"{name}{number}",
            metadata=ContainerMetadata(name, 0),
            state=ContainerState.EXITED,
            pod_sandbox_id="s",
            created_at=number,
            image="nginx",
            image_ref="nginx",
        )

    runs = {"a": (3, 2, 1), "b": (5, 4), "c": (6,)}
    dead = {("u", name): [died(name, number) for number in numbers] for name, numbers in runs.items()}
    policies = (
        GCPolicy(max_per_pod_container=-1),
        GCPolicy(max_per_pod_container=2),
        GCPolicy(max_per_pod_container=2, max_containers=4),
        GCPolicy(max_per_pod_container=2, max_containers=2),
    )

    def left(policy: GCPolicy, gone: bool = False) -> str:
        removed = containers_to_remove(dead, policy, lambda uid: gone)
        kept = [run for each in dead.values() for run in each if run not in removed]
        return " ".join(run.id for run in kept)

    found = [*map(left, policies), left(policies[0], True)]
    return dict(zip(LEFT, found, strict=True))


def freed() -> list[int]:
    """Bytes of images that are to go, of a disk of a million: with 16, 15 and no per
    cent left, where 15 are too few and 20 enough.
    """
    left = (160_000, 150_000, 0)
    return [amount_to_free(FsStats(each, 1_000_000), ImageGCPolicy()) for each in left]


def test_who_is_waited_for_less_patiently_goes_sooner() -> None:
    assert on_one_node(dies_in) == [570, 30, 10]


@pytest.mark.parametrize(("deleted", "pod", "liveness", "startup", "condemned", "seconds"), PERIODS)
def test_a_probe_may_have_patience_of_its_own_where_nobody_deletes_the_pod(
    deleted: int | None, pod: int | None, liveness: int | None, startup: int | None, condemned: str, seconds: int
) -> None:
    def own(key: str, value: int | None) -> Object:
        return {} if value is None else {key: value}

    period = "terminationGracePeriodSeconds"
    container: Object = {"livenessProbe": own(period, liveness), "startupProbe": own(period, startup)}
    asked: Object = {"metadata": own("deletionGracePeriodSeconds", deleted), "spec": own(period, pod)}
    message = PROBE_SAID.format(condemned) if condemned else "Stopping container c"
    assert termination_grace_period(asked, container, message) == seconds


def test_a_container_of_which_nobody_knows_any_more_gets_what_its_pod_says() -> None:
    pod: Object = {"metadata": {}, "spec": {"terminationGracePeriodSeconds": 9}}
    assert termination_grace_period(pod, None, PROBE_SAID.format("liveness")) == 9


def test_the_log_of_the_run_before_is_there_too() -> None:
    assert runs_with_logs() == RUNS


def test_as_many_of_the_dead_are_kept_as_are_allowed() -> None:
    assert left_of_the_dead() == LEFT


def test_the_oldest_may_stay_where_others_have_had_their_turn_more_often() -> None:
    """Of seven that have died three may be left: each container's share is one, and nobody is removed twice."""

    def died(name: str, number: int) -> ContainerStatus:
        return ContainerStatus(f"{name}{number}", "s", ContainerMetadata(name), ContainerState.EXITED, number, "i", "i")

    runs = {"a": (9, 8, 7, 6), "b": (1,), "c": (5, 4)}
    dead = {("u", name): [died(name, number) for number in numbers] for name, numbers in runs.items()}
    removed = containers_to_remove(dead, GCPolicy(max_per_pod_container=-1, max_containers=3), lambda uid: False)
    assert sorted(run.id for run in removed) == ["a6", "a7", "a8", "c4"]


def test_images_are_removed_until_there_is_room() -> None:
    assert freed() == [0, 50_000, 200_000]


async def attempts_that_are_left(node: OneNode) -> list[list[int]]:
    """The attempts of a container that fails again and again which the runtime still has, each time that they are others."""
    await node.run_pod("p", container={"command": ["sh", "-c", "sleep 20; exit 1"]})
    seen = []
    for _ in range(30):
        runs = await node.runtime.list_containers()
        seen.append(sorted(run.metadata.attempt for run in runs))
        await asyncio.sleep(10)
    return [each for before, each in zip([[], *seen], seen) if each != before]


def test_of_dead_attempts_the_last_one_is_kept_for_its_log() -> None:
    assert on_one_node(attempts_that_are_left)[:6] == [[0], [0, 1], [1, 2], [2, 3], [3], [3, 4]]
