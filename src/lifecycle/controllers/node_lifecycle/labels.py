"""Two labels that a node has under an old and a new name: the new one is believed, the
old one follows.

Upstream: `pkg/controller/nodelifecycle/node_lifecycle_controller.go`
(`labelReconcileInfo`, `reconcileNodeLabels`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object

FOLLOWS = {
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
}


def labels_to_update(node: Object) -> dict[str, str]:
    """The old labels that say something else than the new ones, with what they should
    say.
    """
    labels = node["metadata"].get("labels") or {}
    return {
        old: labels[new]
        for old, new in FOLLOWS.items()
        if new in labels and labels.get(old) != labels[new]
    }
