"""Victims are told, deleted and reported; who loses a nomination; and when the preemptor may be tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, internal_error, not_found
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH, Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.scheduler.backend.queue.nominator import Nominator
from lifecycle.scheduler.backend.queue.pod_activator import PodActivator
from lifecycle.scheduler.framework.handle import Candidate, start_time
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.preemption.executor import Executor
from tests.fake_api import FakeAPI
from tests.scheduler.cluster_model import make_pod

PODS = resource("pods")


class Scene:
    """An executor, what it writes, says and wakes. `waiting`: pods that Permit plugins let wait, by uid."""

    def __init__(
        self, refuse: Callable[[Any], StatusError | None] = lambda request: None, informers: bool = False
    ) -> None:
        self.requests: list[tuple[str, str, Any, str]] = []
        self.told: list[tuple[str, str, str, str]] = []
        self.woken: list[str] = []
        self.waiting: dict[str, Any] = {}

        def note(request: Any) -> StatusError | None:
            if request.method in ("PATCH", "DELETE"):
                path = request.path.removeprefix("/api/v1/namespaces/default/pods/")
                self.requests.append((request.method, path, request.obj, request.headers.get("content-type", "")))
            return refuse(request)

        self.api = FakeAPI(refuse=note)
        self.nominator, activator = Nominator(), PodActivator()
        activator.subscribe(self.woken.append)
        client = Client(self.api, "scheduler/1")
        self.factory = SharedInformerFactory(client) if informers else None
        handle: Any = SimpleNamespace(
            client=client, informers=self.factory, nominator=self.nominator, pod_activator=activator,
            event_recorder=SimpleNamespace(event=self.event), profile_name="mine", clock=Clock(), get_waiting_pod=self.waiting.get,
        )  # fmt: skip
        self.handle = handle
        self.executor = Executor("Pre", handle)

    def event(self, about: Object, kind: str, reason: str, text: str) -> None:
        assert (about["kind"], about["apiVersion"]) == ("Pod", "v1")
        self.told.append((about["metadata"]["name"], kind, reason, text))

    def plant(self, name: str, **spec: Any) -> PodInfo:
        pod = make_pod(name, **spec)
        pod["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
        return PodInfo(self.api.write("ADDED", PODS, pod))

    def brief(self) -> list[tuple[str, str]]:
        return [(method, path) for method, path, _, _ in self.requests]


PREEMPTOR = PodInfo(make_pod("vip", priority=100))


def test_each_victim_gets_a_condition_is_deleted_and_reported() -> None:
    async def main() -> None:
        scene = Scene()
        victims = [scene.plant("v1"), scene.plant("v2")]
        scene.executor.prepare(PREEMPTOR, Candidate("n", victims, 0))
        assert scene.executor.is_pod_running_preemption("vip")
        assert not scene.executor.is_pod_running_preemption("other")
        await asyncio.sleep(1)
        assert scene.brief() == [("PATCH", "v1/status"), ("DELETE", "v1"), ("PATCH", "v2/status"), ("DELETE", "v2")]
        _, _, patch, content = scene.requests[0]
        [condition] = patch["status"]["conditions"]
        assert content == STRATEGIC_MERGE_PATCH
        assert {key: condition[key] for key in ("type", "status", "reason", "message")} == {
            "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
            "message": "mine: preempting to accommodate a higher priority pod",
        }  # fmt: skip
        assert scene.told == [(n, "Normal", "Preempted", "Preempted by pod vip on node n") for n in ("v1", "v2")]
        assert scene.woken == []
        assert not scene.executor.is_pod_running_preemption("vip")
        await scene.executor.close()

    run_virtual(main())


def test_who_is_on_the_way_out_already_is_not_told_again() -> None:
    async def main() -> None:
        scene = Scene()
        going = make_pod("going")
        going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        scene.executor.prepare(PREEMPTOR, Candidate("n", [PodInfo(going)], 0))
        assert not scene.executor.is_pod_running_preemption("vip")
        scene.executor.prepare(PREEMPTOR, Candidate("n", [PodInfo(going), scene.plant("v")], 0))
        await asyncio.sleep(1)
        assert scene.brief() == [("PATCH", "v/status"), ("DELETE", "v")]
        scene.handle.client = None
        scene.executor.prepare(PREEMPTOR, Candidate("n", [scene.plant("w")], 0))
        assert not scene.executor.is_pod_running_preemption("vip"), "without a cluster nobody is evicted"
        await scene.executor.close()

    run_virtual(main())


def test_a_victim_that_waits_for_its_binding_is_only_told() -> None:
    async def main() -> None:
        scene = Scene()
        said: list[tuple[str, str]] = []
        scene.waiting["v"] = SimpleNamespace(preempt=lambda plugin, text: said.append((plugin, text)))
        scene.executor.prepare(PREEMPTOR, Candidate("n", [PodInfo(make_pod("v"))], 0))
        await asyncio.sleep(1)
        assert said == [("Pre", "preempted")]
        assert scene.brief() == []
        assert [name for name, *_ in scene.told] == ["v"]
        await scene.executor.close()

    run_virtual(main())


def test_less_important_pods_that_the_node_was_kept_for_look_elsewhere() -> None:
    async def main() -> None:
        scene = Scene()
        for name, priority, node in (("low", 99, "n"), ("equal", 100, "n"), ("elsewhere", 1, "m")):
            scene.nominator.add_nominated_pod(scene.plant(name, priority=priority), node)
        scene.nominator.add_nominated_pod(PREEMPTOR, "n")
        scene.executor.prepare(PREEMPTOR, Candidate("n", [scene.plant("v")], 0))
        await asyncio.sleep(1)
        assert scene.brief()[0] == ("PATCH", "low/status")
        assert scene.requests[0][2:] == ({"status": {"nominatedNodeName": None}}, STRATEGIC_MERGE_PATCH)
        assert scene.brief()[1:] == [("PATCH", "v/status"), ("DELETE", "v")]
        kept = {
            name: scene.nominator.nominated_node_of(f"default/{name}") for name in ("low", "equal", "elsewhere", "vip")
        }
        assert kept == {"low": "", "equal": "n", "elsewhere": "m", "vip": "n"}
        assert scene.woken == []
        await scene.executor.close()

    run_virtual(main())


BROKEN, GONE = internal_error("out of order"), not_found("pods", "x")


@pytest.mark.parametrize(
    ("path", "error", "woken", "asked"),
    [
        ("low/status", BROKEN, True, ["low/status", "v1/status", "v1", "v2/status", "v2"]),
        ("low/status", GONE, False, ["low/status", "v1/status", "v1", "v2/status", "v2"]),
        ("v1/status", BROKEN, True, ["low/status", "v1/status"]),  # nobody else is evicted in vain
        ("v1/status", GONE, True, ["low/status", "v1/status", "v2/status", "v2"]),  # the news may have come already
        ("v2", BROKEN, True, ["low/status", "v1/status", "v1", "v2/status", "v2"]),
    ],
)  # fmt: skip
def test_if_telling_fails_the_preemptor_comes_back_at_once(
    path: str, error: StatusError, woken: bool, asked: list[str]
) -> None:
    async def main() -> None:
        scene = Scene(
            lambda request: error if request.method != "GET" and request.path.endswith(f"/pods/{path}") else None
        )
        scene.nominator.add_nominated_pod(scene.plant("low", priority=1), "n")
        scene.executor.prepare(PREEMPTOR, Candidate("n", [scene.plant("v1"), scene.plant("v2")], 0))
        await asyncio.sleep(1)
        assert [where for _, where in scene.brief()] == asked
        assert scene.woken == (["default/vip"] if woken else [])
        assert not scene.executor.is_pod_running_preemption("vip")
        await scene.executor.close()

    run_virtual(main())


def test_what_is_over_is_over_when_the_news_of_the_last_victim_is_here() -> None:
    async def main() -> None:
        scene = Scene(informers=True)
        assert scene.factory is not None
        victim = scene.plant("v")
        informer = scene.factory.informer(PODS)
        scene.factory.start()
        await asyncio.sleep(1)
        executor = scene.executor
        reborn = {**victim.pod, "metadata": {**victim.pod["metadata"], "uid": "another"}}
        going = {**victim.pod, "metadata": {**victim.pod["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
        executor._running["vip"] = None
        for verb, news in (("MODIFIED", going), ("MODIFIED", reborn), ("DELETED", victim.pod)):
            assert executor.is_pod_running_preemption("vip"), "others are told first"
            executor._wait_for("vip", victim)
            assert executor.is_pod_running_preemption("vip")
            scene.api.write(verb, PODS, news)
            await asyncio.sleep(1)
            assert not executor.is_pod_running_preemption("vip")
            executor._running["vip"] = None
            executor._wait_for("vip", victim)
            assert not executor.is_pod_running_preemption("vip"), "it was heard of before"
            assert executor._waiting_for == {}
            scene.api.write("MODIFIED" if verb == "MODIFIED" else "ADDED", PODS, victim.pod)
            await asyncio.sleep(1)
            executor._running["vip"] = None
        assert len(informer.indexer.list()) == 1
        await scene.factory.stop()

    run_virtual(main())


def test_who_has_begun_to_preempt_anew_waits_no_longer_for_the_victim_before() -> None:
    async def main() -> None:
        scene = Scene(informers=True)
        assert scene.factory is not None
        before = scene.plant("v")
        scene.factory.informer(PODS)
        scene.factory.start()
        await asyncio.sleep(1)
        executor = scene.executor
        executor._running["vip"] = None
        executor._wait_for("vip", before)
        executor._running["vip"] = None
        scene.api.write("DELETED", PODS, before.pod)
        await asyncio.sleep(1)
        assert executor.is_pod_running_preemption("vip")
        assert executor._waiting_for == {}
        await scene.factory.stop()

    run_virtual(main())


def test_of_who_waits_nobody_looks_after_each_at_each_change() -> None:
    """A thousand may wait, and each of them has a few victims: what is heard of others costs them nothing."""

    async def main() -> None:
        scene = Scene(informers=True)
        assert scene.factory is not None
        victims = [scene.plant(f"v{number}") for number in range(50)]
        others = [scene.plant(f"o{number}") for number in range(20)]
        scene.factory.informer(PODS)
        scene.factory.start()
        await asyncio.sleep(1)
        executor = scene.executor
        for victim in victims:
            executor._running[victim.uid] = None
            executor._wait_for(victim.uid, victim)
        looked: list[str] = []
        seen = executor._is_seen_going
        executor._is_seen_going = lambda last: bool(looked.append(last.key)) or seen(last)  # type: ignore[method-assign]
        for other in others:
            scene.api.write("DELETED", PODS, other.pod)
        scene.api.write("DELETED", PODS, victims[7].pod)
        await asyncio.sleep(1)
        assert looked == [victims[7].key]
        assert set(executor.running) == {victim.uid for victim in victims} - {victims[7].uid}
        await scene.factory.stop()

    run_virtual(main())


def victim(name: str, priority: int, started: str | None = "2026-01-01T00:00:00Z") -> PodInfo:
    return PodInfo({**make_pod(name, priority=priority), "status": {"startTime": started} if started else {}})


def test_how_much_a_candidate_hurts() -> None:
    """`pickOneNodeForPreemption`: broken budgets, the highest priority, the sum, the number, the start of the most important."""
    offset = 2**31
    both = Candidate(
        "n", [victim("a", 5, "2026-01-02T00:00:00Z"), victim("b", -3), victim("c", 5, "2026-01-03T00:00:00Z")], 2
    )
    assert both.rank == (2, 5, 7 + 3 * offset, 3)
    assert both.earliest == "2026-01-02T00:00:00Z"
    assert Candidate("n", [], 0).rank == (0, -offset, 0, 0)
    assert Candidate("n", [], 0).earliest == ""
    assert Candidate("n", [victim("a", 0, None)], 0).earliest == "9999" == start_time(victim("a", 0, None))
    assert Candidate("n", [victim("a", -5, "2026-01-02T00:00:00Z")], 0).earliest == "2026-01-02T00:00:00Z"
