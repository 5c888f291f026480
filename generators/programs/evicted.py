"""Whom a kubelet evicts if the node is short of memory, in which order, and what it
says of it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from generators.programs.admitted import BUSY, pod, resources
from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.control_plane import Server, until
from generators.programs.node import RealNode
from lifecycle.agreements.kubelet.evicted_pods import after, node_events, stopped
from lifecycle.kubelet.eviction.eviction_manager import REASON

WHO = "kubelet v1.36.2"
Object = dict[str, Any]
MIB = 1 << 20
INTERPRETER = 8
"""Of these a Python takes so many before it does anything."""
EVENTS = "/api/v1/namespaces/default/events"
SETTINGS = {"evictionHard": {"memory.available": "98%"}}
"""What an idle machine does not have."""
CLASSES = {"evicted-last": 1000, "evicted-first": -5}
CRITICAL = {"priorityClassName": "system-node-critical"}
TOLERANT = {
    "tolerations": [{"key": "node.kubernetes.io/memory-pressure", "operator": "Exists"}]
}
"""Whoever asks for nothing is let in under pressure only so."""


def asks(memory: str) -> Object:
    """A container's requests."""
    return resources(memory=memory)


def beside(memory: str) -> Object:
    """A sidecar."""
    return {"name": "beside", **BUSY, **asks(memory), "restartPolicy": "Always"}


PODS: tuple[tuple[Object, tuple[int, ...]], ...] = (
    (pod("asks-for-nothing", **TOLERANT), (20,)),
    (pod("asks-for-nothing-and-uses-much", **TOLERANT), (200,)),
    (pod("within", asks("64Mi")), (30,)),
    (pod("well-within", asks("128Mi")), (30,)),
    (pod("over", asks("16Mi")), (66,)),
    (pod("far-over", asks("16Mi")), (150,)),
    (pod("important", asks("1Mi"), priorityClassName="evicted-last"), (300,)),
    (pod("unimportant", asks("1Mi"), priorityClassName="evicted-first"), (40,)),
    (pod("unimportant-within", asks("64Mi"), priorityClassName="evicted-first"), (20,)),
    (pod("two-of-which-one-is-over", asks("16Mi"), asks("96Mi")), (40, 1)),
    (pod("two-and-over", asks("1Mi"), asks("64Mi")), (160, 3)),
    (pod("critical", **CRITICAL, **TOLERANT), (400,)),
    (pod("beside-a-large-one", asks("3Mi"), initContainers=[beside("1Mi")]), (90, 30)),
    (pod("exactly-what-it-asks", asks("8Mi")), (8,)),
)
"""With what each of their containers uses, in MiB."""
for each, _ in PODS:
    each["spec"]["terminationGracePeriodSeconds"] = 30


def answers(server: Server, programs: Path) -> Iterator[Answer]:
    """One scene: the pods come, and the kubelet begins anew, told otherwise."""
    for name, value in CLASSES.items():
        made = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
        }
        server.admin("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", made)
    path = namespace(server.admin, "evicted")
    uses = {
        each["metadata"]["name"]: {
            container["name"]: used * MIB
            for container, used in zip(_containers(each), usage, strict=True)
        }
        for each, usage in PODS
    }
    with RealNode(server, programs) as node, ExitStack() as stack:
        for each, usage in PODS:
            made = node.create(path, each)
            stack.enter_context(_weight(node, made, sum(usage)))
        pods = node.admin("GET", f"{path}/pods").body["items"]
        node.runtime.uses = {
            (name, container): used
            for name, some in uses.items()
            for container, used in some.items()
        }
        node.stop()
        node.configuration = SETTINGS
        node.start()
        order: list[str] = []
        statuses: dict[str, Object] = {}

        def look() -> bool:
            for seen in node.admin("GET", f"{path}/pods").body["items"]:
                name = seen["metadata"]["name"]
                statuses[name] = seen["status"]
                if seen["status"]["phase"] == "Failed" and name not in order:
                    order.append(name)
            return len(order) >= len(PODS) - 1

        for each, _ in PODS:
            until(f"an eviction before {each['metadata']['name']}", _more(look, order))
            if look():
                break
        time.sleep(25.0)
        look()
        told: dict[str, list[str]] = {each["metadata"]["name"]: [] for each, _ in PODS}
        for event in node.admin("GET", f"{path}/events").body["items"]:
            if event["reason"] == REASON:
                text = f"{event['type']} {REASON}: {event['message']}"
                told[event["involvedObject"]["name"]] += [text] * event["count"]
        graces = {
            name: grace for _, name, grace in stopped(node.runtime) if name in order
        }
        yield Answer(
            "evicted/short of memory",
            WHO,
            "pods on a node that is told that it has too little memory: whose turn it"
            " was, what their statuses say, and what was told of it",
            {
                "machine": node.machine(),
                "settings": SETTINGS,
                "pods": [_plain(each) for each in pods],
                "uses": uses,
                "after": {
                    each["metadata"]["name"]: after(
                        order,
                        each["metadata"]["name"],
                        statuses[each["metadata"]["name"]],
                        told[each["metadata"]["name"]],
                        graces.get(each["metadata"]["name"]),
                    )
                    for each, _ in PODS
                },
                "node": node_events(node.admin("GET", EVENTS).body["items"]),
            },
        )
        node.clear(path)


@contextmanager
def _weight(node: RealNode, made: Object, mebibytes: int) -> Iterator[None]:
    """Something in a pod's cgroup that takes so much memory: whose turn it is, a
    kubelet tells by what the kernel says of the group.
    """
    kind = {"Burstable": "burstable", "BestEffort": "besteffort"}
    group = Path(
        "/sys/fs/cgroup/memory",
        node.group,
        "kubepods",
        kind[made["status"]["qosClass"]],
        f"pod{made['metadata']['uid']}",
    )
    size = max(mebibytes - INTERPRETER, 1) * MIB
    inside = (
        f"open('{group}/cgroup.procs', 'w').write('0'); held = bytearray({size});"
        " held[::4096] = b'x' * len(held[::4096]); input()"
    )
    with Popen([sys.executable, "-IS", "-c", inside], stdin=PIPE) as process:
        try:
            yield
        finally:
            process.kill()


def _more(look: Any, order: list[str]) -> Any:
    """Whether one more has gone since."""
    before = len(order)
    return lambda: look() or len(order) > before


def _containers(pod: Object) -> list[Object]:
    spec = pod["spec"]
    return [*(spec.get("initContainers") or ()), *spec["containers"]]


def _plain(made: Object) -> Object:
    """What the API server made of a pod, without times and uids."""
    meta, spec = made["metadata"], made["spec"]
    kept = (
        "initContainers",
        "containers",
        "priority",
        "priorityClassName",
        "tolerations",
    )
    return {
        "metadata": {"name": meta["name"], "uid": meta["name"]},
        "spec": {key: spec[key] for key in kept if key in spec},
    }
