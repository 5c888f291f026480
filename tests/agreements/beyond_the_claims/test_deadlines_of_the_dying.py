"""How long a pod has that is to end: whoever asks again can only shorten it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cri.apis.events import ContainerEventResponse, ContainerEventType
from lifecycle.kubelet.kuberuntime.container_killer import ContainerKiller, TerminationOrder
from lifecycle.kubelet.pod_sync_status import PodSyncStatuses
from lifecycle.kubelet.pod_workers import PodWorkers

POD: Object = {"metadata": {"name": "web", "namespace": "default", "uid": "u"}, "spec": {}}


class Stubborn:
    """Works on a pod whose containers use all the time they are given, and take three seconds to be looked at."""

    def __init__(self) -> None:
        self.metrics = SimpleNamespace(transaction=lambda *_: None)
        self.looks: list[float] = []
        self.asked: list[float | None] = []
        self.over: float | None = None

    async def sync_pod(self, pod: Object) -> tuple[bool, None]:
        self.looks.append(asyncio.get_running_loop().time())
        await asyncio.sleep(3)
        return False, None

    def refresh_tokens_at(self, pod: Object) -> None:
        return None

    async def sync_terminating_pod(self, pod: Object, grace_period: float | None, status_fn: Any) -> None:
        self.asked.append(grace_period)
        await asyncio.sleep(30 if grace_period is None else grace_period)

    def ended(self, pod: Object, status: None) -> None:
        return None

    async def sync_terminated_pod(self, pod: Object) -> None:
        self.over = asyncio.get_running_loop().time()

    async def stop(self) -> None:
        return None


def going(grace: float) -> Object:
    return {**POD, "metadata": {**POD["metadata"], "deletionTimestamp": "now", "deletionGracePeriodSeconds": grace}}


def played(scene: Callable[[PodWorkers], Any]) -> Stubborn:
    """What becomes of the pod. It is looked at from 0 to 3; the scene begins at 10."""
    syncer = Stubborn()

    async def main() -> None:
        workers = PodWorkers(PodSyncStatuses(), cast("Any", syncer), Clock(), random.Random(1))
        workers.update_pod(POD)
        await asyncio.sleep(10)
        await scene(workers)
        await asyncio.sleep(200)
        await workers.stop()

    on_virtual_time(main())
    return syncer


@pytest.mark.parametrize(
    ("first", "then", "asked", "ended"),
    [
        (60, 5, [60, 5], 10 + 20 + 5),
        (60, 0, [60, 0], 10 + 20),
        (60, 100, [60], 10 + 60),  # whoever is patient is too late
        (60, 60, [60], 10 + 60),
    ],
)
def test_a_second_deletion_may_only_be_less_patient(
    first: float, then: float, asked: list[float], ended: float
) -> None:
    async def scene(workers: PodWorkers) -> None:
        workers.update_pod(going(first))
        await asyncio.sleep(20)
        workers.update_pod(going(then))

    seen = played(scene)
    assert (seen.asked, seen.over) == (asked, ended)


def news(kind: ContainerEventType, name: str) -> ContainerEventResponse:
    return cast("ContainerEventResponse", SimpleNamespace(type=kind, container_id=name))


def test_an_end_that_is_heard_of_during_a_look_is_one_more_look_and_only_one() -> None:
    async def scene(workers: PodWorkers) -> None:
        workers.sync("u")  # from 10 to 13
        await asyncio.sleep(0.5)
        workers.sync("u", news(ContainerEventType.STARTED, "c"))
        await asyncio.sleep(1.5)
        workers.sync("u", news(ContainerEventType.STOPPED, "c"))

    # once more because something was heard, and once because of what a look a second later would have heard
    assert played(scene).looks == [0, 10, 13, 16]


def patience(takes: dict[str, float]) -> dict[str, float]:
    """Of each container of a pod with ten seconds the seconds that it is given when it is told to stop, if the others take so long."""
    spec: Object = {
        "terminationGracePeriodSeconds": 10,
        "containers": [{"name": "app"}],
        "initContainers": [{"name": name, "restartPolicy": "Always"} for name in ("first", "second")],
    }
    given: dict[str, float] = {}

    async def stop_container(name: str, seconds: float) -> None:
        given[name] = seconds
        await asyncio.sleep(min(seconds, takes[name]))

    async def main() -> None:
        runtime = SimpleNamespace(stop_container=stop_container)
        killer = ContainerKiller(cast("Any", runtime), Clock(), cast("Any", None), lambda *_: None)
        order = TerminationOrder(spec, takes)
        runs = [cast("Any", SimpleNamespace(id=name, metadata=SimpleNamespace(name=name))) for name in takes]
        await asyncio.gather(*(killer.kill({**POD, "spec": spec}, run, order=order) for run in runs))

    on_virtual_time(main())
    return given


@pytest.mark.parametrize(
    ("takes", "given"),
    [
        ({"app": 0, "first": 0, "second": 0}, {"app": 10, "first": 10, "second": 10}),
        ({"app": 4, "first": 1, "second": 3}, {"app": 10, "second": 6, "first": 3}),
        ({"app": 60, "first": 60, "second": 60}, {"app": 10, "second": 2, "first": 2}),  # the least there is
        ({"first": 1, "second": 3}, {"second": 10, "first": 7}),  # the program has ended before
    ],
)
def test_sidecars_wait_for_their_turn_and_pay_for_it(takes: dict[str, float], given: dict[str, float]) -> None:
    assert patience(takes) == given
