"""What two looks at a runtime tell of a container, and from when what was seen is known."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.pod_sandbox import PodSandboxState
from lifecycle.cri.apis.services import ObjectState
from lifecycle.kubelet.pleg.generic import RELIST_THRESHOLD, GenericPLEG, PodLifecycleEvent

TAKES = 5.0


class Slow:
    """A runtime that thinks for five seconds about what it has, and may not know."""

    def __init__(self) -> None:
        self.states: list[ObjectState] = []
        self.knows = True

    async def list_states(self) -> list[ObjectState]:
        await asyncio.sleep(TAKES)
        if not self.knows:
            raise RuntimeServiceError("it hangs")
        return self.states


def slow() -> tuple[Slow, GenericPLEG, list[PodLifecycleEvent]]:
    runtime, heard = Slow(), list[PodLifecycleEvent]()
    return runtime, GenericPLEG(cast(Any, runtime), heard.append), heard


def measured(pleg: GenericPLEG) -> list[tuple[int, float]]:
    return [(each.count, each.sum) for each in (pleg.intervals, pleg.durations)]


def test_what_was_seen_is_as_old_as_the_question() -> None:
    async def main() -> tuple[list[Any], list[Any]]:
        _, pleg, _ = slow()
        loop, times, figures = asyncio.get_running_loop(), [], []
        for pause in (1.0, 10.0, 0.0):
            begun = loop.time()
            await pleg.relist()
            assert pleg.last_relist is not None
            times.append(pleg.last_relist - begun)
            figures.append(measured(pleg))
            await asyncio.sleep(pause)
        return times, figures

    times, figures = on_virtual_time(main())
    assert times == [0.0] * 3
    assert figures == [[(0, 0.0), (1, 5.0)], [(1, 6.0), (2, 10.0)], [(2, 21.0), (3, 15.0)]]


@pytest.mark.parametrize(("later", "well"), [(RELIST_THRESHOLD - TAKES, True), (RELIST_THRESHOLD - TAKES + 1, False)])
def test_a_node_is_not_ready_when_the_last_look_that_succeeded_began_too_long_ago(later: float, well: bool) -> None:
    async def main() -> str:
        _, pleg, _ = slow()
        await pleg.relist()
        await asyncio.sleep(later)
        return pleg.healthy()

    said = "" if well else "pleg was last seen active 181s ago; threshold is 3m0s"
    assert on_virtual_time(main()) == said


def test_while_it_looks_for_the_first_time_it_has_not_succeeded_and_a_look_in_vain_is_none() -> None:
    async def main() -> list[Any]:
        runtime, pleg, _ = slow()
        seen: list[Any] = []
        looking = asyncio.create_task(pleg.relist())
        await asyncio.sleep(TAKES - 1)
        seen.append(pleg.healthy())
        await looking
        seen += [pleg.healthy(), pleg.last_relist]
        runtime.knows = False
        for _ in range(2):
            with pytest.raises(RuntimeServiceError):
                await pleg.relist()
        return [*seen, pleg.last_relist, *measured(pleg)]

    first, second, when, still, intervals, durations = on_virtual_time(main())
    assert (first, second, still - when) == ("pleg has yet to be successful", "", 0.0)
    assert (intervals, durations) == ((2, 5.0 + 10.0), (3, 15.0)), "those in vain are measured, too"


STATES = {
    "created": ContainerState.CREATED,
    "running": ContainerState.RUNNING,
    "exited": ContainerState.EXITED,
    "unknown": ContainerState.UNKNOWN,
    "ready": PodSandboxState.READY,
    "not ready": PodSandboxState.NOTREADY,
    "none": None,
}
BY_CONTAINER = {
    ("none", "created"): "Changed",
    ("none", "running"): "Started",
    ("none", "exited"): "Died",
    ("none", "unknown"): "Changed",
    ("created", "running"): "Started",
    ("created", "exited"): "Died",
    ("created", "unknown"): "",
    ("created", "none"): "Died Removed",
    ("running", "created"): "Changed",
    ("running", "exited"): "Died",
    ("running", "unknown"): "Changed",
    ("running", "none"): "Died Removed",
    ("exited", "created"): "Changed",
    ("exited", "running"): "Started",
    ("exited", "unknown"): "Changed",
    ("exited", "none"): "Removed",
    ("unknown", "created"): "",
    ("unknown", "running"): "Started",
    ("unknown", "exited"): "Died",
    ("unknown", "none"): "Died Removed",
    ("none", "ready"): "Started",
    ("none", "not ready"): "Died",
    ("ready", "not ready"): "Died",
    ("ready", "none"): "Died Removed",
    ("not ready", "ready"): "Started",
    ("not ready", "none"): "Removed",
    **{(each, each): "" for each in STATES},
}


@pytest.mark.parametrize(("old", "new"), BY_CONTAINER, ids=[f"{old}, then {new}" for old, new in BY_CONTAINER])
def test_what_two_looks_tell_of_a_container(old: str, new: str) -> None:
    async def main() -> tuple[list[PodLifecycleEvent], list[PodLifecycleEvent]]:
        runtime, pleg, heard = slow()
        events: list[PodLifecycleEvent] = []
        for each in (old, new):
            state = STATES[each]
            runtime.states = [] if state is None else [ObjectState("c", "uid", state)]
            heard.clear()
            events = await pleg.relist()
        return events, heard

    events, heard = on_virtual_time(main())
    kinds = BY_CONTAINER[old, new].split()
    assert events == [PodLifecycleEvent("uid", f"Container{kind}", "c") for kind in kinds]
    assert heard == [event for event in events if event.type != "ContainerChanged"], "nobody acts on a change"
