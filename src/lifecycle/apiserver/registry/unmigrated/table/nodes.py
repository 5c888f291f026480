"""Nodes and namespaces, leases and runtime classes: what the cluster itself is made of.

Upstream: `pkg/printers/internalversion/printers.go` (`printNode`, `findNodeRoles`,
`printNamespace`, `printLease`, `printComponentStatus` …), v1.36.
"""

from __future__ import annotations

from lifecycle.api.human_duration import age
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Column,
    Printer,
)

PRINTERS = {
    "runtimeclasses.node.k8s.io": Printer(
        (NAME, Column("Handler"), AGE),
        lambda obj, now: [
            obj["metadata"]["name"],
            obj.get("handler", ""),
            age(obj, now),
        ],
    ),
}
