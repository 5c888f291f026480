"""What a kubelet makes of pods that wish for more, or less, while they run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from generators.programs.admitted import pod, resources
from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.control_plane import Server, until
from generators.programs.node import RealNode
from lifecycle.agreements.kubelet.resized_pods import after, last_told, told_since

WHO = "kubelet v1.36.2"
Object = dict[str, Any]
MERGE = "application/strategic-merge-patch+json"
QUIET = 4.0
"""Seconds in which what happened has been told."""
CLASSES: tuple[Object, ...] = (
    {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "resized-first"},
        "value": 1000,
    },
)


def _patch(kind: str = "containers", **containers: Object) -> Object:
    """Of containers by name."""
    return {"spec": {kind: [{"name": name, **c} for name, c in containers.items()]}}


def comes(made: Object, what: str = "comes") -> Object:
    """A pod."""
    name = made["metadata"]["name"]
    return {"what": f"{name} {what}", "about": [name], "pod": made}


def wishes(
    name: str, what: str, kind: str = "containers", /, **containers: Object
) -> Object:
    """A resize."""
    patch = _patch(kind, **containers)
    return {"what": f"{name} wishes for {what}", "about": [name], "patch": patch}


def goes(name: str, *about: str) -> Object:
    """It is deleted; that is news for others."""
    return {"what": f"{name} goes", "about": list(about), "delete": name}


TELL = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
ALWAYS = {"name": "side", "image": "busybox:1.36", "command": ["sleep", "1000"]}
SMALL = resources(cpu="100m", memory="32Mi")
BOUNDED = resources(cpu="100m", memory="64Mi", limit_cpu="200m", limit_memory="128Mi")
GUARANTEED = resources(cpu="100m", memory="64Mi", limit_cpu="100m", limit_memory="64Mi")
MORE_GUARANTEED = resources(
    cpu="200m", memory="96Mi", limit_cpu="200m", limit_memory="96Mi"
)
STEPS: tuple[Object, ...] = (
    comes(pod("web", SMALL)),
    wishes("web", "more CPU", c0=resources(cpu="300m")),
    wishes("web", "more memory", c0=resources(memory="128Mi")),
    wishes("web", "less of both", c0=resources(cpu="50m", memory="16Mi")),
    wishes(
        "web", "more of one, less of the other", c0=resources(cpu="10m", memory="48Mi")
    ),
    wishes("web", "more CPUs than there are", c0=resources(cpu="900")),
    wishes("web", "more memory than there is", c0=resources(memory="9Ti")),
    wishes("web", "more of both", c0=resources(cpu="2001m", memory="9Ti")),
    wishes("web", "what it has", c0=resources(cpu="10m", memory="48Mi")),
    wishes("web", "a limit, too", c0=resources(limit_cpu="500m")),
    comes(pod("bounded", BOUNDED)),
    wishes(
        "bounded", "higher limits", c0=resources(limit_cpu="400m", limit_memory="256Mi")
    ),
    wishes(
        "bounded", "lower limits", c0=resources(limit_cpu="150m", limit_memory="96Mi")
    ),
    wishes("bounded", "a higher request only", c0=resources(cpu="150m")),
    comes(pod("guaranteed", GUARANTEED)),
    wishes("guaranteed", "more", c0=MORE_GUARANTEED),
    wishes("guaranteed", "less", c0=GUARANTEED),
    comes(pod("restarts", {**BOUNDED, "resizePolicy": TELL})),
    wishes("restarts", "more memory", c0=resources(limit_memory="192Mi")),
    wishes("restarts", "more CPU", c0=resources(limit_cpu="300m")),
    wishes(
        "restarts", "more of both", c0=resources(limit_cpu="400m", limit_memory="256Mi")
    ),
    comes(pod("two", SMALL, BOUNDED)),
    wishes(
        "two",
        "more here, less there",
        c0=resources(cpu="200m"),
        c1=resources(cpu="50m"),
    ),
    wishes(
        "two", "more of both", c0=resources(cpu="300m"), c1=resources(limit_cpu="500m")
    ),
    comes(
        pod(
            "beside",
            SMALL,
            initContainers=[{**ALWAYS, **SMALL, "restartPolicy": "Always"}],
        )
    ),
    wishes(
        "beside", "more for its sidecar", "initContainers", side=resources(cpu="150m")
    ),
    wishes("beside", "more for itself", c0=resources(cpu="120m", memory="64Mi")),
    comes(pod("once", SMALL, restartPolicy="Never")),
    wishes("once", "more", c0=resources(cpu="120m")),
    comes(pod("first", SMALL, priorityClassName="resized-first")),
    comes(pod("second", SMALL)),
    comes(pod("filler", resources(cpu="700m"))),
    wishes("second", "more than is left", c0=resources(cpu="700m")),
    wishes("first", "more than is left", c0=resources(cpu="700m")),
    wishes("web", "more than is left", c0=resources(cpu="500m", limit_cpu="500m")),
    wishes("web", "as much as before", c0=resources(cpu="10m")),
    goes("filler", "first", "second"),
    goes("first", "second"),
    wishes("second", "more than is left now", c0=resources(cpu="1100m")),
    wishes("second", "what it has, after all", c0=resources(cpu="700m")),
    wishes("second", "more than is left once more", c0=resources(cpu="1100m")),
    wishes("second", "what can never be", c0=resources(cpu="900")),
    wishes("second", "less than it has", c0=resources(cpu="600m")),
)
"""Two CPUs are enough for all of it."""
ONE = resources(cpu="1", memory="64Mi", limit_cpu="1", limit_memory="64Mi")
OWNED: tuple[Object, ...] = (
    comes(pod("owner", ONE)),
    wishes("owner", "more memory", c0=resources(memory="96Mi", limit_memory="96Mi")),
    wishes("owner", "less memory", c0=resources(memory="32Mi", limit_memory="32Mi")),
    wishes("owner", "what it has", c0=ONE),
    goes("owner"),
    comes(pod("tenth", GUARANTEED)),
    wishes("tenth", "two tenths", c0=MORE_GUARANTEED),
    comes(pod("shares", SMALL)),
    wishes("shares", "more", c0=resources(cpu="200m")),
)
STATIC = {"cpuManagerPolicy": "static", "reservedSystemCPUs": "0"}
SCENES: tuple[tuple[str, Object, tuple[Object, ...]], ...] = (
    ("one after the other", {}, STEPS),
    ("where CPUs have owners", STATIC, OWNED),
)


def answers(server: Server, programs: Path) -> Iterator[Answer]:
    """Two kubelets, one after the other. A controller manager runs."""
    for each in CLASSES:
        server.admin("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", each)
    for number, (what, settings, steps) in enumerate(SCENES):
        path = namespace(server.admin, f"resized-{number}")
        with RealNode(server, programs, settings) as node:
            yield Answer(
                f"resized/{what}",
                WHO,
                "pods that come, are resized and go, one after the other: what their"
                " statuses say, what the runtime was told last, what was told of them",
                {
                    "machine": node.machine(),
                    "settings": settings,
                    "classes": list(CLASSES),
                    "steps": _play(node, path, steps),
                },
            )
            node.clear(path)


def _play(node: RealNode, path: str, steps: tuple[Object, ...]) -> list[Object]:
    seen = []
    for step in steps:
        refusal = _do(node, path, step)
        time.sleep(QUIET)
        until(step["what"], partial(_settled, node, path, step))
        time.sleep(QUIET)
        pods = node.admin("GET", f"{path}/pods").body["items"]
        events = node.admin("GET", f"{path}/events").body["items"]
        told = node.do(last_told(node.runtime))
        seen.append(after(step["about"], pods, told, events, refusal))
    return [
        {**step, "after": each}
        for step, each in zip(steps, told_since(seen), strict=True)
    ]


def _do(node: RealNode, path: str, step: Object) -> Object:
    """What the API server said if it refused."""
    if "pod" in step:
        node.create(path, step["pod"])
    elif "patch" in step:
        where = f"{path}/pods/{step['about'][0]}/resize"
        reply = node.admin("PATCH", where, step["patch"], content_type=MERGE)
        return {} if reply.status == 200 else dict(reply.body)
    else:
        where = f"{path}/pods/{step['delete']}"
        node.admin("DELETE", where)
        until("it to go", lambda: node.admin("GET", where).status == 404)
    return {}


def _settled(node: RealNode, path: str, step: Object) -> bool:
    """Nothing is on its way: each pod that the step is about has what it wishes for, or
    says why not.
    """
    waiting = []
    for name in step["about"]:
        seen = node.admin("GET", f"{path}/pods/{name}").body
        status = seen["status"]
        kinds = {each["type"] for each in status.get("conditions") or ()}
        current = status.get("observedGeneration") == seen["metadata"]["generation"]
        if not current or "PodResizeInProgress" in kinds:
            return False
        wished = {
            each["name"]: each.get("resources") or {}
            for kind in ("initContainers", "containers")
            for each in seen["spec"].get(kind) or ()
        }
        has = {
            each["name"]: each.get("resources") or {}
            for kind in ("initContainerStatuses", "containerStatuses")
            for each in status.get(kind) or ()
        }
        waiting.append("PodResizePending" in kinds)
        if not waiting[-1] and wished != has:
            return False
    return "delete" not in step or not waiting or not all(waiting)
