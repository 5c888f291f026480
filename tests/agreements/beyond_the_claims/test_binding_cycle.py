"""What happens between a decision and the Binding: pods that somebody lets wait,
refuses, or that the API server will not have bound.
"""

from __future__ import annotations

import asyncio
from functools import cache
from typing import ClassVar

from lifecycle.agreements.claim_checks.scheduler import PODS, pod
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.loop.clock import Clock
from lifecycle.api.status import failure
from lifecycle.client.rest import Client, Transport
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.rehearsal import RehearsedCluster, on_virtual_time, rehearse
from lifecycle.scheduler.config import (
    MULTI_POINT_DEFAULTS,
    Profile,
    SchedulerConfiguration,
)
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import PermitPlugin, PostBindPlugin, PreBindPlugin
from lifecycle.scheduler.framework.plugins.default_binder import DefaultBinder
from lifecycle.scheduler.framework.status import (
    SKIP,
    Code,
    Status,
    as_status,
    unschedulable,
)
from lifecycle.scheduler.scheduler import Scheduler

NAMES = ("at-once", "waits", "in-vain", "unprepared", "unasked", "refused")


class _Gate(PermitPlugin, PreBindPlugin, PostBindPlugin):
    """What becomes of a pod, its name says."""

    name = "Gate"
    bound: ClassVar[list[tuple[str, str]]] = []

    def post_bind(self, state: CycleState, pod: Object, node_name: str) -> None:
        """Noted."""
        self.bound.append((pod["metadata"]["name"], node_name))

    def permit(self, state: CycleState, pod: Object, node_name: str) -> tuple[Status | None, float]:
        """Two have to wait for at most ten seconds."""
        waits = pod["metadata"]["name"] in ("waits", "in-vain")
        return (Status(Code.WAIT), 10) if waits else (None, 0)

    def pre_bind_pre_flight(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        """One has to be prepared, and of one nobody knows."""
        match pod["metadata"]["name"]:
            case "unprepared":
                return None
            case "unasked":
                return as_status(RuntimeError("nobody knows"))
        return SKIP

    async def pre_bind(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        """In vain."""
        await asyncio.sleep(5)
        return unschedulable(self.name, "no room for its disk")


class _NotToday:
    """A transport to a server that will not have one of the pods bound."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    async def round_trip(self, request: Request) -> Response:
        """As the server answers. Raises StatusError for that Binding."""
        if request.path.endswith("/pods/refused/binding"):
            raise failure(500, "InternalError", "not today")
        return await self._inner.round_trip(request)

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()


@cache
def on_their_way() -> dict[str, tuple[str | None, ...]]:
    """Of each pod: the node that it is about to go to, four seconds after it came; the
    node that it has in the end; and what the events say of it first.
    """
    return rehearse(_scene)


async def _scene(cluster: RehearsedCluster) -> dict[str, tuple[str | None, ...]]:
    client = Client(_NotToday(cluster.client("gated").transport), "gated")
    gate = _Gate()
    informers = SharedInformerFactory(client)
    points = (*MULTI_POINT_DEFAULTS, (gate.name, 1))
    scheduler = Scheduler.new(
        client,
        informers,
        clock=Clock(),
        configuration=SchedulerConfiguration((Profile("gated", multi_point=points),)),
        out_of_tree={gate.name: lambda args, handle: gate},
    )
    running = asyncio.create_task(scheduler.run())
    informers.start()
    admin, made = cluster.client("test"), {}
    for name in NAMES:
        body = {**pod(name, schedulerName="gated"), "metadata": {"name": name}}
        made[name] = await admin.create(PODS, body, "default")
    await asyncio.sleep(4)
    before = {p["metadata"]["name"]: p for p in await cluster.items("pods")}
    uid = made["waits"]["metadata"]["uid"]
    waiting = scheduler.profiles["gated"].get_waiting_pod(uid)
    assert waiting is not None, "it waits"
    waiting.allow(gate.name)
    await asyncio.sleep(8)
    after = {p["metadata"]["name"]: p for p in await cluster.items("pods")}
    told: dict[str, str] = {}
    for event in await cluster.items("events"):
        if event["reason"] in ("Scheduled", "FailedScheduling"):
            told.setdefault(event["involvedObject"]["name"], event["message"])
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await informers.stop()
    return {
        name: (
            before[name]["status"].get("nominatedNodeName"),
            after[name]["spec"].get("nodeName"),
            told.get(name, ""),
        )
        for name in NAMES
    }


NOT_BOUND = {
    "in-vain": "0/1 nodes are available: 1 rejected due to timeout after waiting 10s at plugin Gate.",
    "unprepared": "no room for its disk",
    "unasked": 'running PreBindPreFlight "Gate": nobody knows',
    "refused": 'running Bind plugin "DefaultBinder": not today',
}


def test_who_has_to_wait_before_it_is_bound_says_meanwhile_where_it_is_about_to_go() -> None:
    seen = on_their_way()
    about_to, got, _ = seen["waits"]
    assert got
    assert about_to == got
    assert {name for name in seen if seen[name][0]} == {"waits", "in-vain", "unprepared"}


def test_who_is_refused_after_the_decision_has_no_node_and_an_event_says_why() -> None:
    seen = on_their_way()
    assert {name: seen[name][2] for name in seen if not seen[name][1]} == NOT_BOUND
    for name in ("at-once", "waits"):
        assert seen[name][2] == f"Successfully assigned default/{name} to {seen[name][1]}"


def test_without_a_server_the_binder_leaves_a_pod_to_others() -> None:
    assert on_virtual_time(DefaultBinder().bind(CycleState(), {}, "n")) is SKIP


def test_of_a_pod_that_is_bound_the_last_plugins_are_told_and_of_no_other() -> None:
    on_their_way.cache_clear()
    _Gate.bound.clear()
    seen = on_their_way()
    assert sorted(set(_Gate.bound)) == sorted((name, seen[name][1]) for name in ("at-once", "waits"))
