"""The range of the server's own flag as an object, the ServiceCIDR `kubernetes`.

The server writes it when it starts, and says itself that it is ready: Services must be
possible before any controller runs. Who looks after it later is the controller of all
ServiceCIDRs.

Upstream:
`pkg/controlplane/controller/defaultservicecidr/default_servicecidr_controller.go`
(`Controller`), v1.36. Left out: looking again every ten seconds, and the events about a
range that differs from the flag.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.apiserver.registry.core.service.addresses import SERVICE_CIDR
from lifecycle.client.rest import APPLY_PATCH, Client

FIELD_MANAGER = "kubernetes-service-cidr-controller"
NAME = "kubernetes"
CIDRS = [str(SERVICE_CIDR)]


def default_service_cidr() -> Object:
    """The object as it is created."""
    return {
        "kind": "ServiceCIDR",
        "apiVersion": "networking.k8s.io/v1",
        "metadata": {"name": NAME},
        "spec": {"cidrs": list(CIDRS)},
    }


async def sync_status(client: Client, clock: Clock) -> None:
    """Say that the range is ready, if it is the flag's and nobody has said anything
    yet. Raises StatusError.
    """
    kind = resource("servicecidrs.networking.k8s.io")
    service_cidr = await client.get(kind, NAME)
    has_ready = any(
        c["type"] == "Ready"
        for c in (service_cidr.get("status") or {}).get("conditions") or ()
    )
    if (
        has_ready
        or service_cidr["spec"].get("cidrs") != CIDRS
        or "deletionTimestamp" in service_cidr["metadata"]
    ):
        return
    condition = {
        "type": "Ready",
        "status": "True",
        "message": "Kubernetes default Service CIDR is ready",
        "lastTransitionTime": clock.timestamp(),
    }
    applied = {**default_service_cidr(), "status": {"conditions": [condition]}}
    del applied["spec"]
    await client.patch(
        kind,
        NAME,
        "",
        applied,
        patch_type=APPLY_PATCH,
        subresource="status",
        field_manager=FIELD_MANAGER,
        force=True,
    )
