"""What a kubelet says of pods when its runtime fails."""

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
from lifecycle.agreements.kubelet.troubled import PLAYED, STEP, failures, told

WHO = "kubelet v1.36.2"
Object = dict[str, Any]


def case(made: Object, *fails: str) -> Object:
    """A pod, and what fails: at which step, with which words."""
    return {"pod": made, "fails": list(fails)}


CASES: tuple[Object, ...] = (
    case(pod("well")),
    case(pod("no-sandbox"), "sandbox", "no room for another one"),
    case(pod("no-container"), "create", "no such device"),
    case(pod("no-start"), "start", 'exec: "sleep": not found'),
    case(pod("no-start-and-over", restartPolicy="Never"), "start", "not today"),
    case(pod("two-of-which-none", {}, {}), "create", "no such device"),
)


def answers(server: Server, programs: Path) -> Iterator[Answer]:
    """All of it. A controller manager runs."""
    path = namespace(server.admin, "troubled")
    with RealNode(server, programs) as node:
        node.runtime.fails = failures(list(CASES))
        for each in CASES:
            made = server.admin("POST", f"{path}/pods", each["pod"])
            if made.status != 201:
                raise ValueError(made.message)
        seen: dict[str, list[Object]] = {
            each["pod"]["metadata"]["name"]: [] for each in CASES
        }
        end = time.monotonic() + PLAYED
        while time.monotonic() < end:
            time.sleep(STEP)
            for item in server.admin("GET", f"{path}/pods").body["items"]:
                seen[item["metadata"]["name"]].append(item)
        events = server.admin("GET", f"{path}/events").body["items"]
        for each in CASES:
            name = each["pod"]["metadata"]["name"]
            yield Answer(
                f"troubled/{name}",
                WHO,
                "a pod on a node whose runtime fails: why its containers wait, its"
                " phase in the end, what was told",
                {**each, "seen": told(name, seen[name], events)},
            )
        node.runtime.fails = {}
        node.clear(path)
