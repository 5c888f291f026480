"""What the server writes into every store when it starts, through its own front door.

Namespaces, policy, classes, flow schemas, the range of Service addresses and the
Service `kubernetes`: written if missing; roles are completed.

Upstream: `apiserver/pkg/server/hooks.go` (post-start hooks),
`pkg/registry/rbac/rest/storage_rbac.go` (`PostStartHook`),
`pkg/controlplane/controller/kubernetesservice`, v1.36.
"""

from __future__ import annotations

import contextlib

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource_for_kind
from lifecycle.api.status import StatusError
from lifecycle.apiserver.authz.reconcile import reconciled
from lifecycle.apiserver.bootstrap.policy import bootstrap_objects, system_namespaces
from lifecycle.apiserver.server.default_service_cidr import (
    default_service_cidr,
    sync_status,
)
from lifecycle.apiserver.server.loopback import Loopback
from lifecycle.apiserver.storage.object_reader import ObjectReader

KUBERNETES_SERVICE_IP = "10.96.0.1"


async def write_defaults(
    loopback: Loopback, reader: ObjectReader, clock: Clock
) -> None:
    """Write them. What is refused, because another server was faster, stays as it
    is.
    """
    for obj in (
        *system_namespaces(),
        *bootstrap_objects(),
        default_service_cidr(),
        _kubernetes_service(),
    ):
        row = resource_for_kind(obj["apiVersion"], obj["kind"])
        assert row is not None, obj["kind"]
        metadata = obj["metadata"]
        existing = reader.get(row, metadata.get("namespace", ""), metadata["name"])
        with contextlib.suppress(StatusError):
            if existing is None:
                await loopback.create(obj)
            elif (new := reconciled(existing, obj)) is not None:
                await loopback.update(new)
    with contextlib.suppress(StatusError):
        await sync_status(loopback.client(), clock)


def _kubernetes_service() -> Object:
    """The Service through which pods reach the API server."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": KUBERNETES_SERVICE_IP,
            "ports": [
                {"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}
            ],
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
    }
