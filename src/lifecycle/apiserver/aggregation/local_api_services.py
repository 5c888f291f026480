"""The APIServices of the server itself: one for each group and version it has.

Nobody writes them. They are there so that built-in and added groups are sorted by the
same rule, and they carry a label that says so: `automanaged: onstart`. Whoever changes
one of them will find it as it was after the next start.

They are written straight into the store before the caches fill, in the shape in which
two controllers of the real server leave them.

Upstream: `pkg/controlplane/apiserver/aggregator.go`
(`DefaultGenericAPIServicePriorities`, `apiServicesToRegister`),
`kube-aggregator/pkg/controllers/autoregister/autoregister_controller.go`,
`status/local`, v1.36. Left out: groups that only feature gates bring, keeping them in
step while the server runs.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import all_resources, resource_for_kind
from lifecycle.apiserver.aggregation.api_services import API_VERSION, GROUP
from lifecycle.etcd.codec import encode_value, storage_media_type
from lifecycle.etcd.keys import registry_key
from lifecycle.etcd.store import Store

AUTOMANAGED = "kube-aggregator.kubernetes.io/automanaged"
ON_START = "onstart"

PRIORITIES = {
    "": 18000,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "apiextensions.k8s.io": 16700,
    "admissionregistration.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "node.k8s.io": 16300,
    "discovery.k8s.io": 16200,
    "resource.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100,
}
"""groupPriorityMinimum of each group."""

VERSION_PRIORITIES = {
    ("", "v1"): 1,
    ("autoscaling", "v2"): 30,
    ("flowcontrol.apiserver.k8s.io", "v1"): 21,
    ("resource.k8s.io", "v1"): 21,
}
VERSION_PRIORITY = 15


def local_api_services() -> list[Object]:
    """The specs that a server with our groups registers, by name."""
    served = {
        (row.group, row.version)
        for row in all_resources()
        if row.group in PRIORITIES and row.group != GROUP
    }
    api_services = []
    for group, version in served:
        spec = {"group": group} if group else {}
        spec |= {"version": version}
        priority = VERSION_PRIORITIES.get((group, version), VERSION_PRIORITY)
        api_services.append(
            {
                "kind": "APIService",
                "apiVersion": API_VERSION,
                "metadata": {
                    "name": f"{version}.{group}",
                    "labels": {AUTOMANAGED: ON_START},
                },
                "spec": {
                    **spec,
                    "groupPriorityMinimum": PRIORITIES[group],
                    "versionPriority": priority,
                },
            }
        )
    return sorted(api_services, key=lambda each: str(each["metadata"]["name"]))


async def register_local_api_services(store: Store, clock: Clock) -> None:
    """Write those that are missing. Raises StoreError."""
    row = resource_for_kind(API_VERSION, "APIService")
    assert row is not None
    now = clock.timestamp()
    # a source of its own: it must not shift the names that a seed gives to other
    # objects
    names = NameSource()
    condition = {
        "type": "Available",
        "status": "True",
        "lastTransitionTime": now,
        "reason": "Local",
        "message": "Local APIServices are always available",
    }
    for service in local_api_services():
        key = registry_key(row, "", service["metadata"]["name"])
        if await store.get(key) is not None:
            continue
        fields: Object = {f"f:{field}": {} for field in service["spec"]}
        managed = {
            "manager": "kube-apiserver",
            "operation": "Update",
            "apiVersion": API_VERSION,
            "time": now,
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:metadata": {"f:labels": {".": {}, f"f:{AUTOMANAGED}": {}}},
                "f:spec": fields,
            },
        }
        metadata = {
            **service["metadata"],
            "uid": names.uid(),
            "creationTimestamp": now,
            "managedFields": [managed],
        }
        stored = {
            **service,
            "metadata": metadata,
            "status": {"conditions": [condition]},
        }
        await store.put(
            key, encode_value(stored, storage_media_type(store)), expected=0
        )
