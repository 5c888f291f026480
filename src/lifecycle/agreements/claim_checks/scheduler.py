"""The claims about the scheduler: put to recorded decisions and logs, and to our own
scheduler.

What is gone (predicates, priorities, the Policy file) is put to the model of it in
`historical/scheduler`.
"""

from __future__ import annotations

import asyncio
import re
from functools import cache
from typing import Any

from lifecycle.agreements.scheduler.scheduling import decide_again, pods_of
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.rehearsal import RehearsedCluster, on_virtual_time, rehearse
from lifecycle.compare.claims import Partly, check, rebuilt, some
from lifecycle.historical.scheduler.predicates import (
    DEFAULT_PREDICATES,
    pod_fits_on_node,
)
from lifecycle.historical.scheduler.priorities import (
    DEFAULT_PRIORITIES,
    prioritize_nodes,
)
from lifecycle.inspector import Recording
from lifecycle.scheduler.backend.cache.cache import Cache
from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.backend.queue.nominator import Nominator
from lifecycle.scheduler.backend.queue.scheduling_queue import SchedulingQueue
from lifecycle.scheduler.config import (
    MULTI_POINT_DEFAULTS,
    Profile,
    SchedulerConfiguration,
)
from lifecycle.scheduler.event_handlers import EventHandlers
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.events import node_events
from lifecycle.scheduler.framework.interface import FilterPlugin, ScorePlugin
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.status import Status, unschedulable
from lifecycle.scheduler.framework.types import FitError
from lifecycle.scheduler.profile import default_framework, new_framework
from lifecycle.scheduler.schedule_pod import Algorithm, ScheduleResult
from lifecycle.scheduler.scheduler import Scheduler

PODS = resource("pods")
OLD_SCORES = re.compile(r"Plugin (\w+) scores on sched/([^ ]+) => \[(.*)\]")


def node(
    name: str, cpu: str = "4", taints: tuple[Object, ...] = (), **status: Any
) -> Object:
    """A node with so much to give."""
    give = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    meta = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    return {
        "metadata": meta,
        "spec": {"taints": list(taints)},
        "status": {"allocatable": give, **status},
    }


def pod(name: str, cpu: str = "", **spec: Any) -> Object:
    """A pod that asks for so much."""
    container: Object = {"name": "c", "image": "nginx"}
    if cpu:
        container["resources"] = {"requests": {"cpu": cpu}}
    meta = {"name": name, "namespace": "default", "uid": name}
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": meta,
        "spec": {"containers": [container], **spec},
    }


def decide(
    nodes: list[Object], there: list[Object], new: Object, *plugins: Any
) -> ScheduleResult:
    """One decision. Raises FitError."""
    cached, snapshot = Cache(), Snapshot()
    mine: Any = {p.name: lambda args, handle, p=p: p for p in plugins}
    points = (*MULTI_POINT_DEFAULTS, *((name, 1) for name in mine))
    framework = new_framework(Profile(multi_point=points), out_of_tree=mine)
    for one in nodes:
        cached.add_node(one)
    for one in there:
        cached.add_pod(one)
    cached.update_snapshot(snapshot)
    return Algorithm(framework, snapshot).schedule_pod(CycleState(), PodInfo(new))


def fits(nodes: list[Object], there: list[Object], new: Object) -> bool:
    """Whether any node takes the pod."""
    try:
        decide(nodes, there, new)
    except FitError:
        return False
    return True


def scored(recording: Recording) -> dict[str, dict[str, dict[str, int]]]:
    """Pod → plugin → node → weighted score, however that version's log words it."""
    scores_by_pod: dict[str, dict[str, dict[str, int]]] = {
        d.name: d.recorded_scores for d in decide_again(recording)
    }
    for plugin, name, scores in OLD_SCORES.findall(recording.log()):
        pairs = (entry.split() for entry in re.findall(r"\{([^}]*)\}", scores))
        scores_by_pod.setdefault(name, {})[plugin] = {
            host: int(score) for host, score in pairs
        }
    return {name: scores for name, scores in scores_by_pod.items() if scores}


@cache
def hand_over() -> dict[str, Any]:
    """A second scheduler, run like any program, and pods that ask for it or for the
    first.
    """

    async def scene(cluster: RehearsedCluster) -> dict[str, Any]:
        admin = cluster.client("test")
        await admin.create(
            PODS, {**pod("ours"), "metadata": {"name": "ours"}}, "default"
        )
        await admin.create(
            PODS,
            {**pod("custom", schedulerName="custom"), "metadata": {"name": "custom"}},
            "default",
        )
        await asyncio.sleep(10)
        before = {
            p["metadata"]["name"]: p["spec"].get("nodeName")
            for p in await cluster.items("pods")
        }
        client = cluster.client("custom")
        informers = SharedInformerFactory(client)
        profile = SchedulerConfiguration((Profile("custom"),))
        running = asyncio.create_task(
            Scheduler.new(client, informers, clock=Clock(), configuration=profile).run()
        )
        informers.start()
        await asyncio.sleep(10)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await informers.stop()
        after = {
            p["metadata"]["name"]: p["spec"].get("nodeName")
            for p in await cluster.items("pods")
        }
        return {
            "before": before,
            "after": after,
            "custom": [a.path for a in cluster.requests("custom") if a.method != "GET"],
            "default": [a.path for a in cluster.requests("kube-scheduler")],
        }

    return rehearse(scene)


@check("scheduler-runs-in-control-plane-as-controller")
def own_component(recording: Recording) -> bool:
    """Its log tells of a pod's event before each attempt to place it. Where the nodes
    were looked at, it is a process of its own.
    """
    announced, after_its_event = set(), []
    for line in recording.log().splitlines():
        if event := re.search(
            r'[Aa]dd event for unscheduled pod"? (?:pod=")?([\w./-]+)', line
        ):
            announced.add(event[1])
        elif attempt := re.search(
            r'Attempting to schedule pod"?:? (?:pod=")?([\w./-]+)', line
        ):
            after_its_event.append(attempt[1] in announced)
    processes = [
        recording.node(name).run("ps")
        for name in recording.nodes()
        if "control-plane" in name
    ]
    alone = all(
        re.search(r"^.*\bkube-scheduler -(?!.*controller-manager)", text, re.M)
        for text in processes
    )
    return bool(after_its_event) and all(after_its_event) and alone


@rebuilt("scheduler-runs-in-control-plane-as-controller")
def reacts() -> bool:
    """Without it nothing places pods; the moment a second one runs, its pod is
    placed.
    """
    seen = hand_over()
    return not seen["before"]["custom"] and bool(seen["after"]["custom"])


@rebuilt("scheduler-picks-pods-without-node-name")
def picks() -> bool:
    """A pod without a node is queued; one with a node is only counted."""

    async def main() -> bool:
        cached = Cache()
        queue = SchedulingQueue(default_framework(), Clock())
        handlers = EventHandlers(cached, queue, Nominator(), lambda p: True)
        handlers.pod_added(pod("free"))
        handlers.pod_added(pod("bound", nodeName="a"))
        return (
            queue.pending_pods()["active"] == ["default/free"]
            and "default/bound" in cached
        )

    return on_virtual_time(main())


@check("scheduler-pods-pending-until-scheduled")
def pending(recording: Recording) -> bool:
    """Every pod that has no node."""
    phases = {
        p["status"]["phase"]
        for pair in pods_of(recording)
        for p in pair
        if not p["spec"].get("nodeName")
    }
    return phases == {"Pending"}


def _looked_at_again() -> list[list[str]]:
    """As what a node's change counts, that might make room: a heartbeat, more room,
    another label, the end of a cordon.
    """
    there = {
        "metadata": {"name": "n"},
        "spec": {"unschedulable": True},
        "status": {"allocatable": {"cpu": "1"}, "conditions": []},
    }
    changes: list[Object] = [
        {"status": {"allocatable": {"cpu": "1"}, "conditions": [{"type": "Ready"}]}},
        {"status": {"allocatable": {"cpu": "2"}}},
        {"metadata": {"name": "n", "labels": {"zone": "a"}}},
        {"spec": {}},
    ]
    return [
        [event.label for event in node_events(there, {**there, **change})]
        for change in changes
    ]


@rebuilt("scheduler-pods-pending-until-scheduled")
def pending_here() -> bool:
    """And ours; until a node changes so that there might be room."""

    async def scene(cluster: RehearsedCluster) -> str:
        await cluster.client("t").create(
            PODS, {**pod("p"), "metadata": {"name": "p"}}, "default"
        )
        await asyncio.sleep(100)
        return str((await cluster.items("pods"))[0]["status"]["phase"])

    return rehearse(
        scene, without=frozenset({"scheduler"})
    ) == "Pending" and _looked_at_again() == [
        [],
        ["NodeUpdateNodeAllocatable"],
        ["NodeUpdateNodeLabel"],
        ["NodeUpdateNodeTaint"],
    ]


@check("scheduler-default-predicates-filter-nodes")
def no_predicates(recording: Recording) -> bool | None:
    """The log of a scheduler with predicates would name them."""
    log = recording.log()
    if "Attempting to schedule pod" not in log:
        return None
    return any(
        name in log for name in ("PodFitsResources", "GeneralPredicates", "predicate")
    )


@rebuilt("scheduler-default-predicates-filter-nodes", model=True)
def predicates() -> bool:
    """The default ones of the model drop a node that is too small, one that is tainted,
    and keep the third.
    """
    taint = {"key": "a", "effect": "NoSchedule"}
    nodes = [
        NodeInfo(node("small", "1")),
        NodeInfo(node("tainted", taints=(taint,))),
        NodeInfo(node("good")),
    ]
    info = PodInfo(pod("p", "2"))
    return [
        n.name for n in nodes if not pod_fits_on_node(info, n, DEFAULT_PREDICATES)
    ] == ["good"]


@rebuilt("scheduler-filters-run-on-all-schedulable-nodes")
def sampled() -> Partly:
    """All of three; of a thousand only until enough fit."""
    few = decide([node(str(i)) for i in range(3)], [], pod("p")).evaluated_nodes == 3
    return Partly(
        few,
        decide([node(str(i)) for i in range(1000)], [], pod("p")).evaluated_nodes
        < 1000,
    )


@check("scheduler-resource-requests-are-checked")
def requests_checked(recording: Recording) -> bool:
    """The recorded pod that is too big for any node."""
    pod = next(
        settled
        for posted, settled in pods_of(recording)
        if posted["metadata"]["name"] == "too-big"
    )
    messages = [c.get("message", "") for c in pod["status"].get("conditions") or ()]
    return not pod["spec"].get("nodeName") and any(
        "Insufficient" in message for message in messages
    )


@rebuilt("scheduler-resource-requests-are-checked")
def requests_checked_here() -> bool:
    """Three CPUs do not go into two; one does."""
    return not fits([node("a", "2")], [], pod("p", "3")) and fits(
        [node("a", "2")], [], pod("p", "1")
    )


@rebuilt("scheduler-capacity-is-total-minus-requests")
def of_capacity() -> bool:
    """Four CPUs, of which two are for pods: a pod that asks for three would fit if
    capacity counted.
    """
    machine = node("a", "2", capacity={"cpu": "4", "memory": "8Gi", "pods": "110"})
    assert fits([machine], [], pod("small", "1"))
    return fits([machine], [], pod("p", "3"))


@rebuilt("scheduler-counts-running-containers-only")
def counts() -> Partly:
    """Running containers count; but so does a pod that has not started yet."""
    running = {**pod("r", "3", nodeName="a"), "status": {"phase": "Running"}}
    waiting = {**pod("w", "3", nodeName="a"), "status": {"phase": "Pending"}}
    return Partly(
        not fits([node("a")], [running], pod("p", "2")),
        not fits([node("a")], [waiting], pod("p", "2")),
    )


@check("scheduler-scores-after-filtering")
def plugins_score(recording: Recording) -> bool | None:
    """By priority functions, a log would have to say."""
    return some(
        plugin.endswith("Priority")
        for scores in scored(recording).values()
        for plugin in scores
    )


@rebuilt("scheduler-scores-after-filtering", model=True)
def priorities() -> bool:
    """The model's functions each give every remaining node a number."""
    nodes = [NodeInfo(node("a")), NodeInfo(node("b", "8"))]
    ranks = prioritize_nodes(PodInfo(pod("p", "1")), nodes, DEFAULT_PRIORITIES)
    return set(ranks) == {"a", "b"} and ranks["b"] > ranks["a"]


@check("scheduler-scores-before-checking-fit")
def infeasible_scored(recording: Recording) -> bool | None:
    """A pod that fits nowhere would have scores, too."""
    nowhere = {
        s["metadata"]["name"]
        for _, s in pods_of(recording)
        if not s["spec"].get("nodeName")
    }
    scores = scored(recording)
    return bool(nowhere & set(scores)) if nowhere and scores else None


@rebuilt("scheduler-scores-before-checking-fit")
def score_sees() -> bool:
    """Whether a score plugin is ever shown a node that was filtered out."""
    nodes_scored: set[str] = set()

    class Refuse(FilterPlugin):
        name = "Refuse"

        def filter(
            self, state: CycleState, info: PodInfo, node: NodeInfo
        ) -> Status | None:
            return unschedulable(self.name, "no") if node.name == "c" else None

    class Look(ScorePlugin):
        name = "Look"

        def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
            nodes_scored.add(node.name)
            return 0

    decide([node("a"), node("b"), node("c")], [], pod("p"), Refuse(), Look())
    assert {"a", "b"} <= nodes_scored, "nodes are scored"
    return "c" in nodes_scored


@check("scheduler-scores-use-usage-metrics")
def usage_plugins(recording: Recording) -> bool | None:
    """A pod's score would have to differ although requests do not; every score is
    explained by requests alone.
    """
    if not any(d.recorded_scores for d in decide_again(recording)):
        return some(
            "metrics" in plugin.lower()
            for scores in scored(recording).values()
            for plugin in scores
        )
    return any(
        d.recorded_scores and d.scores != d.recorded_scores
        for d in decide_again(recording)
    )


@rebuilt("scheduler-scores-use-usage-metrics")
def asks_for_metrics() -> bool:
    """Whether our scheduler ever asks for metrics."""
    assert hand_over()["default"], "it asks for something"
    return any("metrics" in path for path in hand_over()["default"])


@rebuilt("scheduler-favours-least-requested-nodes")
def favours() -> bool:
    """Of equal nodes the one with the least on it, and not only for the sake of
    balance: the more there is, the lower the score. A crowd that asked for nothing
    counts for something, and may be more than all; less than nothing no score is.
    """
    there = [pod(f"r{cpu}", cpu, nodeName=cpu) for cpu in "123"]
    crowd = [pod(f"r{number}", nodeName="crowded") for number in range(10, 60)]
    nodes = [node(name) for name in ("crowded", "3", "2", "1", "idle")]
    decided = decide(nodes, [*there, *crowd], pod("p", "1"))
    room = decided.scores["NodeResourcesFit"]
    order = [room[name] for name in ("crowded", "3", "2", "1", "idle")]
    return (
        decided.suggested_host == "idle"
        and order == sorted(set(order))
        and order[0] == 0
    )


@check("scheduler-highest-rank-wins")
def highest(recording: Recording) -> bool:
    """The recorded choice has the highest recorded sum, each time."""
    hosts = {
        s["metadata"]["name"]: s["spec"].get("nodeName") for _, s in pods_of(recording)
    }
    for name, plugins in scored(recording).items():
        totals: dict[str, int] = {}
        for scores in plugins.values():
            for host, score in scores.items():
                totals[host] = totals.get(host, 0) + score
        if hosts.get(name) and totals[hosts[name]] != max(totals.values()):
            return False
    return bool(hosts)


@rebuilt("scheduler-highest-rank-wins")
def highest_here() -> bool:
    """Our choice has the highest of our sums."""
    result = decide([node("a"), node("b", "8"), node("c", "2")], [], pod("p", "1"))
    totals = {
        host: sum(scores[host] for scores in result.scores.values()) for host in "abc"
    }
    return totals[result.suggested_host] == max(totals.values()) > min(totals.values())
