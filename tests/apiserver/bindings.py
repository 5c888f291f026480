"""Bindings that have something odd, and how a real API server is asked for its answers.

`KUBE_BIN=… python -m tests.apiserver.bindings` asks, and keeps them in `binding_answers.json`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.apiserver.questions import in_turn, keep
from tests.differential.player import Target

ANSWERS = Path(__file__).parent / "binding_answers.json"
NAMESPACE = "/api/v1/namespaces/default"
PODS, COLLECTION, ANOTHER = f"{NAMESPACE}/pods", f"{NAMESPACE}/bindings", "11111111-2222-3333-4444-555555555555"
PLACE = {"topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r"}
HELD = {"finalizers": ["example.com/hold"]}
NODE = {"kind": "Node", "name": "one"}


def _pod(name: str, **meta: Any) -> tuple[str, str, Any]:
    spec = {"automountServiceAccountToken": False, "containers": [{"name": "c", "image": "i"}]}
    return "POST", PODS, {"metadata": {"name": name, **meta}, "spec": spec}


def _bind(name: str, query: str = "", *, target: Any = NODE, **meta: Any) -> tuple[str, str, Any]:
    return "POST", f"{PODS}/{name}/binding{query}", _binding(name, target, meta)


def _collected(name: str, target: Any = NODE, **meta: Any) -> tuple[str, str, Any]:
    return "POST", COLLECTION, _binding(name, target, meta)


def _binding(name: str, target: Any, meta: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, **meta}, "target": target}


def _look(name: str) -> tuple[str, str, Any]:
    return "GET", f"{PODS}/{name}", None


ASKED: tuple[tuple[str, str, Any], ...] = (
    ("POST", f"{NAMESPACE}/serviceaccounts", {"metadata": {"name": "default"}}),
    ("POST", "/api/v1/nodes", {"metadata": {"name": "one", "labels": PLACE}}),
    _pod("a"), _pod("b"), _pod("c"), _pod("d", **HELD), _pod("e"), _pod("f"),
    # another uid, another revision, both, and only to see
    _bind("a", uid=ANOTHER),
    _bind("a", "?dryRun=All", uid=ANOTHER),
    _bind("a", resourceVersion="1"),
    _bind("a", resourceVersion="x"),
    _bind("a", uid=ANOTHER, resourceVersion="1"),
    _bind("nobody", uid=ANOTHER),
    _bind("a", labels={"topology.kubernetes.io/zone": "mine", "l": "m"}), _look("a"),
    _bind("a", uid=ANOTHER),
    # to the collection
    _collected("b", uid=ANOTHER), _look("b"),
    _collected("c", resourceVersion="1"),
    _collected("c", labels={"l": "m"}), _look("c"),
    # a pod that is on its way out
    ("DELETE", f"{PODS}/d", None),
    _bind("d"),
    _bind("d", uid=ANOTHER),
    # a target that does not say what it is
    _bind("e", target={"name": "one"}), _look("e"),
    _bind("f", target={"kind": "Node", "name": "nowhere"}), _look("f"),
)  # fmt: skip


async def answers(target: Target) -> list[Any]:
    """To all of them, in turn."""
    return await in_turn(target, ASKED)


if __name__ == "__main__":
    keep(ANSWERS, answers)
