"""Control groups: which class is a pod of, and what is its cgroup called?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.qos import get_pod_qos
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.inspector import open_recording
from lifecycle.kubelet.cm.cgroup_names import cgroup_path, pod_cgroup_name

CONTRACT = """\
pod_cgroup(pod, driver) -> {"qos": str, "path": str}

pod:    a Pod as the API shows it; its containers and initContainers count, with their
        resources.requests and limits for cpu and memory. An amount of nothing ("0")
        counts as none.
driver: "cgroupfs" or "systemd".
qos:    "Guaranteed" if each container has limits for both, and requests that are the
        same; "BestEffort" if no container says anything of the two; else "Burstable".
path:   as in "/kubepods/burstable/pod<uid>". Guaranteed pods lie right below kubepods.
        systemd spells each step out, and the dashes of a uid become underscores:
        "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid>.slice"."""

STARTER = '''\
def pod_cgroup(pod, driver):
    """The class of a pod, and where its cgroup is."""
    return {"qos": "BestEffort", "path": f"/kubepods/pod{pod['metadata']['uid']}"}
'''

BOTH = {"cpu": "100m", "memory": "64Mi"}
RESOURCES: dict[str, Object] = {
    "nothing": {},
    "nothing said, twice": {"requests": {}, "limits": {}},
    "both": {"requests": BOTH, "limits": BOTH},
    "written otherwise": {
        "requests": {"cpu": "0.1", "memory": "65536Ki"},
        "limits": BOTH,
    },
    "more allowed": {"requests": BOTH, "limits": {**BOTH, "cpu": "1"}},
    "requests": {"requests": BOTH},
    "one limit": {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}},
    "zero": {"requests": {"cpu": "0", "memory": "0"}},
    "another resource": {
        "requests": {"example.com/dongle": "1"},
        "limits": {"example.com/dongle": "1"},
    },
}
DRIVERS = ("cgroupfs", "systemd")


def cases() -> Iterator[Case]:
    """Two containers with any two sets of resources, and the recorded pods."""
    for one, two, place in product(RESOURCES, RESOURCES, ("containers", "init")):
        first, second = (
            {"name": name, "resources": RESOURCES[which]}
            for name, which in (("a", one), ("b", two))
        )
        spec: Object = (
            {"containers": [first, second]}
            if place == "containers"
            else {"initContainers": [first], "containers": [second]}
        )
        pod = {"metadata": {"name": "p", "uid": "6a1f-33"}, "spec": spec, "status": {}}
        for driver in DRIVERS:
            yield _case(f"made up, {place}", f"{one} and {two}, {driver}", pod, driver)
    seen: set[str] = set()
    for line in open_recording().watch("kubelet"):
        pod = line["event"]["object"]
        name = pod["metadata"].get("name", "")  # a bookmark has none
        if pod.get("kind") == "Pod" and name and name not in seen:
            seen.add(name)
            for driver in DRIVERS:
                yield _case("recorded pods", f"{name}, {driver}", pod, driver)


def _case(group: str, label: str, pod: Object, driver: str) -> Case:
    ask: Callable[[Attempt], object] = lambda attempt: attempt(pod, driver)  # noqa: E731
    expected = _ours(pod, driver)
    recorded = (pod.get("status") or {}).get("qosClass")
    if recorded:  # what the server said
        expected = {**expected, "qos": recorded}
    question = {"pod": pod, "driver": driver}
    return Case(group, label, expected, ask, pod, question)


def _ours(pod: Object, driver: str) -> Object:
    name = pod_cgroup_name((), pod)
    return {"qos": get_pod_qos(pod), "path": cgroup_path(name, driver)}


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "pod-cgroups",
    "A pod's class and its cgroup",
    CONTRACT,
    STARTER,
    "the classes that the recorded server gave, and the book's own names",
    cases,
    ours,
    ("admission-and-cgroups", "qos"),
)
