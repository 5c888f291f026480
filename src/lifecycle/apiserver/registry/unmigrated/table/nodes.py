"""Nodes and namespaces, leases and runtime classes: what the cluster itself is made of.

Upstream: `pkg/printers/internalversion/printers.go` (`printNode`, `findNodeRoles`,
`printNamespace`, `printLease`, `printComponentStatus` …), v1.36.
"""

from __future__ import annotations

from lifecycle.api.human_duration import age
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)

_ROLE_PREFIX = "node-role.kubernetes.io/"
_ROLE = "kubernetes.io/role"


def _print_node(node: Object, now: float) -> Cells:
    status = node.get("status") or {}
    info = status.get("nodeInfo") or {}
    ready = next(
        (
            c["status"]
            for c in reversed(status.get("conditions") or ())
            if c["type"] == "Ready"
        ),
        None,
    )
    states = [
        "Unknown" if ready is None else "Ready" if ready == "True" else "NotReady"
    ]
    if (node.get("spec") or {}).get("unschedulable"):
        states.append("SchedulingDisabled")
    return [
        node["metadata"]["name"],
        ",".join(states),
        ",".join(_roles(node)) or "<none>",
        age(node, now),
        info.get("kubeletVersion", ""),
        _address(status, "InternalIP"),
        _address(status, "ExternalIP"),
        info.get("osImage") or "<unknown>",
        _kernel(info),
        info.get("containerRuntimeVersion") or "<unknown>",
    ]


def _kernel(info: Object) -> str:
    """`6.1.0 (amd64)`: since 1.36 the architecture stands beside the kernel's
    version.
    """
    version, architecture = (
        info.get("kernelVersion") or "<unknown>",
        info.get("architecture"),
    )
    return f"{version} ({architecture})" if architecture else version


def _roles(node: Object) -> list[str]:
    """Roles come from labels: `node-role.kubernetes.io/ROLE`, or
    `kubernetes.io/role=ROLE`.
    """
    labels = node["metadata"].get("labels") or {}
    roles = {
        key.removeprefix(_ROLE_PREFIX) for key in labels if key.startswith(_ROLE_PREFIX)
    } | {labels.get(_ROLE, "")}
    return sorted(roles - {""})


def _address(status: Object, type: str) -> str:
    return next(
        (a["address"] for a in status.get("addresses") or () if a["type"] == type),
        "<none>",
    )


def _print_component_status(obj: Object, now: float) -> Cells:
    healthy = next(
        (c for c in obj.get("conditions") or () if c["type"] == "Healthy"), None
    )
    if healthy is None:
        return [obj["metadata"]["name"], "Unknown", "", ""]
    state = "Healthy" if healthy["status"] == "True" else "Unhealthy"
    return [
        obj["metadata"]["name"],
        state,
        healthy.get("message", ""),
        healthy.get("error", ""),
    ]


_NODE_INFO = "core/v1.NodeSystemInfo"

PRINTERS = {
    "nodes": Printer(
        (
            NAME,
            Column("Status", "The status of the node"),
            Column("Roles", "The roles of the node"),
            AGE,
            Column("Version", field(_NODE_INFO, "kubeletVersion")),
            Column("Internal-IP", field("core/v1.NodeStatus", "addresses"), priority=1),
            Column("External-IP", field("core/v1.NodeStatus", "addresses"), priority=1),
            Column("OS-Image", field(_NODE_INFO, "osImage"), priority=1),
            Column("Kernel-Version", field(_NODE_INFO, "kernelVersion"), priority=1),
            Column(
                "Container-Runtime",
                field(_NODE_INFO, "containerRuntimeVersion"),
                priority=1,
            ),
        ),
        _print_node,
    ),
    "namespaces": Printer(
        (NAME, Column("Status", "The status of the namespace"), AGE),
        lambda obj, now: [
            obj["metadata"]["name"],
            (obj.get("status") or {}).get("phase", ""),
            age(obj, now),
        ],
    ),
    "componentstatuses": Printer(
        (
            NAME,
            Column("Status", "Status of the component conditions"),
            Column("Message", "Message of the component conditions"),
            Column("Error", "Error of the component conditions"),
        ),
        _print_component_status,
    ),
    "runtimeclasses.node.k8s.io": Printer(
        (NAME, Column("Handler"), AGE),
        lambda obj, now: [
            obj["metadata"]["name"],
            obj.get("handler", ""),
            age(obj, now),
        ],
    ),
}
