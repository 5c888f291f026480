"""How many nodes a scheduler looks at, which depends on how many there are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.control_plane import ControlPlane, Server, until
from generators.programs.scheduling import MERGE, asking, node

WHO = "kube-scheduler v1.36.2"
Object = dict[str, Any]
USER = "sampling"
PERCENTAGES: tuple[int | None, ...] = (None, 0, 1, 30, 70, 100)
COUNTS = (1, 2, 50, 99, 100, 101, 125, 150, 240, 500)


def answers(plane: ControlPlane, server: Server) -> Iterator[Answer]:
    """All of it: one scheduler, which has a profile for each percentage."""
    path = namespace(server.admin, "sampled")
    profiles = [
        {
            "schedulerName": f"percent-{each}".lower(),
            **({} if each is None else {"percentageOfNodesToScore": each}),
        }
        for each in PERCENTAGES
    ]
    settings = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {
            "kubeconfig": str(server.kubeconfig(USER, "system:masters"))
        },
        "profiles": profiles,
    }
    config = plane.file("sampled.json", json.dumps(settings))
    process = plane.scheduler(
        server, USER, f"--config={config}", "-v=2", groups=("system:masters",)
    )
    server.admin("DELETE", "/api/v1/nodes")
    there = 0
    for count in COUNTS:
        for number in range(there, count):
            _place(server, number)
        there = count
        for each, profile in zip(PERCENTAGES, profiles, strict=True):
            name = f"{profile['schedulerName']}-of-{count}"
            cpu = f"{1 + PERCENTAGES.index(each)}m"
            made = asking(name, cpu, schedulerName=profile["schedulerName"])
            server.admin("POST", f"{path}/pods", made)
            feasible = until(name, partial(_feasible, plane, name))
            yield Answer(
                f"sampled/{name}",
                WHO,
                "a pod in a cluster of so many nodes, for a scheduler that is told"
                " which percentage of nodes is enough: how many it found that fit",
                {"nodes": count, "percentage": each, "feasible": int(feasible[0])},
            )
    plane.stop(process)
    server.admin("DELETE", "/api/v1/nodes")


def _place(server: Server, number: int) -> None:
    name = f"n{number}"
    server.admin("POST", "/api/v1/nodes", node(name))
    taints = {"spec": {"taints": None}}
    server.admin("PATCH", f"/api/v1/nodes/{name}", taints, content_type=MERGE)


def _feasible(plane: ControlPlane, name: str) -> list[str]:
    return re.findall(
        rf'"Successfully bound pod to node" pod="sampled/{name}".*feasibleNodes=(\d+)',
        plane.log(USER),
    )
