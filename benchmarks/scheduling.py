"""The scheduler alone on five thousand nodes that nobody runs: pods a second from their creation to their binding.

These are five workloads of upstream's `test/integration/scheduler_perf` (v1.36), restated: the same kinds of nodes and
pods, an API server with the same three admission plugins left out, all plugins of the default profile, and neither
controllers nor kubelets. What is measured covers the creation of the measured pods, their binding, and their
events, as there. Two things differ. The pods that are there before are created on their nodes, in turn, instead of being
scheduled. And fewer pods are measured than upstream's 5,000 to 10,000, so that all workloads together take a minute or two.

The figures are pods per second of the processor: client, server and scheduler share one process and one thread, which
have a quiet machine to themselves, and on a busy one the clock says nothing.

Each runs in a process of its own (`python -m benchmarks.scheduling WORKLOAD [PODS [NODES]]` runs one).
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count

from benchmarks.measure import Result, processor_stopwatch, stopwatch
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.apiserver.admission.options import AdmissionOptions
from lifecycle.client.rest import Client
from lifecycle.cluster.background import favour_throughput, new_event_loop
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig

NODES = 5_000
PODS = 1_000
ZONE = "topology.kubernetes.io/zone"
BEFORE, MEASURED = "sched-0", "sched-1"
CREATING = 32
"""How many creations are under way at a time."""


def node(number: int, zones: int) -> Object:
    """A machine of 4 CPUs and 32 GiB in one of some zones."""
    name = f"node-{number}"
    labels = {"kubernetes.io/hostname": name, ZONE: f"zone{number % zones + 1}"}
    amounts = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(*, cpu: str = "100m", labels: dict[str, str] | None = None, **spec: object) -> Object:
    """A pod of one container that asks for something; it gets its name when it is created."""
    container = {
        "name": "pause",
        "image": "registry.k8s.io/pause:3.10.1",
        "ports": [{"containerPort": 80}],
        "resources": {"requests": {"cpu": cpu, "memory": "500Mi"}, "limits": {"cpu": cpu, "memory": "500Mi"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"labels": labels or {}},
        "spec": {"containers": [container], **spec},
    }


def default() -> Object:
    """Asks for nothing but room."""
    return pod()


def to_zones() -> Object:
    """Goes only where the zone is one of two."""
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["zone1", "zone2"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return pod(affinity={"nodeAffinity": required})


def spread_over_zones() -> Object:
    """May not make one zone hold five more of its like than another."""
    return pod(
        labels={"color": "blue"},
        topologySpreadConstraints=[
            {
                "maxSkew": 5,
                "topologyKey": ZONE,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"color": "blue"}},
            }
        ],
    )


def near_its_like() -> Object:
    """Goes only into a zone where one of its like runs."""
    term = {
        "labelSelector": {"matchLabels": {"color": "blue"}},
        "topologyKey": ZONE,
        "namespaces": [MEASURED, BEFORE],
    }
    return pod(
        labels={"color": "blue"},
        affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
    )


def victim() -> Object:
    """Leaves at once when a more important pod wants its room."""
    return pod(cpu="900m", terminationGracePeriodSeconds=0)


def important() -> Object:
    """Fits nowhere until three victims have left one node."""
    return pod(cpu="3000m", priority=10)


@dataclass(frozen=True, slots=True)
class Workload:
    """`before` pods of one kind are there for each node, then others are measured. `goal`: pods a second."""

    goal: float
    before: float
    there: Callable[[], Object]
    measured: Callable[[], Object]
    zones: int = 1


WORKLOADS = {
    "SchedulingBasic": Workload(500, 0.2, default, default),
    "SchedulingNodeAffinity": Workload(300, 1, to_zones, to_zones),
    "TopologySpreading": Workload(150, 1, default, spread_over_zones, zones=3),
    "SchedulingPodAffinity": Workload(60, 1, near_its_like, near_its_like),
    "Preemption": Workload(200, 4, victim, important),
}


async def create_all(client: Client, kind: str, objects: Iterable[Object], namespace: str = "") -> None:
    """Some at a time, as upstream's workers do."""
    queue = iter(objects)

    async def worker() -> None:
        for thing in queue:
            await client.create(resource(kind), thing, namespace)

    await asyncio.gather(*(worker() for _ in range(CREATING)))


def named(make: Callable[[], Object], number: int, place: str = "") -> Object:
    """One more pod of a kind, on a node if `place` names one."""
    made = make()
    made["metadata"]["name"] = f"pod-{number}"
    if place:
        made["spec"]["nodeName"] = place
    return made


async def measure(workload: Workload, pods: int, nodes: int) -> dict[str, float]:
    """Pods a second, and seconds of the processor from the first creation to the last binding."""
    without = ("controllers", "kubelet", "proxy", "dns")
    admission = AdmissionOptions(disable=("ServiceAccount", "TaintNodesByCondition", "Priority"))
    cluster = Cluster(ClusterConfig(nodes=1, https=False, without=without, admission=admission))
    await cluster.start()
    client = cluster.client("bench")
    for name in (BEFORE, MEASURED):
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        await client.create(resource("namespaces"), space)
    await create_all(client, "nodes", (node(number, workload.zones) for number in range(nodes)))
    there = range(int(workload.before * nodes))
    places = (named(workload.there, number, f"node-{number % nodes}") for number in there)
    await create_all(client, "pods", places, BEFORE)
    await asyncio.sleep(1)  # until the scheduler has heard of them all
    favour_throughput()
    bound: set[str] = set()

    async def until_bound() -> None:
        stream = await client.watch(resource("pods"), MEASURED, resource_version="0", bookmarks=False)
        async for frame in stream:
            if frame.object["spec"].get("nodeName"):
                bound.add(frame.object["metadata"]["name"])
                if len(bound) == pods:
                    return

    waiting = asyncio.ensure_future(until_bound())
    elapsed, computed = stopwatch(), processor_stopwatch()
    numbers = count()
    await create_all(client, "pods", (named(workload.measured, next(numbers)) for _ in range(pods)), MEASURED)
    await waiting
    figures = {"seconds": elapsed(), "cpu": computed()}
    await cluster.stop()
    return figures


async def in_process_of_its_own(name: str) -> dict[str, float]:
    """What `measure` returns."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.scheduling", name, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    figures: dict[str, float] = json.loads(out)
    return figures


async def run() -> list[Result]:
    """Each workload in a fresh process."""
    results = []
    for name, workload in WORKLOADS.items():
        figures = await in_process_of_its_own(name)
        note = f"{PODS:,} pods, {int(workload.before * NODES):,} there before; processor time"
        what = f"pods bound on 5,000 nodes, {name}"
        results.append(Result(what, "1/s", PODS / figures["cpu"], workload.goal, "higher", note=note))
    return results


def main() -> None:
    """`python -m benchmarks.scheduling WORKLOAD [PODS [NODES]]` prints seconds, waited and computed."""
    workload = WORKLOADS[sys.argv[1]]
    pods, nodes = (int(sys.argv[at]) if len(sys.argv) > at else usual for at, usual in ((2, PODS), (3, NODES)))
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        print(json.dumps(runner.run(measure(workload, pods, nodes))))


if __name__ == "__main__":
    main()
