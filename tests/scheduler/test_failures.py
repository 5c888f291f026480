"""What goes wrong between a pod's turn and its node: it is said, undone, and tried again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import pytest

from lifecycle.api.http.wire import Object, Request
from lifecycle.api.loop.clock import run_virtual
from lifecycle.scheduler.config import ExtenderConfig
from lifecycle.scheduler.extender import HTTPExtender
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.handle import ExtenderError
from lifecycle.scheduler.framework.interface import BindPlugin, FilterPlugin, PreBindPlugin
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.status import SKIP, Status, as_status, unschedulable
from lifecycle.scheduler.framework.types import Diagnosis
from tests.scheduler.test_schedule_one import message, scheduling
from tests.scheduler.test_scheduler import pod


class Broken(FilterPlugin):
    """Fails as a program does, not as a plugin should."""

    name = "Broken"

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        raise RuntimeError("out of paper")


def test_a_plugin_that_breaks_is_logged_and_its_words_are_told(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with scheduling(Broken()) as (cluster, mine):
            await cluster.create_pod(pod("p", schedulerName="mine"))
            await asyncio.sleep(0.5)
            assert await message(cluster, "p") == ("SchedulerError", "out of paper")
            assert mine.queue.pending_pods()["backoff"] == ["default/p"]

    with caplog.at_level(logging.ERROR):
        run_virtual(main())
    assert {record.getMessage() for record in caplog.records} == {"scheduling default/p failed"}
    assert caplog.records[0].exc_info is not None


class PreBinds(PreBindPlugin):
    """Has something to do before the binding, and may fail at it."""

    name = "PreBinds"

    def __init__(self, flight: Status | None, answer: Status | Exception | None = None) -> None:
        self.flight, self.answer = flight, answer

    def pre_bind_pre_flight(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        return self.flight

    async def pre_bind(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("plugin", "reason", "told", "logged"),
    [
        (PreBinds(as_status(ValueError("no wings"))), "SchedulerError", 'running PreBindPreFlight "PreBinds": no wings', []),
        (PreBinds(None, as_status(ValueError("no disk"))), "SchedulerError", 'running PreBind plugin "PreBinds": no disk', []),
        (PreBinds(None, unschedulable("PreBinds", "not here")), "Unschedulable", "not here", []),
        (PreBinds(None, RuntimeError("out of paper")), "SchedulerError", "out of paper", ["binding default/p failed"]),
    ],
)  # fmt: skip
def test_a_pod_that_cannot_be_prepared_gives_its_place_back(
    plugin: PreBinds, reason: str, told: str, logged: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with scheduling(plugin) as (cluster, mine):
            await cluster.create_pod(pod("p", schedulerName="mine"))
            await asyncio.sleep(0.5)
            assert await message(cluster, "p") == (reason, told)
            assert "default/p" not in mine.cache
            assert "nodeName" not in (await cluster.pod("p"))["spec"]

    with caplog.at_level(logging.ERROR):
        run_virtual(main())
    assert sorted({record.getMessage() for record in caplog.records}) == logged


@pytest.mark.parametrize(("flight", "said"), [(None, True), (SKIP, False)])
def test_where_something_is_to_be_done_before_the_binding_it_is_said_where_the_pod_is_about_to_go(
    flight: Status | None, said: bool
) -> None:
    async def main() -> None:
        patches = list[Any]()

        async def note(request: Request) -> None:
            if request.method == "PATCH" and request.headers["user-agent"] == "kube-scheduler":
                patches.append(request.obj)

        async with scheduling(PreBinds(flight), first=note) as (cluster, _):
            await cluster.create_pod(pod("p", schedulerName="mine"))
            await asyncio.sleep(1)
            node = (await cluster.pod("p"))["spec"]["nodeName"]
            assert patches == ([{"status": {"nominatedNodeName": node}}] if said else [])

    run_virtual(main())


class Binder(HTTPExtender):
    """An extender on this side of the wire that binds, or fails to."""

    def __init__(self, name: str, error: str = "", **config: Any) -> None:
        super().__init__(ExtenderConfig(name, bind_verb="bind", **config))
        self.error, self.bound = error, list[str]()

    async def bind(self, pod: Object, node: str) -> None:
        if self.error:
            raise ExtenderError(self.error)
        self.bound.append(pod["metadata"]["name"])


class Pretends(BindPlugin):
    """Says that it has bound the pod."""

    name = "Pretends"

    def __init__(self) -> None:
        self.bound: list[str] = []

    async def bind(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        self.bound.append(pod["metadata"]["name"])
        return None


GPU = frozenset({"example.com/gpu"})


@pytest.mark.parametrize(
    ("extenders", "by", "told"),
    [
        ([Binder("a")], "a", None), ([Binder("a", "out of order")], None, "out of order"),
        ([Binder("a", "out of order", ignorable=True), Binder("b")], "b", None),
        ([Binder("a", "out of order", ignorable=True)], "plugin", None),
        ([HTTPExtender(ExtenderConfig("x"))], "plugin", None),  # does not bind
        ([Binder("a", managed_resources=GPU)], "plugin", None),  # not interested
    ],
)  # fmt: skip
def test_the_first_extender_that_binds_does_so_instead_of_the_plugins(
    extenders: Sequence[HTTPExtender], by: str | None, told: str | None
) -> None:
    async def main() -> None:
        plugin = Pretends()
        async with scheduling(plugin, without=("DefaultBinder",)) as (cluster, mine):
            mine.extenders.extend(extenders)
            await cluster.create_pod(pod("p", schedulerName="mine"))
            await asyncio.sleep(0.5)
            bound = {e.name: e.bound for e in extenders if isinstance(e, Binder)} | {"plugin": plugin.bound}
            assert {name for name, pods in bound.items() if pods} == ({by} if by else set())
            if told:
                assert await message(cluster, "p") == ("SchedulerError", told)

    run_virtual(main())


class Slow(HTTPExtender):
    """Takes ten seconds to refuse every node."""

    def __init__(self) -> None:
        super().__init__(ExtenderConfig("slow", filter_verb="filter"))
        self.asked = 0

    async def filter(self, info: PodInfo, nodes: Sequence[NodeInfo], diagnosis: Diagnosis) -> list[NodeInfo]:
        self.asked += 1
        await asyncio.sleep(10)
        for node in nodes:
            diagnosis.set(node.name, unschedulable("slow", "no"))
        return []


@pytest.mark.parametrize(("something", "asked"), [(True, 2), (False, 1)])
def test_what_changes_while_an_extender_thinks_is_not_slept_on(something: bool, asked: int) -> None:
    async def main() -> None:
        slow = Slow()
        async with scheduling() as (cluster, mine):
            mine.extenders.append(slow)
            await cluster.create_pod(pod("p", schedulerName="mine"))
            await asyncio.sleep(5)
            if something:
                mine.queue.moves += 1  # as any event would
            await asyncio.sleep(8)
            assert slow.asked == asked

    run_virtual(main())


def test_where_nobody_can_help_the_refusal_is_all_there_is() -> None:
    async def main() -> None:
        async with scheduling(without=("DefaultPreemption", "DynamicResources")) as (cluster, mine):
            await cluster.create_pod(pod("p", "64", schedulerName="mine"))
            await asyncio.sleep(0.5)
            reason, told = await message(cluster, "p")
            assert (reason, told) == ("Unschedulable", "0/2 nodes are available: 2 Insufficient cpu.")
            assert mine.queue.pending_pods()["unschedulable"] == ["default/p"]

    run_virtual(main())
