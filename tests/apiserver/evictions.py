"""Evictions of pods of all kinds, with budgets of all kinds: how a real API server is asked.

No controller runs beside it: what budgets allow is written by hand. `KUBE_BIN=… python -m tests.apiserver.evictions` asks, and keeps
the answers in `eviction_answers.json`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.apiserver.questions import in_turn, keep
from tests.differential.player import Target

ANSWERS = Path(__file__).parent / "eviction_answers.json"
NAMESPACE = "/api/v1/namespaces/default"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
Asked = tuple[str, str, Any]


def _eviction(name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}, **more}


def _pod(name: str, phase: str = "", ready: str = "", **labels: str) -> list[Asked]:
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "n"}
    asked: list[Asked] = [("POST", f"{NAMESPACE}/pods", {"metadata": {"name": name, "labels": labels}, "spec": spec})]
    if phase:
        conditions = [{"type": "Ready", "status": ready}] if ready else []
        status = {"phase": phase, "conditions": conditions}
        asked.append(("PATCH", f"{NAMESPACE}/pods/{name}/status", {"status": status}))
    return asked


def _evict(name: str, document: Any = None, query: str = "") -> Asked:
    return ("POST", f"{NAMESPACE}/pods/{name}/eviction{query}", _eviction(name) if document is None else document)


ODD: list[Any] = [
    _eviction("other"),
    _eviction("b", deleteOptions={"preconditions": {"uid": "x"}}),
    _eviction("b", deleteOptions={"preconditions": {"resourceVersion": "1"}}),
    _eviction("b", deleteOptions={"dryRun": ["All"]}),
    _eviction("b", deleteOptions={"dryRun": ["x"]}),
    _eviction("b", deleteOptions={"gracePeriodSeconds": -1}),
    _eviction("b", deleteOptions={"propagationPolicy": "Zz"}),
    _eviction("b", deleteOptions={"orphanDependents": True, "propagationPolicy": "Orphan"}),
    {**_eviction("b"), "kind": "X"},
    {**_eviction("b"), "apiVersion": "policy/v1beta1"},
    {"metadata": {}},
    {},
    [],
    {"metadata": {"name": "b", "namespace": "other"}},
    _eviction("b", zz=1),
]
SPECS: dict[str, Any] = {
    "both": {"minAvailable": 1, "maxUnavailable": 1},
    "too-much": {"minAvailable": "150%"},
    "less-than-none": {"maxUnavailable": -1},
    "no-number": {"minAvailable": "x"},
    "no-operator": {"minAvailable": 1, "selector": {"matchExpressions": [{"key": "a", "operator": "Zz"}]}},
    "no-policy": {"minAvailable": 1, "unhealthyPodEvictionPolicy": "Never"},
    "none": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "none"}}},
    "one": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "one"}}},
    "healthy": {
        "minAvailable": 1, "selector": {"matchLabels": {"app": "healthy"}},
        "unhealthyPodEvictionPolicy": "IfHealthyBudget",
    },
    "always": {
        "minAvailable": 1, "selector": {"matchLabels": {"app": "always"}}, "unhealthyPodEvictionPolicy": "AlwaysAllow",
    },
    "two": {"minAvailable": 1, "selector": {"matchLabels": {"app": "two"}}},
    "another-of-two": {"minAvailable": 1, "selector": {"matchLabels": {"app": "two"}}},
    "not-looked-at": {"minAvailable": 1, "selector": {"matchLabels": {"app": "not-looked-at"}}},
    "selects-nothing": {"minAvailable": 1},
}  # fmt: skip
ALLOWED = {"none": 0, "one": 1, "healthy": 0, "always": 0, "two": 1, "not-looked-at": 1, "selects-nothing": 0}
HEALTHY = {"none": (3, 3), "one": (3, 2), "healthy": (1, 1), "always": (0, 1)}
"""How many are healthy, how many have to be."""

STATES = (
    ("Running", "True"),
    ("Running", "False"),
    ("Pending", ""),
    ("Succeeded", "True"),
    ("Failed", ""),
    ("Running", "True"),
)


def _status(name: str) -> Asked:
    healthy, desired = HEALTHY.get(name, (1, 1))
    status = {
        "disruptionsAllowed": ALLOWED[name],
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": 3,
        "observedGeneration": int(name != "not-looked-at"),
    }
    return ("PATCH", f"{BUDGETS}/{name}/status", {"status": status})


def _guarded() -> list[Asked]:
    asked: list[Asked] = []
    for app in ("none", "one", "healthy", "always", "two", "not-looked-at"):
        for number, (phase, ready) in enumerate(STATES):
            name = f"{app}-{number}"
            asked += _pod(name, phase, ready, app=app)
            asked += [_evict(name, query="?dryRun=All"), _evict(name)]
            asked.append(("GET", f"{BUDGETS}/{app}", None))
            if app == "one":
                asked.append(("GET", f"{NAMESPACE}/pods/{name}", None))
    return asked


ASKED: list[Asked] = [
    ("POST", f"{NAMESPACE}/serviceaccounts", {"metadata": {"name": "default"}}),
    *_pod("a"),
    _evict("a"),
    _evict("gone"),
    *_pod("b", "Running", "True", app="x"),
    *(_evict("b", document) for document in ODD),
    *(_evict("b", query=query) for query in ("?dryRun=All", "?dryRun=zz", "?fieldValidation=Strict")),
    _evict("b", _eviction("b", zz=1), "?fieldValidation=Strict"),
    *(("POST", BUDGETS, {"metadata": {"name": name}, "spec": spec}) for name, spec in SPECS.items()),
    *map(_status, ALLOWED),
    ("PATCH", f"{BUDGETS}/one/status", {"status": {"disruptionsAllowed": -1}}),
    *_guarded(),
    _evict("one-1"),
    ("DELETE", f"{BUDGETS}/none", None),
    _evict("none-0"),
    ("POST", BUDGETS, {"metadata": {"name": "of-all"}, "spec": {"maxUnavailable": 0, "selector": {}}}),
    *_pod("c", "Running", "True"),
    _evict("c"),
    _evict("always-0"),
    ("PATCH", f"{BUDGETS}/one", {"spec": {"maxUnavailable": "50%"}}),
    ("PATCH", f"{BUDGETS}/one", {"spec": {"maxUnavailable": None, "minAvailable": 2}}),
    ("PATCH", f"{BUDGETS}/one", {"spec": {"selector": {"matchLabels": {"q": "r"}}}}),
]  # fmt: skip


async def answers(target: Target) -> list[Any]:
    """To all of them, in turn."""
    return await in_turn(target, ASKED)


if __name__ == "__main__":
    keep(ANSWERS, answers)
