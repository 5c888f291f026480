"""What a kubelet makes of probes that answer by a script."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generators.programs.admitted import pod
from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.control_plane import Server
from generators.programs.node import RealNode
from lifecycle.agreements.kubelet.probed import PLAYED, STEP, Script, seen

WHO = "kubelet v1.36.2"
Object = dict[str, Any]
YES, NO = 0, 1


def probe(kind: str, codes: list[int], **fields: Any) -> tuple[str, list[int], Object]:
    """One that asks once a second, and the exit codes that it hears."""
    command = {"exec": {"command": ["probe", kind]}}
    return kind, codes, {**command, "periodSeconds": 1, **fields}


def liveness(*codes: int, **fields: Any) -> tuple[str, list[int], Object]:
    """Is it stuck?"""
    return probe("liveness", list(codes), **fields)


def readiness(*codes: int, **fields: Any) -> tuple[str, list[int], Object]:
    """May visitors come?"""
    return probe("readiness", list(codes), **fields)


def startup(*codes: int, **fields: Any) -> tuple[str, list[int], Object]:
    """Has it begun?"""
    return probe("startup", list(codes), **fields)


PODS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("no-probe", ()),
    ("always-ready", (readiness(YES),)),
    ("never-ready", (readiness(NO),)),
    ("ready-after-four", (readiness(NO, NO, NO, NO, YES),)),
    ("two-noes-of-three", (readiness(*[YES] * 3, NO, NO, YES),)),
    ("six-noes", (readiness(*[YES] * 3, *[NO] * 6, YES),)),
    ("one-no-is-enough", (readiness(*[YES] * 3, *[NO] * 4, YES, failureThreshold=1),)),
    ("three-yeses", (readiness(NO, YES, YES, NO, YES, successThreshold=3),)),
    ("stuck", (liveness(YES, YES, NO),)),
    ("stuck-once", (liveness(YES, NO, NO, YES),)),
    ("stuck-at-once", (liveness(NO, failureThreshold=1),)),
    ("late", (startup(NO, NO, NO, YES, failureThreshold=6), liveness(YES))),
    ("never-begun", (startup(NO, failureThreshold=4), liveness(YES))),
    ("asked-later", (readiness(YES, initialDelaySeconds=4),)),
)


def answers(server: Server, programs: Path) -> Iterator[Answer]:
    """All of it. A controller manager runs."""
    pods, scripts = {}, {}
    for name, probes in PODS:
        container = {f"{kind}Probe": fields for kind, _, fields in probes}
        pods[name] = pod(name, container)
        scripts[name] = {kind: codes for kind, codes, _ in probes}
    path = namespace(server.admin, "probed")
    script = Script(scripts)
    with RealNode(server, programs) as node:
        node.runtime.says = script
        for each in pods.values():
            made = server.admin("POST", f"{path}/pods", each)
            if made.status != 201:
                raise ValueError(made.message)
        history: dict[str, list[Object]] = {name: [] for name in pods}
        end = time.monotonic() + PLAYED
        while time.monotonic() < end:
            time.sleep(STEP)
            for item in server.admin("GET", f"{path}/pods").body["items"]:
                history[item["metadata"]["name"]].append(item)
        events = server.admin("GET", f"{path}/events").body["items"]
        for name, wanted in pods.items():
            yield Answer(
                f"probed/{name}",
                WHO,
                "a container whose probes answer by a script, once a second: its"
                " states, how often a probe asked before it ended, what was told",
                {
                    "pod": wanted,
                    "script": scripts[name],
                    "seen": seen(name, history[name], script, events),
                },
            )
        node.clear(path)
