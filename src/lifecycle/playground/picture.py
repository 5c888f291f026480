"""Objects as a page shows them: nodes with their pods, and everything else below its
owner.

Upstream: `apimachinery/pkg/apis/meta/v1/controller_ref.go` (`GetControllerOf`),
`pkg/printers/internalversion/printers.go` (`printNode`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.playground.chapters import KINDS
from lifecycle.playground.pod_history import pod_state
from lifecycle.playground.summary import SUMMARIES


def controller_of(obj: Object) -> Object | None:
    """The owner that manages an object."""
    owners = obj["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller")), None)


def node_status(node: Object) -> str:
    """`Ready`, `NotReady`, or `Unknown` as long as its kubelet has said nothing; and
    `SchedulingDisabled` if it is.
    """
    conditions = (node.get("status") or {}).get("conditions") or ()
    ready = next((c["status"] for c in conditions if c["type"] == "Ready"), None)
    said = {"True": "Ready", None: "Unknown"}.get(ready, "NotReady")
    if (node.get("spec") or {}).get("unschedulable"):
        said += ",SchedulingDisabled"
    return said


def shown_node(node: Object) -> dict[str, Any]:
    """A node without its pods."""
    taints = (node.get("spec") or {}).get("taints") or ()
    return {
        "uid": node["metadata"]["uid"],
        "name": node["metadata"]["name"],
        "status": node_status(node),
        "taints": [f"{each['key']}:{each['effect']}" for each in taints],
        "chapter": KINDS["Node"],
    }


def shown_object(obj: Object, now: float) -> dict[str, Any]:
    """A line of the tree. `owner` is a uid, empty for what nobody manages; `looks` is
    empty for what is no pod.
    """
    metadata = obj["metadata"]
    owner = controller_of(obj)
    shown = {
        "uid": metadata["uid"],
        "kind": obj["kind"],
        "name": metadata["name"],
        "owner": owner["uid"] if owner else "",
        "chapter": KINDS[obj["kind"]],
        "looks": "",
    }
    if obj["kind"] == "Pod":
        state = pod_state(obj, now)
        node = (obj.get("spec") or {}).get("nodeName", "")
        said = f"{state.status} {state.ready}"
        return {**shown, "summary": said, "looks": state.looks, "node": node}
    return {**shown, "summary": SUMMARIES[obj["kind"]](obj)}


def in_order(objects: Iterable[Object]) -> list[Object]:
    """Oldest first, then by name: the order in which a tree grows."""
    return sorted(
        objects,
        key=lambda obj: (
            obj["metadata"].get("creationTimestamp", ""),
            obj["metadata"]["name"],
        ),
    )
