"""ComponentStatuses: never stored, asked for on the spot.

Long deprecated, still listed by habit. Each entry is the answer of a component's own
health check.

Upstream: `pkg/registry/core/componentstatus/rest.go`,
`pkg/printers/internalversion/printers.go` (`printComponentStatus`), v1.36. Left out:
knocking at the ports of scheduler and controller manager; they share our process, and a
component that dies takes the cluster down with it.
"""

from __future__ import annotations

from lifecycle.api import status
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.printers.printer import NAME, Cells, Column, Printer
from lifecycle.apiserver.registry.rest.strategy import Strategy

NAMES = ("controller-manager", "scheduler", "etcd-0")


def _component(name: str) -> Object:
    return {
        "metadata": {"name": name},
        "conditions": [{"type": "Healthy", "status": "True", "message": "ok"}],
    }


def _list() -> Object:
    return {
        "kind": "ComponentStatusList",
        "apiVersion": "v1",
        "metadata": {},
        "items": [_component(name) for name in NAMES],
    }


def read(name: str) -> Object:
    """One, or without a name the list of all. Raises StatusError 404, which says the
    resource in the singular, as upstream's does.
    """
    if not name:
        return _list()
    if name not in NAMES:
        raise status.not_found("componentstatus", name)
    return {"kind": "ComponentStatus", "apiVersion": "v1", **_component(name)}


def print_component_status(component: Object, now: float) -> Cells:
    """The cells of `kubectl get componentstatuses`."""
    healthy = next(
        (c for c in component.get("conditions") or () if c["type"] == "Healthy"), None
    )
    if healthy is None:
        return [component["metadata"]["name"], "Unknown", "", ""]
    state = "Healthy" if healthy["status"] == "True" else "Unhealthy"
    return [
        component["metadata"]["name"],
        state,
        healthy.get("message", ""),
        healthy.get("error", ""),
    ]


PRINTER = Printer(
    (
        NAME,
        Column("Status", "Status of the component conditions"),
        Column("Message", "Message of the component conditions"),
        Column("Error", "Error of the component conditions"),
    ),
    print_component_status,
)

STRATEGY = Strategy(
    printer=PRINTER,
    deprecation="v1 ComponentStatus is deprecated in v1.19+",
    read=read,
)
