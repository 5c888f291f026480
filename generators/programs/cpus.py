"""Which CPUs a kubelet gives to whom, on machines of several shapes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generators.programs.admitted import BUSY, pod, resources
from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.control_plane import Server, until
from generators.programs.node import RealNode
from lifecycle.agreements.kubelet.cpus import after, told_cpus
from lifecycle.kubelet.cm.cpumanager.topology import CPUTopology

WHO = "kubelet v1.36.2"
Object = dict[str, Any]
SETTLES = 3.5
"""Seconds for three rounds of telling those who share."""


def own(cpu: str, **fields: Any) -> Object:
    """A container whose requests are its limits."""
    return {**resources(limit_cpu=cpu, limit_memory="1Mi"), **fields}


def comes(name: str, *containers: Object, **spec: Any) -> Object:
    """A pod is created."""
    return {"pod": pod(name, *containers, **spec)}


def init(cpu: str, **fields: Any) -> Object:
    """An init container, which ends at once unless it is a sidecar."""
    command = ["sleep", "1000"] if fields else ["true"]
    return {"name": "i", **BUSY, **own(cpu), "command": command, **fields}


SHARES = comes("shares", resources(cpu="500m"))
MACHINES: tuple[tuple[str, Object, Any, Object, tuple[Object, ...]], ...] = (
    (
        "two sockets",
        {"sockets": 2, "cores": 4},
        1,
        {},
        (
            SHARES,
            comes("pair", own("2")),
            comes("socket", own("8")),
            comes("half", own("500m")),
            comes("elastic", resources(cpu="2", limit_cpu="4", memory="1Mi")),
            comes("greedy", own("6")),
            comes("odd", own("1")),
            comes("odd-too", own("1")),
            {"delete": "pair"},
            comes("three", own("3")),
            {"delete": "socket"},
            comes("five", own("5")),
        ),
    ),
    (
        "whole cores only",
        {"sockets": 1, "cores": 4},
        "0,4",
        {"full-pcpus-only": "true"},
        (
            SHARES,
            comes("one", own("1")),
            comes("two", own("2")),
            comes("three", own("3")),
            comes("four", own("4")),
            comes("two-more", own("2")),
        ),
    ),
    (
        "one thread in each core",
        {"sockets": 1, "cores": 12, "threads": 1},
        "0,7",
        {},
        (
            SHARES,
            comes("two-containers", own("2"), own("1")),
            comes("init-first", own("1"), initContainers=[init("3")]),
            comes(
                "sidecar", own("1"), initContainers=[init("1", restartPolicy="Always")]
            ),
            comes("one-of-two", own("2"), own("500m")),
            {"delete": "two-containers"},
            comes("four", own("4")),
        ),
    ),
    (
        "two pieces of memory in each socket",
        {"sockets": 2, "cores": 4, "numa_per_socket": 2},
        1,
        {},
        (
            comes("four", own("4")),
            comes("two", own("2")),
            comes("six", own("6")),
            comes("one", own("1")),
            {"delete": "four"},
            comes("four-again", own("4")),
        ),
    ),
    (
        "nobody on what is reserved",
        {"sockets": 1, "cores": 4},
        "0-1",
        {"strict-cpu-reservation": "true"},
        (SHARES, comes("three", own("3")), comes("two", own("2")), {"delete": "three"}),
    ),
    (
        "more than one, and not whole",
        {"sockets": 1, "cores": 12, "threads": 1},
        1,
        {},
        (
            comes("one-and-a-half", own("1500m")),
            comes("a-thousandth-less", own("1999m")),
            comes("two", own("2")),
            comes("a-thousandth-more", own("2001m")),
            comes("two-in-thousandths", own("2000m")),
            comes("two-for-all", {}, {}, **own("2")),
            comes(
                "own-and-for-all",
                own("1"),
                own("2"),
                **resources(limit_cpu="4", limit_memory="4Mi"),
            ),
        ),
    ),
)
"""What it is called, the machine, what is reserved (how many, or which), options of the
policy, and who comes and goes.
"""


def answers(server: Server, programs: Path) -> Iterator[Answer]:
    """All of it. A controller manager runs."""
    for number, (name, machine, reserved, options, steps) in enumerate(MACHINES):
        settings = {
            "cpuManagerPolicy": "static",
            "cpuManagerReconcilePeriod": "1s",
            "cpuManagerPolicyOptions": options,
            **(
                {"kubeReserved": {"cpu": str(reserved)}}
                if isinstance(reserved, int)
                else {"reservedSystemCPUs": reserved}
            ),
        }
        path = namespace(server.admin, f"cpus-{number}")
        topology = CPUTopology.regular(**machine)
        with RealNode(server, programs, settings, topology=topology) as node:
            uids: dict[str, str] = {}
            yield Answer(
                f"cpus/{name}",
                WHO,
                "pods come to and leave a machine of that shape, under the policy"
                " static: after each step the state file, what the runtime was told of"
                " each container that runs, and what the newest pod's status says",
                {
                    "machine": machine,
                    "reserved": reserved,
                    "options": options,
                    "steps": [
                        {**step, "after": _step(node, path, step, uids)}
                        for step in steps
                    ],
                },
            )
            node.clear(path)


def _step(node: RealNode, path: str, step: Object, uids: dict[str, str]) -> Object:
    status: Object = {}
    if "pod" in step:
        made = node.create(path, step["pod"])
        uids[made["metadata"]["uid"]] = made["metadata"]["name"]
        status = made["status"]
    else:
        where = f"{path}/pods/{step['delete']}"
        node.admin("DELETE", where)
        until("its end", lambda: node.admin("GET", where).status == 404)
    time.sleep(SETTLES)
    state = json.loads((node.folder / "kubelet/cpu_manager_state").read_text())
    return after(state, uids, node.do(told_cpus(node.runtime)), status)
