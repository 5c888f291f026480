"""Plugins of one's own in a whole scheduler: who is called when, who waits, who is told what, and who is woken."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import failure
from lifecycle.api.tracing import Span, listening
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.scheduler.backend.queue.scheduling_queue import SchedulingQueue
from lifecycle.scheduler.config import (
    MULTI_POINT_DEFAULTS,
    ConfigurationError,
    Profile,
    SchedulerConfiguration,
)
from lifecycle.scheduler.failure_handler import FailureHandler
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import (
    BindPlugin,
    EnqueueExtensions,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterAnswer,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterAnswer,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScoreExtensions,
    ScorePlugin,
)
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.node_to_status import NodeToStatus
from lifecycle.scheduler.framework.runtime.options import Registry
from lifecycle.scheduler.framework.status import SKIP, Code, Status, unschedulable
from lifecycle.scheduler.framework.types import ClusterEvent, QueuedPodInfo, QueueingHintFn
from lifecycle.scheduler.profile import new_framework
from lifecycle.scheduler.scheduler import Scheduler
from tests.asked_first import First, lets_pass
from tests.fake_api import FakeAPI
from tests.kubelet.small_cluster import SmallCluster, small_cluster
from tests.scheduler.cluster_model import make_pod
from tests.scheduler.test_scheduler import pod


def with_plugins(*plugins: Plugin, without: Sequence[str] = ()) -> tuple[Profile, Registry]:
    """The default profile under the name `mine`, and these plugins in it; some may be left `without`."""
    names = {**dict(MULTI_POINT_DEFAULTS), **{plugin.name: 1 for plugin in plugins}}
    for name in without:
        del names[name]
    registry = {plugin.name: (lambda args, handle, plugin=plugin: plugin) for plugin in plugins}
    return Profile("mine", tuple(names.items())), registry


@asynccontextmanager
async def scheduling(
    *plugins: Plugin, first: First = lets_pass, **more: Any
) -> AsyncIterator[tuple[SmallCluster, Scheduler]]:
    """A cluster of two free nodes with one more scheduler, named `mine`."""
    async with small_cluster(nodes=("lifecycle-worker", "lifecycle-worker2"), first=first) as cluster:
        profile, registry = with_plugins(*plugins, **more)
        client = cluster.client("kube-scheduler", "system:kube-scheduler")
        informers = SharedInformerFactory(client)
        configuration = SchedulerConfiguration((profile,))
        mine = Scheduler.new(
            client, informers, clock=Clock(), rng_seed=1, configuration=configuration, out_of_tree=registry
        )
        cluster.run(mine)
        await asyncio.sleep(1)
        yield cluster, mine


class EveryPoint(
    PreEnqueuePlugin, QueueSortPlugin, PreFilterPlugin, FilterPlugin, PostFilterPlugin, PreScorePlugin, ScorePlugin,
    ScoreExtensions, ReservePlugin, PermitPlugin, PreBindPlugin, BindPlugin, PostBindPlugin,
):  # fmt: skip
    """Writes down when it is called. Takes no pod that asks for a GPU; binds nothing itself."""

    name = "EveryPoint"

    def __init__(self) -> None:
        self.calls: list[str] = []

    def note(self, what: str) -> None:
        if what not in self.calls[-1:]:
            self.calls.append(what)

    def pre_enqueue(self, pod: Object) -> Status | None:
        self.note("PreEnqueue")
        return None

    def less(self, pod_info1: QueuedPodInfo, pod_info2: QueuedPodInfo) -> bool:
        self.note("QueueSort")
        return pod_info1.timestamp < pod_info2.timestamp

    def pre_filter(self, state: CycleState, info: PodInfo, snapshot: SharedLister) -> PreFilterAnswer:
        self.note("PreFilter")
        return None, None

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        self.note("Filter")
        return unschedulable(self.name, "not in the mood") if info.key.endswith("/hopeless") else None

    async def post_filter(
        self, state: CycleState, info: PodInfo, snapshot: SharedLister, node_to_status: NodeToStatus
    ) -> PostFilterAnswer:
        self.note("PostFilter")
        return None, unschedulable(self.name, "nor can I help")

    def pre_score(
        self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo], snapshot: SharedLister
    ) -> Status | None:
        self.note("PreScore")
        return None

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        self.note("Score")
        return 1

    def normalize_score(self, state: CycleState, scores: list[int]) -> list[int]:
        self.note("NormalizeScore")
        return scores

    def reserve(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        self.note("Reserve")
        return None

    def unreserve(self, state: CycleState, pod: Object, node_name: str) -> None:
        self.note("Unreserve")

    def permit(self, state: CycleState, pod: Object, node_name: str) -> tuple[Status | None, float]:
        self.note("Permit")
        return None, 0

    def pre_bind_pre_flight(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        self.note("PreBindPreFlight")
        return None

    async def pre_bind(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        self.note("PreBind")
        return None

    async def bind(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        self.note("Bind")
        return SKIP

    def post_bind(self, state: CycleState, pod: Object, node_name: str) -> None:
        self.note("PostBind")


def test_a_pod_passes_the_points_in_this_order() -> None:
    async def main() -> None:
        every = EveryPoint()
        async with scheduling(every, without=("PrioritySort",)) as (cluster, _):
            await cluster.create_pod(pod("p", schedulerName="mine"))
            await asyncio.sleep(1)
            assert (await cluster.pod("p"))["spec"]["nodeName"]
            assert [call for call in every.calls if call != "QueueSort"] == [
                "PreEnqueue", "PreFilter", "Filter", "PreScore", "Score", "NormalizeScore", "Reserve", "Permit",
                "PreBindPreFlight", "PreBind", "PostBind",
            ]  # fmt: skip
            # and the default binder, which stands before this one, has bound it

    run_virtual(main())


class Pretends(BindPlugin):
    """Says that it has bound the pod."""

    name = "Pretends"

    async def bind(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        return None


def test_a_binder_that_skips_leaves_the_pod_to_the_next_and_once_bound_everybody_is_told() -> None:
    async def main() -> None:
        every = EveryPoint()
        async with scheduling(every, Pretends(), without=("PrioritySort", "DefaultBinder")) as (cluster, _):
            await cluster.create_pod(pod("p", schedulerName="mine"))
            await asyncio.sleep(0.5)
            assert every.calls[-2:] == ["Bind", "PostBind"]
            told = [e for e in await cluster.events("default") if e["reason"] == "Scheduled"]
            assert [e["source"]["component"] for e in told] == ["mine"]

    run_virtual(main())


def test_a_pod_that_fits_nowhere_goes_to_post_filter_and_is_told_by_everybody() -> None:
    async def main() -> None:
        every = EveryPoint()
        async with scheduling(every, without=("PrioritySort",)) as (cluster, _):
            await cluster.create_pod(pod("hopeless", schedulerName="mine"))
            await asyncio.sleep(0.5)
            assert every.calls[-2:] == ["Filter", "PostFilter"]
            condition = (await cluster.pod("hopeless"))["status"]["conditions"][0]
            assert condition["message"] == (
                "0/2 nodes are available: 2 not in the mood. no new claims to deallocate, "
                "preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod., nor can I help"
            )

    run_virtual(main())


def test_who_listens_hears_of_both_cycles_which_pod_they_are_about() -> None:
    async def main() -> None:
        async with scheduling() as (cluster, _):
            spans: list[Span] = []
            with listening(spans.append):
                created = await cluster.create_pod(pod("p", schedulerName="mine"))
                await asyncio.sleep(1)
            mine = {"key": "default/p", "uid": created["metadata"]["uid"]}
            heard = {s.name: s for s in spans if s.component == "scheduler" and s.name in ("schedule_one", "bind")}
            assert {name: s.attributes for name, s in heard.items()} == {"schedule_one": mine, "bind": mine}
            assert heard["schedule_one"].end <= heard["bind"].start
            assert heard["bind"].parent != heard["schedule_one"].id, "the decision does not wait for the binding"

    run_virtual(main())


class NotYet(FilterPlugin, EnqueueExtensions):
    """Refuses until it is told otherwise, and no event would help."""

    name = "NotYet"

    def __init__(self) -> None:
        self.refuses = True

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        return {ClusterEvent("ResourceClaim", "Add"): lambda info, old, new: False}

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        return unschedulable(self.name, "not yet") if self.refuses else None


def test_a_plugin_can_bring_a_pod_back_that_no_event_would() -> None:
    async def main() -> None:
        plugin = NotYet()
        async with scheduling(plugin) as (cluster, mine):
            await cluster.create_pod(pod("p", schedulerName="mine"))
            await asyncio.sleep(1)
            assert mine.queue.pending_pods()["unschedulable"] == ["default/p"]
            plugin.refuses = False
            await asyncio.sleep(60)
            assert mine.queue.pending_pods()["unschedulable"] == ["default/p"]
            mine.profiles["mine"].pod_activator.activate("default/p")
            await asyncio.sleep(1)
            assert (await cluster.pod("p"))["spec"]["nodeName"]

    run_virtual(main())


@pytest.mark.parametrize(("code", "logged"), [(404, []), (403, ["updating the status of p failed: no more"])])
def test_a_status_that_cannot_be_written_is_logged_unless_the_pod_is_gone(
    code: int, logged: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        error = failure(code, "Whatever", "no more", {})
        client = Client(FakeAPI(refuse=lambda request: error if request.path.endswith("/p/status") else None), "x/1")
        nobody: Any = None  # nobody else is asked
        handler = FailureHandler(client, nobody, nobody, nobody, nobody, nobody)
        await handler.patch_status(make_pod("p"), {"status": {"nominatedNodeName": "n"}})

    run_virtual(main())
    assert [record.getMessage() for record in caplog.records] == logged


class Gate(PermitPlugin, ReservePlugin, EnqueueExtensions):
    """Lets pods wait for somebody to say yes; a name may mean no, or trouble."""

    name = "Gate"

    def __init__(self) -> None:
        self.reserved: list[str] = []

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        return {ClusterEvent("AssignedPod", "Delete"): lambda info, old, new: True}

    def reserve(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        name = pod["metadata"]["name"]
        if name == "taken":
            return unschedulable(self.name, "somebody was quicker")
        if name == "crash":
            raise RuntimeError("out of paper")
        self.reserved.append(name)
        return None

    def unreserve(self, state: CycleState, pod: Object, node_name: str) -> None:
        name = pod["metadata"]["name"]
        if name in self.reserved:
            self.reserved.remove(name)

    def permit(self, state: CycleState, pod: Object, node_name: str) -> tuple[Status | None, float]:
        if pod["metadata"]["name"] == "unwanted":
            return unschedulable(self.name, "not today"), 0
        return Status(Code.WAIT), 30


async def message(cluster: SmallCluster, name: str) -> tuple[str, str]:
    condition = (await cluster.pod(name))["status"]["conditions"][0]
    return condition["reason"], condition["message"]


def test_a_pod_that_must_wait_has_its_place_and_says_so_and_is_bound_when_it_may() -> None:
    async def main() -> None:
        gate = Gate()
        async with scheduling(gate) as (cluster, mine):
            created = await cluster.create_pod(pod("p", "1500m", schedulerName="mine"))
            await asyncio.sleep(5)
            waiting = await cluster.pod("p")
            assert "nodeName" not in waiting["spec"]
            node = waiting["status"]["nominatedNodeName"]
            assert gate.reserved == ["p"]
            assert "default/p" in mine.cache
            entry = mine.profiles["mine"].get_waiting_pod(created["metadata"]["uid"])
            assert entry is not None
            entry.allow("Gate")
            await asyncio.sleep(1)
            assert (await cluster.pod("p"))["spec"]["nodeName"] == node
            assert gate.reserved == ["p"]

    run_virtual(main())


def test_a_pod_that_waits_in_vain_is_refused_gives_everything_back_and_waits_for_what_could_help() -> None:
    async def main() -> None:
        gate = Gate()
        async with scheduling(gate) as (cluster, mine):
            await cluster.create_pod(pod("p", schedulerName="mine"))
            await asyncio.sleep(31)
            told = "0/1 nodes are available: 1 rejected due to timeout after waiting 30s at plugin Gate."
            assert await message(cluster, "p") == ("Unschedulable", told)
            assert gate.reserved == []
            assert "default/p" not in mine.cache
            # its own leaving is the kind of change its plugin waits for, and does not count
            assert mine.queue.pending_pods()["unschedulable"] == ["default/p"]

    run_virtual(main())


@pytest.mark.parametrize(
    ("name", "reason", "told", "logged"),
    [
        ("unwanted", "Unschedulable", "0/1 nodes are available: 1 not today.", []),
        ("taken", "Unschedulable", "0/1 nodes are available: 1 somebody was quicker.", []),
        ("crash", "SchedulerError", "out of paper", ["reserving for default/crash failed"]),
    ],
)
def test_who_is_refused_once_the_node_is_decided_gives_it_back(
    name: str, reason: str, told: str, logged: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        gate = Gate()
        async with scheduling(gate) as (cluster, mine):
            await cluster.create_pod(pod(name, schedulerName="mine"))
            await asyncio.sleep(0.5)
            assert await message(cluster, name) == (reason, told)
            assert gate.reserved == []
            assert f"default/{name}" not in mine.cache
            places = mine.queue.pending_pods()
            assert places["unschedulable" if reason == "Unschedulable" else "backoff"] == [f"default/{name}"]

    run_virtual(main())
    assert [record.getMessage() for record in caplog.records if name in record.getMessage()] == logged


def test_a_pod_that_is_deleted_while_it_waits_leaves_its_place_to_the_next() -> None:
    async def main() -> None:
        gate = Gate()
        async with scheduling(gate) as (cluster, mine):
            await cluster.create_pod(pod("p", schedulerName="mine"))
            await asyncio.sleep(1)
            assert gate.reserved == ["p"]
            await cluster.admin.delete(resource("pods"), "p", "default")
            await asyncio.sleep(1)
            assert gate.reserved == []
            assert not list(mine.profiles["mine"].iterate_over_waiting_pods())
            assert not any(mine.queue.pending_pods().values())

    run_virtual(main())


# -- the queue ---------------------------------------------------------------------------------------------------------


class Shy(FilterPlugin):
    """Does not say what would help."""

    name = "Shy"

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        return None


class Patient(FilterPlugin, EnqueueExtensions):
    """Waits for one event only."""

    name = "Patient"

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        return {ClusterEvent("Node", "Add"): lambda info, old, new: True}

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        return None


@pytest.mark.parametrize(
    ("rejector", "code", "event", "place"),
    [
        ("Shy", Code.UNSCHEDULABLE, ClusterEvent("CSINode", "Add"), "backoff"),
        ("Patient", Code.UNSCHEDULABLE, ClusterEvent("CSINode", "Add"), "unschedulable"),
        ("Patient", Code.UNSCHEDULABLE, ClusterEvent("Node", "Add"), "backoff"),
        ("Patient", Code.PENDING, ClusterEvent("Node", "Add"), "active"),  # who was only told to wait
    ],
)
def test_what_wakes_a_pod_and_whether_it_has_to_back_off(
    rejector: str, code: Code, event: ClusterEvent, place: str
) -> None:
    async def main() -> None:
        profile, registry = with_plugins(Shy(), Patient())
        queue = SchedulingQueue(new_framework(profile, None, registry), Clock())
        queue.add(make_pod("p"))
        queued = await queue.pop()
        plugins = queued.pending_plugins if code is Code.PENDING else queued.unschedulable_plugins
        plugins.add(rejector)
        queue.add_unschedulable(queued)
        queue.move_all(event, None, {"metadata": {"name": "n"}})
        assert queue.pending_pods()[place] == ["default/p"]
        queue.close()

    run_virtual(main())


class YoungestFirst(QueueSortPlugin):
    """The other way round."""

    name = "YoungestFirst"

    def less(self, pod_info1: QueuedPodInfo, pod_info2: QueuedPodInfo) -> bool:
        return pod_info1.timestamp > pod_info2.timestamp


def test_a_profile_may_sort_the_queue_otherwise() -> None:
    async def main() -> None:
        profile, registry = with_plugins(YoungestFirst(), without=("PrioritySort",))
        queue = SchedulingQueue(new_framework(profile, None, registry), Clock())
        for name in ("old", "middle", "young"):
            queue.add(make_pod(name, priority=5 if name == "old" else 0))
            await asyncio.sleep(1)
        assert [(await queue.pop()).key for _ in range(3)] == ["default/young", "default/middle", "default/old"]
        queue.close()

    run_virtual(main())


def test_all_profiles_must_sort_alike() -> None:
    async def main() -> None:
        async with small_cluster(nodes=()) as cluster:
            profile, registry = with_plugins(YoungestFirst(), without=("PrioritySort",))
            client = cluster.client("kube-scheduler", "system:kube-scheduler")
            with pytest.raises(ConfigurationError) as error:
                Scheduler.new(
                    client,
                    SharedInformerFactory(client),
                    clock=Clock(),
                    configuration=SchedulerConfiguration((Profile(), profile)),
                    out_of_tree=registry,
                )
            assert str(error.value) == (
                'initializing profiles: different queue sort plugins for profile "mine": "YoungestFirst", '
                'first: "PrioritySort"'
            )

    run_virtual(main())


class Crossed(FilterPlugin):
    """While it filters a pod named `p`, somebody else binds that."""

    name = "Crossed"
    mine: Scheduler

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> None:
        if info.key == "default/p" and info.key not in self.mine.cache:
            placed = {**info.pod, "spec": {**info.pod["spec"], "nodeName": node.name}}
            self.mine.cache.add_pod(placed)


def test_a_pod_that_is_placed_while_others_had_their_turn_is_not_placed_again() -> None:
    async def main() -> None:
        crossed = Crossed()
        async with scheduling(crossed) as (cluster, mine):
            crossed.mine = mine
            await cluster.create_pod(pod("p", schedulerName="mine"))
            await asyncio.sleep(0.5)
            told = [e["message"] for e in await cluster.events("default") if e["reason"] == "FailedScheduling"]
            uid = (await cluster.pod("p"))["metadata"]["uid"]
            assert told == [f"pod {uid}(default/p) is in the cache, so can't be assumed"]
            await cluster.create_pod(pod("q", schedulerName="mine"))
            await asyncio.sleep(0.5)
            assert (await cluster.pod("q"))["spec"]["nodeName"], "the next one is decided as ever"

    run_virtual(main())
