"""Who is pushed out by whom, and what a pod is told that nobody is pushed out for."""

from __future__ import annotations

import asyncio
import random
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_labels
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, internal_error, not_found
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.handle import Candidate
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.plugins.default_preemption import DefaultPreemption
from lifecycle.scheduler.framework.preemption.dry_runs import DryRuns
from lifecycle.scheduler.framework.preemption.preemption import PIECE, enough
from lifecycle.scheduler.framework.status import Status
from lifecycle.scheduler.framework.types import FitError
from tests.kubelet.small_cluster import small_cluster
from tests.scheduler.cluster_model import Model, make_node, make_pod


def running(name: str, node: str, priority: int = 0, cpu: str = "1", **spec: Any) -> Object:
    pod = make_pod(name, labels={"app": name}, requests={"cpu": cpu}, nodeName=node, priority=priority, **spec)
    return {**pod, "status": {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}}


class Preempting:
    """A model in which one pod fits nowhere."""

    def __init__(
        self,
        nodes: list[Object],
        pods: list[Object],
        budgets: tuple[Object, ...] = (),
        batch: bool = False,
        **more: Any,
    ) -> None:
        self.model = Model(nodes, batch=batch, find_selector=lambda pod: None, list_budgets=lambda: budgets, **more)
        for pod in pods:
            self.model.cache.add_pod(pod)
        self.chosen: list[Candidate] = []
        plugin = next(p for p in self.model.framework.plugins if isinstance(p, DefaultPreemption))
        self.tried: list[str] = []
        select = plugin.select_victims_on_node

        def tried(state: CycleState, info: PodInfo, node: NodeInfo) -> Candidate | Status:
            self.tried.append(node.name)
            return select(state, info, node)

        plugin.select_victims_on_node = tried  # type: ignore[method-assign]
        plugin._evaluator._prepare_candidate = lambda info, candidate: self.chosen.append(candidate)

    def refuse(self, pod: Object) -> tuple[str | None, str]:
        """The nomination and the message after it."""
        state, info = CycleState(), PodInfo(pod)
        self.model.cache.update_snapshot(self.model.snapshot)
        try:
            self.model.algorithm.schedule_pod(state, info)
        except FitError as error:
            framework, snapshot = self.model.framework, self.model.snapshot
            work = framework.run_post_filter_plugins(state, info, snapshot, error.diagnosis.node_to_status)
            result, status = run_virtual(work)
            return result.nominated_node_name if result else None, status.message if status else ""
        raise AssertionError("it fits")

    def refuse_or_place(self, pod: Object) -> tuple[str | None, str]:
        """As `refuse`; or the node that it fits on, without leaving anybody out."""
        try:
            return self.refuse(pod)
        except AssertionError:
            return None, self.model.place(pod)

    @property
    def victims(self) -> list[str]:
        return [victim.pod["metadata"]["name"] for victim in self.chosen[0].victims]

    def evict(self, pod: Object, nominated: str) -> None:
        """The victims go, and their preemptor takes their place."""
        for victim in self.chosen.pop().victims:
            self.model.cache.remove_pod(victim.pod)
        self.model.cache.add_pod({**pod, "spec": {**pod["spec"], "nodeName": nominated}})


def important(cpu: str = "4", priority: int = 100, **spec: Any) -> Object:
    return make_pod("important", requests={"cpu": cpu}, priority=priority, **spec)


def test_a_node_too_full_of_equals_says_what_is_missing_and_one_without_lesser_pods_that_there_are_none() -> None:
    scene = Preempting(
        [make_node("mixed"), make_node("equals")],
        [running("lesser", "mixed"), running("equal-1", "mixed", 100, "2"), running("equal-2", "equals", 100, "2")],
    )
    nominated, message = scene.refuse(important())
    assert nominated == ""
    assert message == (
        "no new claims to deallocate, preemption: 0/2 nodes are available: "
        "1 Insufficient cpu, 1 No preemption victims found for incoming pod."
    )


def test_the_least_important_go_and_only_as_many_as_are_needed() -> None:
    scene = Preempting(
        [make_node("n")],
        [running("a", "n", 3), running("b", "n", 1), running("c", "n", 2), running("d", "n", 4)],
    )
    assert scene.refuse(important("2"))[0] == "n"
    assert scene.victims == ["c", "b"]


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ([5], [9], "the lower highest priority"),
        ([5, 1], [5, 4], "the lower sum"),
        ([5], [5, -2147483648], "the fewer, if the others add nothing"),
    ],
)
def test_of_two_nodes_the_one_that_hurts_less(one: list[int], other: list[int], why: str) -> None:
    pods = [
        running(f"{node}-{i}", node, priority, str(4 // len(priorities)))
        for node, priorities in (("n1", other), ("n2", one))
        for i, priority in enumerate(priorities)
    ]
    scene = Preempting([make_node("n1"), make_node("n2")], pods)
    assert scene.refuse(important())[0] == "n2", why


def test_room_kept_for_somebody_as_important_is_no_room() -> None:
    scene = Preempting([make_node("n")], [running("lesser", "n", 1, "2")])
    scene.model.nominator.add_nominated_pod(PodInfo(make_pod("first", requests={"cpu": "3"}, priority=100)), "n")
    nominated, message = scene.refuse(important("3"))
    assert nominated == ""
    assert message.endswith("0/1 nodes are available: 1 Insufficient cpu.")


def leaving(reason: str) -> Object:
    pod = running("victim", "n", 1, "4")
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:10Z"
    pod["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": reason}]
    return pod


@pytest.mark.parametrize(("reason", "waits"), [("PreemptionByScheduler", True), ("EvictionByEvictionAPI", False)])
def test_who_has_pushed_somebody_out_waits_until_that_one_is_gone(reason: str, waits: bool) -> None:
    scene = Preempting([make_node("n")], [leaving(reason)])
    preemptor = {**important(), "status": {"nominatedNodeName": "n"}}
    nominated, message = scene.refuse(preemptor)
    assert nominated == (None if waits else "n")
    assert ("not eligible due to a terminating pod on the nominated node." in message) is waits


def test_a_pod_may_renounce() -> None:
    scene = Preempting([make_node("n")], [running("lesser", "n", 1, "4")])
    nominated, message = scene.refuse(important(preemptionPolicy="Never"))
    assert (nominated, scene.chosen) == (None, [])
    assert message == "no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never."


def priority_class(name: str, value: int) -> Object:
    meta = {"name": name}
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": meta, "value": value}


def pod(name: str, cpu: str, priority: str) -> Object:
    container = {"name": "c", "image": "nginx:1.27", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"priorityClassName": priority, "containers": [container]},
    }


def test_a_nomination_ends_when_nothing_is_to_be_had_any_more() -> None:
    async def main() -> None:
        async with small_cluster(nodes=("lifecycle-worker",)) as cluster:
            await cluster.admin.create(resource("priorityclasses.scheduling.k8s.io"), priority_class("high", 1000))
            await cluster.create_pod(pod("hopeless", "500", "high"))
            await asyncio.sleep(1)
            status = {"status": {"nominatedNodeName": "lifecycle-worker"}}
            await cluster.admin.patch(
                resource("pods"), "hopeless", "default", status,
                subresource="status", patch_type=STRATEGIC_MERGE_PATCH,
            )  # fmt: skip
            await asyncio.sleep(1)
            assert cluster.scheduler is not None
            assert cluster.scheduler.nominator.nominated_node_of("default/hopeless") == "lifecycle-worker"
            await asyncio.sleep(400)  # nothing that could help happens, so it is tried again after five minutes
            assert "nominatedNodeName" not in (await cluster.pod("hopeless"))["status"]
            assert not cluster.scheduler.nominator

    run_virtual(main())


@pytest.mark.parametrize(("asks", "keeps"), [("1500m", False), ("700m", True)])
def test_the_more_important_of_two_preemptors_takes_the_nomination_if_more_have_to_go(asks: str, keeps: bool) -> None:
    async def main() -> None:
        async with small_cluster(nodes=()) as cluster:
            silent = {
                "apiVersion": "v1",
                "kind": "Node",
                **make_node("silent", cpu="2"),
            }  # no kubelet: nothing ends there
            await cluster.admin.create(resource("nodes"), silent)
            await cluster.admin.patch(resource("nodes"), "silent", "", {"spec": {"taints": None}})
            for name, value in (("low", 1), ("lower", 0), ("middle", 10), ("high", 1000)):
                await cluster.admin.create(resource("priorityclasses.scheduling.k8s.io"), priority_class(name, value))
            for name, cpu in (("low", "900m"), ("lower", "900m"), ("middle", "700m"), ("high", asks)):
                await cluster.create_pod(pod(name, cpu, name))
                await asyncio.sleep(3)
            pods = await cluster.pods("default")
            nominated = {n: p["status"].get("nominatedNodeName") for n, p in pods.items()}
            assert nominated == {"low": None, "lower": None, "high": "silent", "middle": "silent" if keeps else None}
            going = {n for n, p in pods.items() if "deletionTimestamp" in p["metadata"]}
            assert going == ({"lower"} if keeps else {"low", "lower"})

    run_virtual(main())


class Telling:
    """A client and a handle for an executor alone: the first victim's deletion is answered when `answer` is set."""

    def __init__(self, broken: bool = False) -> None:
        self.model = Preempting([make_node("n")], []).model
        self.answer = asyncio.Event()
        self.told: list[str] = []
        self.activated: list[str] = []
        self.broken = broken
        self.client = self.pod_activator = self
        self.nominator, self.clock, self.profile_name = self.model.nominator, Clock(), "default-scheduler"
        self.informers = self.event_recorder = None

    def get_waiting_pod(self, uid: str) -> None:
        return None

    def activate(self, key: str) -> None:
        self.activated.append(key)

    async def patch(self, *args: Any, **options: Any) -> None:
        pass

    async def delete(self, _: Any, name: str, namespace: str) -> None:
        self.told.append(name)
        await self.answer.wait()
        if self.broken is not None:
            raise self.broken


@pytest.mark.parametrize(
    ("broken", "told", "comes_back"),
    [
        (None, ["one", "other"], False),
        (internal_error("no"), ["one"], True),
        # the news of a deletion by somebody else may be older than the attempt: it will wake nobody
        (not_found("pods", "one"), ["one", "other"], True),
    ],
    ids=["told", "fails", "gone"],
)
def test_a_preemptor_stays_out_of_the_queue_until_the_last_victim_is_told_and_comes_back_if_telling_fails(
    broken: StatusError | None, told: list[str], comes_back: bool
) -> None:
    async def main() -> None:
        handle = Telling(broken)
        plugin = DefaultPreemption(handle)  # type: ignore[arg-type]
        preemptor = PodInfo(important())
        victims = [PodInfo(running(name, "n", 1, "2")) for name in ("one", "other")]
        plugin._executor.prepare(preemptor, Candidate("n", victims, 0))
        status = plugin.pre_enqueue(preemptor.pod)
        assert status is not None
        assert status.message == "waiting for the preemption for this pod to be finished"
        await asyncio.sleep(1)
        assert (handle.told, plugin.pre_enqueue(preemptor.pod)) == (["one"], status)
        handle.answer.set()
        await asyncio.sleep(1)
        assert handle.told == told
        assert plugin.pre_enqueue(preemptor.pod) is None
        assert handle.activated == ([preemptor.key] if comes_back else [])

    run_virtual(main())


def test_a_preemptor_stays_out_until_the_news_of_its_last_victim_is_here() -> None:
    async def main() -> None:
        handle = Telling(None)
        handle.answer.set()
        victims = [PodInfo(running(name, "n", 1, "2")) for name in ("one", "other")]
        known: dict[str, Any] = {victim.key: victim.pod for victim in victims}
        tell: dict[str, Any] = {}
        informer = SimpleNamespace(indexer=SimpleNamespace(get_by_key=known.get), add_event_handler=tell.update)
        handle.informers = SimpleNamespace(informer=lambda _: informer)  # type: ignore[assignment]
        plugin = DefaultPreemption(handle)  # type: ignore[arg-type]
        preemptor = PodInfo(important())
        plugin._executor.prepare(preemptor, Candidate("n", victims, 0))
        await asyncio.sleep(1)
        assert handle.told == ["one", "other"]
        assert plugin.pre_enqueue(preemptor.pod) is not None, "the cache still counts them"
        tell["delete"](known.pop(victims[0].key))
        assert plugin.pre_enqueue(preemptor.pod) is not None
        other = known[victims[1].key]
        known[victims[1].key] = {**other, "metadata": {**other["metadata"], "uid": "its successor"}}
        tell["update"](other, known[victims[1].key])
        assert plugin.pre_enqueue(preemptor.pod) is None
        assert handle.activated == [], "the news itself brings it back"

    run_virtual(main())


def test_nobody_slips_into_the_place_that_is_kept_for_a_preemptor() -> None:
    async def main() -> None:
        async with small_cluster(nodes=()) as cluster:
            silent = {"apiVersion": "v1", "kind": "Node", **make_node("silent", cpu="2")}  # nothing ends there
            await cluster.admin.create(resource("nodes"), silent)
            await cluster.admin.patch(resource("nodes"), "silent", "", {"spec": {"taints": None}})
            for name, value in (("low", 1), ("high", 1000)):
                await cluster.admin.create(resource("priorityclasses.scheduling.k8s.io"), priority_class(name, value))
            await cluster.create_pod(pod("victim", "1500m", "low"))
            await asyncio.sleep(1)
            await cluster.create_pod(pod("preemptor", "1800m", "high"))
            await asyncio.sleep(1)
            # beside the victim, which is still going, there is room; beside the preemptor there will be none
            await cluster.create_pod(pod("small", "400m", "low"))
            await asyncio.sleep(10)
            small = await cluster.pod("small")
            assert "nodeName" not in small["spec"]
            [condition] = small["status"]["conditions"]
            assert condition["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
            # the preemptor gives up: whoever had to respect it is tried again
            await cluster.admin.delete(resource("pods"), "preemptor", "default")
            await asyncio.sleep(15)
            assert (await cluster.pod("small"))["spec"]["nodeName"] == "silent"

    run_virtual(main())


SPREAD: Object = {
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "spread"}},
        }
    ]
}


def a_full_cluster(batch: bool) -> Preempting:
    zone = "topology.kubernetes.io/zone"
    nodes = [make_node(f"n{i}", labels={zone: "ab"[i % 2]}, cpu=("4", "3", "1")[i % 3]) for i in range(120)]
    pods = [running(f"p{i}-{j}", f"n{i}", priority=(i + j) % 4) for i in range(120) for j in range(i % 3 % 2 + 1)]
    return Preempting(nodes, pods, batch=batch)


def test_what_came_of_trying_a_node_for_the_pod_before_is_what_would_come_of_it_now() -> None:
    short, plain = a_full_cluster(True), a_full_cluster(False)
    rng, waiting = random.Random(7), list[str]()
    for number in range(60):
        cpu, priority, spec = rng.choice(
            [("3500m", 10, {}), ("2500m", 2, {}), ("2500m", 10, {}), ("3500m", 10, SPREAD), ("3500m", 10, SPREAD)]
        )
        labels = {"app": "spread"} if spec else {}
        pod = make_pod(f"important-{number}", labels=labels, requests={"cpu": cpu}, priority=priority, **spec)
        answers = [scene.refuse_or_place(pod) for scene in (short, plain)]
        assert answers[0] == answers[1]
        chosen = [[v.key for c in scene.chosen for v in c.victims] for scene in (short, plain)]
        assert chosen[0] == chosen[1]
        if number % 4 == 3:  # who waited longest gives up
            for scene in (short, plain):
                scene.model.nominator.delete_nominated_pod_if_exists(waiting[0] if waiting else "")
            del waiting[:1]
        waits = rng.random() < 0.3
        for scene, (nominated, _) in zip((short, plain), answers, strict=True):
            if scene.chosen and nominated and waits:
                scene.chosen.clear()
                waiting += [PodInfo(pod).key] if scene is short else []
                scene.model.nominator.add_nominated_pod(PodInfo(pod), nominated)
            elif scene.chosen and nominated:
                scene.evict(pod, nominated)
    assert len(short.tried) < 0.8 * len(plain.tried)  # those that others wait for are tried each time


def test_a_budget_of_disruptions_may_be_used_up_between_two_pods_so_all_nodes_are_tried_again() -> None:
    budget = {
        "metadata": {"namespace": "default", "name": "b"},
        "spec": {"selector": {"matchLabels": {"app": "none"}}},
        "status": {"disruptionsAllowed": 1},
    }
    for budgets, tries in (((), 2 * 3), ((budget,), 3 * 3)):
        nodes = [make_node(f"n{i}") for i in range(3)]
        scene = Preempting(nodes, [running(f"p{i}", f"n{i}") for i in range(3)], budgets, batch=True)
        for number in range(3):  # the first of a kind is remembered by nobody
            scene.refuse(make_pod(f"important-{number}", requests={"cpu": "4"}, priority=5))
        assert len(scene.tried) == tries


def test_selectors_of_budgets_are_kept_by_who_watches_them_and_not_read_for_each_node() -> None:
    """Whose selector it is that protects is the lister's word."""
    budget = {"metadata": {"namespace": "default", "name": "b"}, "spec": {}, "status": {"disruptionsAllowed": 0}}
    protecting = selector_from_labels({"app": "p0"})
    nodes = [make_node(f"n{i}") for i in range(2)]
    scene = Preempting(
        nodes, [running(f"p{i}", f"n{i}") for i in range(2)], (budget,), selector_of_budget=lambda obj: protecting
    )
    assert scene.refuse(make_pod("important", requests={"cpu": "4"}, priority=5))[0] == "n1"
    assert scene.victims == ["p1"]


def test_as_soon_as_enough_nodes_could_be_freed_no_others_are_tried() -> None:
    nodes = [make_node(f"n{i}") for i in range(400)]
    scene = Preempting(nodes, [running(f"p{i}", f"n{i}", 399 - i) for i in range(400)], batch=True)
    for number in range(3):
        assert scene.refuse(make_pod(f"important-{number}", requests={"cpu": "4"}, priority=500))[0] == "n99"
    assert len(scene.tried) == 2 * 4 * PIECE  # a hundred would do; the second pod tries for all later ones


@pytest.mark.parametrize(
    ("violations", "wanted", "number"),
    [([0, 0, 0], 2, 2), ([1, 1, 0, 0], 2, 3), ([0, 1], 3, 0), ([1, 1, 1], 2, 0), ([], 0, 0), ([1, 0], 2, 2)],
)
def test_enough_candidates_are_as_many_as_wanted_with_one_among_them_that_breaks_no_budget(
    violations: list[int], wanted: int, number: int
) -> None:
    assert enough([Candidate(f"n{i}", [], broken) for i, broken in enumerate(violations)], wanted) == number


def test_what_is_known_of_nodes_is_forgotten_when_they_change_or_are_kept_for_others_or_move() -> None:
    model = Model([make_node(f"n{i}") for i in range(3)], batch=True)
    model.cache.update_snapshot(model.snapshot)
    runs, nothing = DryRuns(), Candidate("n0", [], 0)

    def known() -> list[bool]:
        answers = runs.of("kind", model.snapshot, model.nominator).by_position
        told = [answer is nothing for answer in answers]
        answers[:] = [nothing] * len(answers)
        return told

    assert known() == [False] * 3
    assert known() == [True] * 3
    model.cache.add_pod(running("p", "n1"))
    model.cache.update_snapshot(model.snapshot)
    assert known() == [True, False, True]
    model.nominator.add_nominated_pod(PodInfo(make_pod("important")), "n2")
    model.nominator.add_nominated_pod(PodInfo(make_pod("other")), "gone")
    assert known() == [True, True, False]
    model.nominator.delete_nominated_pod_if_exists("default/important")
    assert known() == [True, True, False]
    model.cache.add_node(make_node("n3"))
    model.cache.update_snapshot(model.snapshot)
    assert known() == [False] * 4
    for kind in range(8):
        runs.of(kind, model.snapshot, model.nominator)
    assert known() == [False] * 4  # used longest ago
    assert runs.of(None, model.snapshot, model.nominator) is not runs.of(None, model.snapshot, model.nominator)
