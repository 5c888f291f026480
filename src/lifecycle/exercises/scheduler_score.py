"""A score of the scheduler: how empty is this node?

The right answers are the scores that the recorded scheduler logged (`-v=10`) for its
plugin NodeResourcesFit, and a grid of requests for the corners.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from lifecycle.agreements.scheduler.scheduling import logged_scores, noted, pods_of
from lifecycle.api.http.wire import Object
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.inspector import open_recording
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.plugins.node_resources_fit import NodeResourcesFit

CONTRACT = """\
score(pod, node, pods) -> int from 0 to 100

pod:  the pod to place, as in the API.
node: the Node; its status.allocatable is what there is.
pods: the pods that are on it already.
The free share of cpu and of memory once the pod is there, in per cent, each rounded
down; then the mean, rounded down. A pod's request is the sum of its containers'
(quantities like "250m", "1", "64Mi"). For this score a container that asks for no
cpu counts as 100m, and one that asks for no memory as 200Mi. A resource of which too
little is left counts 0, one that the node does not have is not counted at all."""

STARTER = '''\
def score(pod, node, pods):
    """How empty the node would be, in per cent."""
    capacity = int(node["status"]["allocatable"]["pods"])
    return 100 * (capacity - len(pods) - 1) // capacity
'''

QUANTITIES = (None, "100m", "1500m", "4", "64Mi", "3Gi", "9Gi")


def cases() -> Iterator[Case]:
    """Each node that the recorded scheduler scored for each pod, and a grid."""
    recording = open_recording()
    nodes = {
        node["metadata"]["name"]: node
        for node in noted(recording, "nodes as the scheduler sees them")
    }
    there: dict[str, list[Object]] = {name: [] for name in nodes}
    for pod in noted(recording, "pods already there"):
        there.get(pod["spec"].get("nodeName", ""), []).append(pod)
    logged = logged_scores(recording)
    for posted, settled in pods_of(recording):
        name = posted["metadata"]["name"]
        for host, score in logged.get(name, {}).get("NodeResourcesFit", {}).items():
            yield _case(
                "the recorded scores",
                f"{name} on {host}",
                score,
                posted,
                nodes[host],
                list(there[host]),
            )
        there.get(settled["spec"].get("nodeName", ""), []).append(settled)
    for cpu, memory, others in product(
        QUANTITIES[:4], (None, *QUANTITIES[4:]), range(3)
    ):
        pod, node = _pod(cpu, memory), _node("4", "8Gi")
        label = f"cpu {cpu}, memory {memory}, beside {others}"
        here = [_pod("1", "1Gi") for _ in range(others)]
        yield _case(
            "a grid of requests", label, _ours(pod, node, here), pod, node, here
        )
    for label, pod, node in _corners():
        yield _case("corners", label, _ours(pod, node, []), pod, node, [])


def _corners() -> Iterator[tuple[str, Object, Object]]:
    """What the recorded nodes and pods have nothing of."""
    both, some, none = _pod("1", "1Gi"), _pod("2", "2Gi"), _pod(None, None)
    for name, parts in (
        ("two containers", (both, some)),
        ("one container asks, one does not", (both, none)),
        ("two containers that ask for nothing", (none, none)),
        ("one asks for cpu, one for memory", (_pod("500m", None), _pod(None, "512Mi"))),
        ("nothing less than nothing is left", (_pod("3", "1Gi"), _pod("3", "1Gi"))),
    ):
        pod = _pod(None, None)
        pod["spec"]["containers"] = [
            {**c, "name": f"c{n}"}
            for n, p in enumerate(parts)
            for c in p["spec"]["containers"]
        ]
        yield name, pod, _node("4", "8Gi")
    reserved = _node("4", "8Gi")
    reserved["status"]["capacity"] = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    yield "part of the machine is not for pods", both, reserved
    for resource in ("cpu", "memory"):
        lacking = _node("4", "8Gi")
        del lacking["status"]["allocatable"][resource]
        yield f"a node without {resource}", both, lacking
    yield "other units", _pod("0.5", "1000M"), _node("3500m", "8589934592")


def _case(
    group: str, label: str, score: int, pod: Object, node: Object, pods: list[Object]
) -> Case:
    ask: Callable[[Attempt], object] = lambda attempt: attempt(pod, node, pods)  # noqa: E731
    return Case(group, label, score, ask, [pod, node, pods])


def _pod(cpu: str | None, memory: str | None) -> Object:
    requests = {
        name: value for name, value in (("cpu", cpu), ("memory", memory)) if value
    }
    container = {"name": "c", "image": "i", "resources": {"requests": requests}}
    return {
        "metadata": {"name": "p", "namespace": "default", "uid": "u"},
        "spec": {"containers": [container]},
    }


def _node(cpu: str, memory: str) -> Object:
    return {
        "metadata": {"name": "n"},
        "spec": {},
        "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": "110"}},
    }


def _ours(pod: Object, node: Object, pods: list[Object]) -> int:
    info = NodeInfo(node)
    for other in pods:
        info.add_pod(PodInfo(other))
    return NodeResourcesFit().score(CycleState(), PodInfo(pod), info)


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "scheduler-score",
    "A score of the scheduler",
    CONTRACT,
    STARTER,
    "the recorded scheduler's log",
    cases,
    ours,
    ("score", "least-allocated"),
)
