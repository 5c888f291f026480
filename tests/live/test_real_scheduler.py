"""The real kube-scheduler and ours, each at work for one of two equal API servers: the same pods, one after the other.

For each pod: the same node (or another one of those with the highest sum, which is computed), the same score of every plugin for
every node, the same refusal, condition, events and writes. Where chance has chosen differently, ours is put where the real one
put it, so that the next pod meets the same cluster. Runs where `KUBE_BIN` is set.
"""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.apiserver.audit.options import AuditOptions
from lifecycle.cluster.background import BackgroundCluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.scheduler.backend.cache.cache import Cache
from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.types import FitError
from lifecycle.scheduler.profile import default_framework
from lifecycle.scheduler.schedule_pod import Algorithm, Scores
from tests.live.real_programs import identity, kube_bin, real_scheduler
from tests.live.scheduler_inputs import Inputs, priority_class
from tests.live.stage import Objects, Stage
from tests.live.witness import POLICY, Outcome, events, untold, unwritten, writes

SCHEDULER = "system:kube-scheduler"
NAMESPACE = "sched"
SEEDS = (1, 2, 3)
SCORED = re.compile(
    rf'"Plugin scored node for pod" pod="{NAMESPACE}/([^"]+)" plugin="(\w+)" node="([^"]+)" score=(-?\d+)'
)
CHANCE = re.compile(r"(?<=Successfully assigned sched/)(\S+) to \S+|(?<=Preempted by pod )\S+")
"""In an event: the node, which is compared by itself, and a uid."""


@dataclass(slots=True)
class Decided:
    """What became of one pod on one side."""

    node: str = ""
    conditions: list[tuple[str, ...]] = field(default_factory=list)
    beside: dict[str, str] = field(default_factory=dict)
    """The pods that are on nodes then."""


@dataclass(slots=True)
class Trial:
    """One pod: both answers, and what is computed from the real side's cluster as it was before."""

    ours: Decided
    theirs: Decided
    best: set[str] = field(default_factory=set)
    scores: Scores = field(default_factory=dict)


@dataclass(slots=True)
class Judged:
    """All pods of a seed, what the real scheduler logged, and what either side told and wrote."""

    trials: dict[str, Trial] = field(default_factory=dict)
    logged: dict[str, Scores] = field(default_factory=dict)
    sides: dict[str, Outcome] = field(default_factory=dict)


def condition_of(pod: Object) -> tuple[str, ...]:
    """PodScheduled, but for its times."""
    for condition in pod.get("status", {}).get("conditions", ()):
        if condition["type"] == "PodScheduled":
            return tuple(str(condition.get(key, "")) for key in ("status", "reason", "message"))
    return ()


class Side:
    """One of the two clusters: an API server, a scheduler, nodes without kubelets."""

    def __init__(self, folder: Path, *, real: bool) -> None:
        folder.mkdir()
        (folder / "policy.yaml").write_text(POLICY)
        self.log = folder / "audit.log"
        audit = AuditOptions(policy_file=folder / "policy.yaml", log_path=self.log)
        without = ("controllers", "kubelet", "proxy", "dns", *(("scheduler",) if real else ()))
        self._folder, self._real, self._started = folder, real, 0
        self._bound: dict[str, str] = {}
        self._running = BackgroundCluster(ClusterConfig(without=without, audit=audit))

    @contextlib.contextmanager
    def running(self, nodes: list[Object]) -> Iterator[None]:
        """With nodes that the scheduler has seen."""
        with self._running, contextlib.ExitStack() as programs:
            cluster = self._running.cluster
            assert cluster is not None
            if self._real:
                authority = cluster.server.certificates
                connection = identity(authority, cluster.url, self._folder / "kubeconfig", SCHEDULER, context="real")
                programs.enter_context(real_scheduler(connection, self._folder, "-v=10"))
            self.stage = Stage(cluster.client("kubectl"), NAMESPACE)
            self._running.run(self._open(nodes))
            yield

    async def _open(self, nodes: list[Object]) -> None:
        stage = self.stage
        await stage.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, "")
        await stage.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})
        await stage.create(priority_class(), "")
        for node in nodes:
            await stage.create(node, "")
            await stage.patch(
                "nodes", node["metadata"]["name"], {"spec": {"taints": node["spec"]["taints"]}}, namespace=""
            )
        for node in nodes:  # a pod that only this one can have shows that it is known as it is now
            container = {"name": "c", "image": "none", "resources": {}}
            spec = {
                "nodeSelector": {"rank": node["metadata"]["labels"]["rank"]},
                "tolerations": [{"operator": "Exists"}],
            }
            spec |= {"containers": [container], "terminationGracePeriodSeconds": 0}
            await stage.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe"}, "spec": spec})
            await stage.until("pods", lambda items: "nodeName" in items["probe"]["spec"])
            await stage.delete("pods", "probe")

    def objects(self, name: str) -> list[Object]:
        """All of a resource."""
        items: list[Object] = self._running.run(self.stage.client.list(resource(name)))["items"]
        return items

    def decide(self, pod: Object) -> Decided:
        """Post a pod, lift its gates once they hold it, and wait for what becomes of it."""
        return self._running.run(self._decide(pod))

    async def _decide(self, pod: Object) -> Decided:
        stage, name, decided = self.stage, pod["metadata"]["name"], Decided()
        await stage.create(pod)
        if pod["spec"].get("schedulingGates"):
            items = await stage.until("pods", lambda items: bool(condition_of(items[name])))
            decided.conditions.append(condition_of(items[name]))
            await stage.patch("pods", name, {"spec": {"schedulingGates": None}})

        def over(items: Objects) -> bool:
            nominated = items[name].get("status", {}).get("nominatedNodeName")
            refused = condition_of(items[name])[1:2] == ("Unschedulable",) and not nominated
            return "nodeName" in items[name]["spec"] or refused

        items = await stage.until("pods", over)
        if "nodeName" in items[name]["spec"]:  # nobody starts it; but among victims the youngest counts
            self._started += 1
            await self._start(name)
        decided.node = self._bound[name] = items[name]["spec"].get("nodeName", "")
        decided.conditions.append(condition_of(items[name]))
        if not decided.node:  # nobody is to come back to it while others are decided
            await stage.delete("pods", name)
        decided.beside = {n: p["spec"]["nodeName"] for n, p in items.items() if "nodeName" in p["spec"] and n != name}
        return decided

    def put(self, pod: Object, node: str) -> None:
        """Have the pod on this node, whatever the scheduler thought."""

        async def move() -> None:
            await self.stage.delete("pods", pod["metadata"]["name"])
            spec = {k: v for k, v in pod["spec"].items() if k != "schedulingGates"}
            await self.stage.create({**pod, "spec": {**spec, "nodeName": node}})
            await self._start(pod["metadata"]["name"])

        self._running.run(move())

    async def _start(self, name: str) -> None:
        since = f"2026-01-01T00:{self._started // 60:02}:{self._started % 60:02}Z"
        await self.stage.patch("pods", name, {"status": {"startTime": since}}, "status")

    def outcome(self) -> Outcome:
        """What was told and written, once all that found a node have been told of."""
        bound = {name for name, node in self._bound.items() if node}

        def complete(items: Objects) -> bool:
            return bound <= {e["involvedObject"]["name"] for e in items.values() if e["reason"] == "Scheduled"}

        self._running.run(self.stage.until("events", complete))
        told = self._running.run(events(self.stage.client, NAMESPACE, frozenset({"default-scheduler"})))
        outcome = Outcome(writes=writes(self.log, (SCHEDULER,)).get(NAMESPACE, {}))
        outcome.events.update((*event[:-1], CHANCE.sub("…", event[-1])) for event in told)
        return outcome


def computed(pod: Object, nodes: list[Object], pods: list[Object]) -> tuple[set[str], Scores]:
    """The nodes with the highest sum of our scores, and the scores; nothing for a pod that fits nowhere."""
    cache, snapshot = Cache(), Snapshot()
    for node in nodes:
        cache.add_node(node)
    for other in pods:
        if other["spec"].get("nodeName"):
            cache.add_pod(other)
    cache.update_snapshot(snapshot)
    try:
        result = Algorithm(default_framework(), snapshot, rng=random.Random(1)).schedule_pod(CycleState(), PodInfo(pod))
    except FitError:
        return set(), {}
    totals: dict[str, int] = {}
    for of_plugin in result.scores.values():
        for node_name, score in of_plugin.items():
            totals[node_name] = totals.get(node_name, 0) + score
    highest = max(totals.values(), default=0)
    return {n for n, total in totals.items() if total == highest} or {result.suggested_host}, result.scores


@pytest.fixture(scope="module", params=SEEDS)
def judged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """A seed's pods, decided by both."""
    kube_bin("kube-scheduler")
    folder, inputs, judged = tmp_path_factory.mktemp("scheduler"), Inputs(request.param), Judged()
    nodes = inputs.nodes()
    ours, theirs = Side(folder / "ours", real=False), Side(folder / "theirs", real=True)
    with ours.running(nodes), theirs.running(nodes):
        for pod in inputs.pods():
            nodes_now, pods_now = theirs.objects("nodes"), theirs.objects("pods")
            trial = Trial(ours.decide(pod), theirs.decide(pod))
            name = pod["metadata"]["name"]
            if trial.theirs.node:
                posted = next(p for p in theirs.objects("pods") if p["metadata"]["name"] == name)
                spec = {k: v for k, v in posted["spec"].items() if k not in ("nodeName", "schedulingGates")}
                trial.best, trial.scores = computed({**posted, "spec": spec}, nodes_now, pods_now)
                if trial.ours.node != trial.theirs.node:
                    ours.put(pod, trial.theirs.node)
            judged.trials[name] = trial
        judged.sides = {"ours": ours.outcome(), "theirs": theirs.outcome()}
    for name, plugin, node, score in SCORED.findall((folder / "theirs" / "kube-scheduler.log").read_text()):
        judged.logged.setdefault(name, {}).setdefault(plugin, {})[node] = int(score)
    return judged


def test_a_pod_goes_where_the_real_one_puts_it_or_to_another_of_the_best(judged: Judged) -> None:
    assert {
        name: (trial.ours.node, trial.theirs.node, trial.best)
        for name, trial in judged.trials.items()
        if trial.ours.node != trial.theirs.node and not {trial.ours.node, trial.theirs.node} <= trial.best
    } == {}
    assert any(trial.theirs.node for trial in judged.trials.values())


def test_every_plugin_gives_every_node_the_same_score(judged: Judged) -> None:
    scored = {name: trial.scores for name, trial in judged.trials.items() if trial.best and trial.scores}
    assert scored
    assert scored == {name: judged.logged.get(name) for name in scored}


def test_a_pod_is_refused_and_held_back_in_the_same_words(judged: Judged) -> None:
    refused = {n: (t.ours.conditions, t.theirs.conditions) for n, t in judged.trials.items()}
    assert {n: pair for n, pair in refused.items() if pair[0] != pair[1]} == {}
    words = [c[1] for _, theirs in refused.values() for c in theirs]
    assert {"Unschedulable", "SchedulingGated"} <= set(words)


def test_the_same_pods_are_pushed_aside(judged: Judged) -> None:
    assert {n: t.ours.beside for n, t in judged.trials.items()} == {
        n: t.theirs.beside for n, t in judged.trials.items()
    }
    assert any("Preempted" in event[3] for event in judged.sides["theirs"].events)


def test_the_same_is_told_and_written(judged: Judged) -> None:
    ours, theirs = judged.sides["ours"], judged.sides["theirs"]
    assert ours.events
    assert ours.writes
    assert untold(ours, theirs) == []
    assert unwritten(ours, theirs) == []
