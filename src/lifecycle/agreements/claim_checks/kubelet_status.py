"""Claims about a pod's status: put to 32 recorded pods, and to our own kubelet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any, cast

from lifecycle.agreements.kubelet.kubelet_scene import scene
from lifecycle.agreements.kubelet.pod_status import Played, phase_of, recorded
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.pods.pod_util import is_pod_phase_terminal
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare.claims import Partly, check, every, rebuilt
from lifecycle.inspector import Recording
from lifecycle.kubelet.active_deadline import (
    REASON,
    ActiveDeadlineHandler,
    ShouldEvictResponse,
    generate_status,
    generate_status_1_20,
)
from lifecycle.kubelet.container.runtime import PodStatus
from lifecycle.kubelet.kubelet_pods.api_pod_status import generate_api_pod_status
from lifecycle.kubelet.kubelet_pods.container_statuses import StatusInputs
from lifecycle.kubelet.kubelet_pods.phase import get_phase
from lifecycle.kubelet.pod.pod_manager import PodManager
from lifecycle.kubelet.pod_sync_status import PodSyncStatuses
from lifecycle.kubelet.status.status_manager import StatusManager

Generate = Callable[[Callable[[], Object], Object, list[Any]], Object]
"""How a status comes about: from what computes it, the pod, and who may object."""
LIVE = {"Pending", "Running", "Succeeded", "Failed"}
RUNNING: Object = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
WAITING: Object = {"waiting": {"reason": "ContainerCreating"}}
DONE: Object = {"terminated": {"exitCode": 0}}
FAILED: Object = {"terminated": {"exitCode": 1}}
POD: Object = {
    "metadata": {"name": "p", "namespace": "default", "uid": "u", "generation": 1},
    "spec": {"containers": [{"name": "c", "image": "nginx"}]},
}


@lru_cache(maxsize=4)
def _story(path: Path) -> Played:
    return recorded(Recording(path))


def story(recording: Recording) -> Played | None:
    """The recorded *kubelet* scenario, if this cluster had kubelets."""
    return _story(recording.path) if "kubelet" in recording.scenarios() else None


def versions(played: Played) -> list[Object]:
    """Every status that a kubelet wrote."""
    return [
        p["status"]
        for seen in played.statuses.values()
        for p in seen
        if p["status"].get("containerStatuses")
    ]


def _status(name: str, state: Object, last: Object | None = None) -> Object:
    return {"name": name, "state": state, "lastState": last or {}}


def _fresh() -> Object:
    """What our kubelet says of a pod of which nothing exists yet."""
    return generate_api_pod_status(
        POD, PodStatus(), StatusInputs(host_ip="10.0.0.1"), {}
    )


@check("kubelet-status-generates-podstatus-with-phase")
def with_phase(recording: Recording) -> bool | None:
    """Every status a kubelet wrote has one."""
    played = story(recording)
    return (
        every(status["phase"] in LIVE for status in versions(played))
        if played
        else None
    )


@rebuilt("kubelet-status-generates-podstatus-with-phase")
def our_phase() -> bool:
    """Even of a pod of which nothing exists yet."""
    return _fresh()["phase"] == "Pending"


@check("kubelet-status-five-phases")
def five_phases(recording: Recording) -> Partly | None:
    """Four are seen; the fifth never is."""
    played = story(recording)
    seen = {status["phase"] for status in versions(played)} if played else set()
    return Partly(seen >= LIVE, "Unknown" not in seen) if played else None


@rebuilt("kubelet-status-five-phases")
def our_phases() -> Partly:
    """All states of two containers, all policies: four words come out."""
    seen = set()
    states: tuple[Object, ...] = (RUNNING, WAITING, DONE, FAILED, {})
    for policy, one, other, over in product(
        ("Always", "OnFailure", "Never"), states, states, (False, True)
    ):
        spec = {"restartPolicy": policy, "containers": [{"name": "a"}, {"name": "b"}]}
        seen.add(get_phase(spec, [_status("a", one), _status("b", other)], over))
    return Partly(seen >= LIVE, "Unknown" not in seen)


@check("kubelet-status-sync-handler-chain")
def handler_chain(recording: Recording) -> bool | None:
    """All that can be seen of it: a pod whose containers are well was ended for a
    reason that no container gives.
    """
    played = story(recording)
    return played and any(status.get("reason") == REASON for status in versions(played))  # type: ignore[return-value]


@rebuilt("kubelet-status-sync-handler-chain")
def our_handler_chain() -> bool:
    """Every handler is asked, in order, until one objects."""
    asked: list[str] = []

    def handler(name: str, evict: bool) -> Any:
        def answer(pod: Object) -> ShouldEvictResponse:
            asked.append(name)
            return ShouldEvictResponse(evict, name, name)

        return answer

    status = generate_status(
        _fresh,
        POD,
        [handler("one", False), handler("two", True), handler("three", False)],
    )
    return asked == ["one", "two"] and status["reason"] == "two"


@check("kubelet-status-handlers-run-before-phase")
def before_phase(recording: Recording) -> bool | None:
    """If the handlers came first and ended the matter, as they did, nothing would be
    said of containers.
    """
    played = story(recording)
    statuses = (
        [pod["status"] for seen in played.statuses.values() for pod in seen]
        if played
        else []
    )
    objected = [status for status in statuses if status.get("reason") == REASON]
    return (
        not any(status.get("containerStatuses") for status in objected)
        if objected
        else None
    )


@rebuilt("kubelet-status-handlers-run-before-phase")
def our_order() -> bool:
    """Which of the two is called first. As it was done in 1.20, the handlers are; and
    if one objects, nobody computes anything.
    """

    computed = _fresh()

    def play(generate: Generate, evict: bool) -> tuple[list[str], Object]:
        order: list[str] = []

        def compute() -> Object:
            order.append("phase")
            return computed

        def handler(pod: Object) -> ShouldEvictResponse:
            order.append("handler")
            return ShouldEvictResponse(evict, REASON, "too long")

        return order, generate(compute, POD, [handler])

    failed = {"phase": "Failed", "reason": REASON, "message": "too long"}
    assert play(generate_status_1_20, True) == (["handler"], failed)
    assert play(generate_status_1_20, False) == (["handler", "phase"], computed)
    return play(generate_status, False)[0][0] == "handler"


def _evicted(pod: Object) -> Partly:
    stopped = "terminated" in pod["status"]["containerStatuses"][0]["state"]
    return Partly(
        pod["status"]["phase"] == "Failed" and stopped,
        bool(pod["spec"].get("nodeName")),
    )


@check("kubelet-status-evicted-pod-becomes-failed")
def evicted(recording: Recording) -> Partly | None:
    """It failed and its container was stopped; but it is still there, and still bound
    to its node.
    """
    played = story(recording)
    return _evicted(played.pods["deadline"]) if played else None


@rebuilt("kubelet-status-evicted-pod-becomes-failed")
def our_evicted() -> Partly:
    """The same of ours, half a minute after its deadline."""
    return _evicted(scene().pods["deadline"])


@check("kubelet-status-active-deadline-example")
def deadline(recording: Recording) -> bool | None:
    """The pod with `activeDeadlineSeconds: 3`."""
    played = story(recording)
    return played and played.pods["deadline"]["status"]["reason"] == REASON  # type: ignore[return-value]


@rebuilt("kubelet-status-active-deadline-example")
def our_deadline() -> bool:
    """Not a second before, and then."""
    pod = {**POD, "spec": {**POD["spec"], "activeDeadlineSeconds": 5}}
    started = {"startTime": "1970-01-01T00:01:40Z"}
    verdicts = [
        ActiveDeadlineHandler(lambda uid: started, partial(float, at)).should_evict(pod)
        for at in (104.0, 105.0)
    ]
    return [v.evict for v in verdicts] == [False, True] and verdicts[1].reason == REASON


@check("kubelet-status-phase-derived-from-containers")
def derived(recording: Recording) -> bool | None:
    """Our function, given only the recorded container states, finds every recorded
    phase (an ending may be held back).
    """
    played = story(recording)
    if played is None:
        return None
    pods = [
        pod
        for seen in played.statuses.values()
        for pod in seen
        if pod["status"].get("containerStatuses")
    ]
    computed = [(phase_of(pod), pod["status"]["phase"]) for pod in pods]
    return every(
        ours == theirs
        or (is_pod_phase_terminal(ours) and not is_pod_phase_terminal(theirs))
        for ours, theirs in computed
    )


@rebuilt("kubelet-status-phase-derived-from-containers")
def our_derived() -> bool:
    """Init and other containers both count; and of one that has ended, whether it will
    be started again, which a rule of its own may say.
    """
    codes = {"exitCodes": {"operator": "In", "values": [42]}, "action": "Restart"}
    ruled = {"name": "c", "restartPolicyRules": [codes]}
    never: Object = {"restartPolicy": "Never", "containers": [ruled]}
    ended = [
        get_phase(never, [_status("c", {"terminated": {"exitCode": code}})], False)
        for code in (42, 1, 0)
    ]
    spec = {"initContainers": [{"name": "i"}], "containers": [{"name": "c"}]}
    init_runs = get_phase(spec, [_status("i", RUNNING), _status("c", WAITING)], False)
    both = get_phase(spec, [_status("i", DONE), _status("c", RUNNING)], False)
    return [init_runs, both, *ended] == [
        "Pending",
        "Running",
        "Running",
        "Failed",
        "Succeeded",
    ]


@check("kubelet-status-not-started-means-waiting")
def not_started(recording: Recording) -> bool | None:
    """Whatever has no id yet is waiting."""
    played = story(recording)
    if played is None:
        return None
    entries = [
        entry for status in versions(played) for entry in status["containerStatuses"]
    ]
    unstarted = [entry for entry in entries if not entry.get("containerID")]
    return bool(unstarted) and all("waiting" in entry["state"] for entry in unstarted)


@rebuilt("kubelet-status-not-started-means-waiting")
def our_not_started() -> bool:
    """With the reason that says so."""
    return bool(_fresh()["containerStatuses"][0]["state"] == WAITING)


@check("kubelet-status-waiting-container-means-pending")
def waiting_pending(recording: Recording) -> Partly | None:
    """The one that is created: Pending. The one in CrashLoopBackOff: Running."""
    played = story(recording)
    if played is None:
        return None
    first = played.statuses["plain"]
    created = [
        p["status"]
        for p in first
        if WAITING in [c["state"] for c in p["status"].get("containerStatuses", [])]
    ]
    crashed = [
        p["status"]
        for p in played.statuses["crashloop"]
        if any(
            (c["state"].get("waiting") or {}).get("reason") == "CrashLoopBackOff"
            for c in p["status"].get("containerStatuses", [])
        )
    ]
    return Partly(
        bool(created) and all(s["phase"] == "Pending" for s in created),
        bool(crashed) and all(s["phase"] == "Running" for s in crashed),
    )


@rebuilt("kubelet-status-waiting-container-means-pending")
def our_waiting_pending() -> Partly:
    """What makes the difference is an end in the past."""
    spec: Object = {"containers": [{"name": "c"}]}
    never_ran, crashed = (
        _status("c", WAITING),
        _status("c", {"waiting": {"reason": "CrashLoopBackOff"}}, FAILED),
    )
    return Partly(
        get_phase(spec, [never_ran], False) == "Pending",
        get_phase(spec, [crashed], False) == "Running",
    )


def _not_ready(status: Object) -> bool:
    [ready] = [c for c in status["conditions"] if c["type"] == "Ready"]
    return (ready["status"], ready["reason"]) == ("False", "ContainersNotReady")


@check("kubelet-status-podready-false-before-containers")
def not_ready(recording: Recording) -> bool | None:
    """The first thing that a kubelet writes of each pod, while all of it waits."""
    played = story(recording)
    if played is None:
        return None
    firsts = []
    for seen in played.statuses.values():
        of_kubelet = [p["status"] for p in seen if p["status"].get("containerStatuses")]
        if of_kubelet and not any(
            c.get("containerID") for c in of_kubelet[0]["containerStatuses"]
        ):
            firsts.append(of_kubelet[0])
    return bool(firsts) and all(map(_not_ready, firsts))


@rebuilt("kubelet-status-podready-false-before-containers")
def our_not_ready() -> bool:
    """The same of ours."""
    return _not_ready(_fresh())


@check("kubelet-status-manager-updates-asynchronously")
def patches(recording: Recording) -> bool | None:
    """Kubelets write with a PATCH of the status, some time after what they report. That
    they wait for no answer shows in ours.
    """
    if not (recording.path / "audit" / "journey.jsonl").exists():
        return None
    verbs = {
        event["verb"]
        for event in recording.audit("journey")
        if event["user"]["username"].startswith("system:node:")
        and event["requestURI"].endswith("/status")
    }
    return verbs == {"patch"}


class _Blocked:
    """An API server that does not answer."""

    async def get(self, *_: Any) -> Object:
        await asyncio.Event().wait()
        raise AssertionError


@rebuilt("kubelet-status-manager-updates-asynchronously")
def our_manager() -> bool:
    """Nobody answers, and yet the status is there and the caller goes on."""

    async def main() -> bool:
        manager = StatusManager(
            cast(Any, _Blocked()),
            Clock(),
            PodManager(),
            PodSyncStatuses(),
        )
        manager.set_pod_status(POD, _fresh())
        await asyncio.sleep(1)
        known = manager.get_pod_status("u")
        await manager.stop()
        return known is not None and known["phase"] == "Pending"

    return on_virtual_time(main())
