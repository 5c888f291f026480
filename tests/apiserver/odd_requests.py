"""Requests that nobody sends twice: how a real API server is asked what it makes of them.

`KUBE_BIN=… python -m tests.apiserver.odd_requests` asks, and keeps the answers in `odd_request_answers.json`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.apiserver.questions import in_turn, keep
from tests.differential.player import Target

ANSWERS = Path(__file__).parent / "odd_request_answers.json"
NAMESPACE = "/api/v1/namespaces/default"
POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "i"}]}}
LOGS = (
    "", "container=c", "container=zz", "container=c&tailLines=-1", "container=c&sinceSeconds=0",
    "container=c&limitBytes=0", "sinceTime=x", "container=c&sinceTime=2020-13-01T00:00:00Z",
    "container=c&sinceTime=2020-01-01T00:00:00Z&sinceSeconds=1", "container=c&stream=Stdout", "container=c&stream=Zz",
    "container=c&previous=x&follow=1",
)  # fmt: skip
WATCHES = (
    "continue=x", "resourceVersion=x", "resourceVersion=5&continue=x", "sendInitialEvents=true",
    "resourceVersionMatch=NotOlderThan", "sendInitialEvents=true&resourceVersionMatch=Exact", "labelSelector=(",
)  # fmt: skip
OPTIONS: list[Any] = [
    {"orphanDependents": False, "dryRun": ["All"]},
    {"orphanDependents": True, "dryRun": ["All"]},
    {"propagationPolicy": "Background", "dryRun": ["All"]},
    {"orphanDependents": False},
]
ASKED: list[tuple[str, str, Any]] = [
    ("POST", f"{NAMESPACE}/serviceaccounts", {"metadata": {"name": "default"}}),
    ("POST", f"{NAMESPACE}/serviceaccounts/default/token", {"spec": {"boundObjectRef": {}}}),
    ("POST", f"{NAMESPACE}/serviceaccounts/default/token", {"spec": {"boundObjectRef": {"kind": "Pod"}}}),
    ("POST", f"{NAMESPACE}/pods", POD),
    *(("GET", f"{NAMESPACE}/pods/p/log?{options}", None) for options in LOGS),
    *(("GET", f"{NAMESPACE}/secrets?watch=1&timeoutSeconds=1&{options}", None) for options in WATCHES),
    *(
        (method, f"/api/v1/watch/namespaces/default/secrets{name}", {})
        for method in ("POST", "PUT", "DELETE")
        for name in ("", "/x")
    ),
    ("POST", f"{NAMESPACE}/configmaps", {"metadata": {"name": "c", "finalizers": ["a/b"]}}),
    *(("DELETE", f"{NAMESPACE}/configmaps/c", options) for options in OPTIONS),
]


async def answers(target: Target) -> list[Any]:
    """To all of them, in turn."""
    return await in_turn(target, ASKED)


if __name__ == "__main__":
    keep(ANSWERS, answers)
