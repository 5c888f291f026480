"""Preemption where extenders have a word: victims spared, nodes struck, and what users are told when it goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.scheduler.config import ExtenderConfig
from lifecycle.scheduler.extender import HTTPExtender
from lifecycle.scheduler.framework.handle import ExtenderError
from tests.kubelet.small_cluster import small_cluster
from tests.scheduler.framework.preemption.test_preemption import pod, priority_class


class Answering(HTTPExtender):
    """An extender on this side of the wire."""

    def __init__(self, answer: Callable[[Object], Any], *, ignorable: bool = False) -> None:
        super().__init__(ExtenderConfig("http://extender", preempt_verb="preempt", ignorable=ignorable))
        self._answer = answer

    async def _send(self, verb: str, args: Object) -> Any:
        return self._answer(args)


def all_of_them(args: Object) -> Object:
    return {"NodeNameToMetaVictims": {n: victims(v["Pods"]) for n, v in args["NodeNameToVictims"].items()}}


def victims(pods: list[Object]) -> Object:
    return {"Pods": [{"UID": pod["metadata"]["uid"]} for pod in pods]}


def none_of_them(args: Object) -> Object:
    return {"NodeNameToMetaVictims": {n: victims([]) for n in args["NodeNameToVictims"]}}


def no_node(args: Object) -> Object:
    return {"NodeNameToMetaVictims": {}}


def broken(args: Object) -> Object:
    raise ExtenderError("out of order")


REFUSED = "0/1 nodes are available: 1 Insufficient cpu."
NO_CANDIDATE = f"{REFUSED} no new claims to deallocate, preemption: no candidate node for preemption"


@pytest.mark.parametrize(
    ("extender", "told"),
    [
        (Answering(all_of_them), ""),
        (Answering(no_node), NO_CANDIDATE),
        (Answering(none_of_them), f'{REFUSED} preemption: expected at least one victim pod on node "lifecycle-worker"'),
        (Answering(none_of_them, ignorable=True), NO_CANDIDATE),
        (Answering(broken), f"{REFUSED} preemption: out of order"),
        (Answering(broken, ignorable=True), ""),
    ],
)
def test_an_extender_may_forbid_a_preemption(extender: Answering, told: str) -> None:
    async def main() -> None:
        async with small_cluster(nodes=("lifecycle-worker",)) as cluster:
            assert cluster.scheduler is not None
            cluster.scheduler.extenders.append(extender)
            for name, value in (("low", 1), ("high", 1000)):
                await cluster.admin.create(resource("priorityclasses.scheduling.k8s.io"), priority_class(name, value))
            await cluster.create_pod(pod("victim", "1500m", "low"))
            await asyncio.sleep(1)
            await cluster.create_pod(pod("preemptor", "1500m", "high"))
            await asyncio.sleep(0.5)
            if told:
                assert (await cluster.pod("preemptor"))["status"]["conditions"][0]["message"] == told
            await asyncio.sleep(60)
            assert set(await cluster.pods("default")) == ({"preemptor", "victim"} if told else {"preemptor"})

    run_virtual(main())
