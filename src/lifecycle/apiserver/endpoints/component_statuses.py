"""ComponentStatuses: never stored, asked for on the spot.

Long deprecated, still listed by habit. Each entry is the answer of a component's own
health check.

Upstream: `pkg/registry/core/componentstatus/rest.go`, v1.36. Left out: knocking at the
ports of scheduler and controller manager; they share our process, and a component that
dies takes the cluster down with it.
"""

from __future__ import annotations

from lifecycle.api import status
from lifecycle.api.wire import Object

NAMES = ("controller-manager", "scheduler", "etcd-0")


def _component(name: str) -> Object:
    return {
        "metadata": {"name": name},
        "conditions": [{"type": "Healthy", "status": "True", "message": "ok"}],
    }


def list_component_statuses() -> Object:
    """All of them."""
    return {
        "kind": "ComponentStatusList",
        "apiVersion": "v1",
        "metadata": {},
        "items": [_component(name) for name in NAMES],
    }


def get_component_status(name: str) -> Object:
    """One. Raises StatusError 500: upstream returns a bare error."""
    if name not in NAMES:
        raise status.failure(500, "", f"Component not found: {name}")
    return {"kind": "ComponentStatus", "apiVersion": "v1", **_component(name)}
