"""Quotas, counted: `status.hard` repeats what is allowed, `status.used` says how much
of it is gone.

Admission charges a quota when something is created, but nobody tells admission when
something goes away, and a create that fails after it was charged is never refunded. So
this controller counts again: when a quota is new or its limits change, when something
that a quota limits goes away, and every five minutes in any case.

A quota that nobody has made costs nothing: what is counted is watched from the moment
the first quota mentions it.

Upstream: `pkg/controller/resourcequota/resource_quota_controller.go`
(`Controller.syncResourceQuota`), `resource_quota_monitor.go` (`QuotaMonitor`),
`apiserver/pkg/quota/v1/resources.go` (`CalculateUsage`), v1.36. Left out: the separate
queue for quotas without any usage yet, device claims.
"""

from __future__ import annotations

import asyncio

from lifecycle.api.custom_resources import served_resource
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.quantity import Quantity, parse_quantity
from lifecycle.api.quota import ZERO, is_terminating, matches_scopes, usage
from lifecycle.api.resources import Resource, resource
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer, SharedInformerFactory
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.object_copy import mutable_copy

WORKERS = 5
RESYNC_PERIOD = 300.0

COMPUTE_PREFIXES = ("requests.", "limits.", "hugepages-")
POD_NAMES = frozenset({"pods", "cpu", "memory", "ephemeral-storage"})
PLAIN = frozenset(
    {
        "services",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
    }
)


def counted_resource(name: str) -> Resource | None:
    """What has to be counted for an entry of `spec.hard`; None for a name that means
    nothing here.
    """
    try:
        if name.startswith("count/"):
            return resource(name.removeprefix("count/"))
        if name in PLAIN:
            return resource(name)
    except KeyError:
        return None
    if name.startswith("services."):
        return resource("services")
    if name == "requests.storage" or ".storageclass.storage.k8s.io/" in name:
        return resource("persistentvolumeclaims")
    if name in POD_NAMES or name.startswith(COMPUTE_PREFIXES):
        return resource("pods")
    return None


class ResourceQuotaController:
    """Keeps the status of every ResourceQuota."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._informers = informers
        self._counted: dict[Resource, SharedInformer] = {}
        self._quotas = informers.informer(resource("resourcequotas"))
        self._definitions = informers.informer(
            resource("customresourcedefinitions.apiextensions.k8s.io")
        )
        self._definitions.add_event_handler(
            add=self._defined, update=lambda _, new: self._defined(new)
        )
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._quotas.add_event_handler(
            add=self._enqueue,
            update=lambda old, new: (
                None if _hard(old) == _hard(new) else self._enqueue(new)
            ),
        )

    async def run(self) -> None:
        """Work until cancelled."""
        await self._quotas.wait_for_sync()
        await self._definitions.wait_for_sync()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._resync(), name="resource-quota-controller resync")
            group.create_task(
                run_workers(
                    self._queue,
                    self._sync_quota,
                    workers=WORKERS,
                    name="resource-quota-controller",
                )
            )

    async def _resync(self) -> None:
        while True:
            await asyncio.sleep(RESYNC_PERIOD)
            for quota in self._quotas.indexer.list():
                self._enqueue(quota)

    def _enqueue(self, quota: Object) -> None:
        self._queue.add(f"{quota['metadata']['namespace']}/{quota['metadata']['name']}")

    def _counted_resource(self, name: str) -> Resource | None:
        """See `counted_resource`; also what definitions have added, as far as it lives
        in namespaces.
        """
        resource = counted_resource(name)
        if resource is None and name.startswith("count/"):
            definition = self._definitions.indexer.get_by_key(
                name.removeprefix("count/")
            )
            row = served_resource(definition) if definition is not None else None
            return row if row is not None and row.namespaced else None
        return resource

    def _defined(self, definition: Object) -> None:
        """Quotas may have been waiting for it."""
        name = f"count/{definition['metadata']['name']}"
        for quota in self._quotas.indexer.list():
            if name in _hard(quota) and name not in (
                (quota.get("status") or {}).get("used") or {}
            ):
                self._enqueue(quota)

    def _replenish(self, row: Resource, obj: Object) -> None:
        """Something went away, or uses less: count the quotas of its namespace that
        limit it.
        """
        for quota in self._quotas.indexer.list_namespace(obj["metadata"]["namespace"]):
            if any(self._counted_resource(name) == row for name in _hard(quota)):
                self._enqueue(quota)

    async def _informer(self, row: Resource) -> SharedInformer:
        informer = self._counted.get(row)
        if informer is None:
            informer = self._counted[row] = self._informers.informer(row)
            informer.add_event_handler(
                update=lambda old, new: (
                    self._replenish(row, new)
                    if _should_replenish(row, old, new)
                    else None
                ),
                delete=lambda obj: self._replenish(row, obj),
            )
        await informer.wait_for_sync()
        return informer

    async def _sync_quota(self, key: str) -> None:
        quota = self._quotas.indexer.get_by_key(key)
        if quota is None:
            return
        namespace, hard = quota["metadata"]["namespace"], _hard(quota)
        counted = await self._calculate_usage(namespace, quota)
        old = quota.get("status") or {}
        kept = {
            name: text for name, text in (old.get("used") or {}).items() if name in hard
        }
        used = dict(
            sorted(
                {
                    **kept,
                    **{name: str(amount) for name, amount in counted.items()},
                }.items()
            )
        )
        if _amounts(old.get("hard")) == _amounts(hard) and _amounts(
            old.get("used")
        ) == _amounts(used):
            return
        new = mutable_copy(quota)
        new["status"] = {"hard": dict(sorted(hard.items())), "used": used}
        await self._client.update(resource("resourcequotas"), new, subresource="status")

    async def _calculate_usage(
        self, namespace: str, quota: Object
    ) -> dict[str, Quantity]:
        """What the namespace uses of each limited thing that this controller can
        count.
        """
        by_row: dict[Resource, list[str]] = {}
        for name in _hard(quota):
            row = self._counted_resource(name)
            if row is not None:
                by_row.setdefault(row, []).append(name)
        total: dict[str, Quantity] = {}
        for row, names in by_row.items():
            total |= dict.fromkeys(names, ZERO)
            informer = await self._informer(row)
            for obj in informer.indexer.list_namespace(namespace):
                if not matches_scopes(quota, row, obj):
                    continue
                amounts = usage(row, obj)
                for name in names:
                    if name in amounts:
                        total[name] = total[name] + amounts[name]
        return total


def _hard(quota: Object) -> Object:
    return (quota.get("spec") or {}).get("hard") or {}


def _amounts(texts: Object | None) -> dict[str, Quantity] | None:
    return (
        None
        if texts is None
        else {name: parse_quantity(text) for name, text in texts.items()}
    )


def _should_replenish(row: Resource, old: Object, new: Object) -> bool:
    """Whether an update may have given something back. Upstream: `DefaultUpdateFilter`.

    A Service that loses a port and keeps its type is not looked at, nor is a pod of
    which it is said for the first time what it holds.
    """
    if row.group:
        return False
    if row.plural == "pods":
        return (
            _resources_changed(old, new)
            or is_terminating(old) is not is_terminating(new)
            or (_is_counted(old) and not _is_counted(new))
        )
    if row.plural == "services":
        return _quota_type(old) != _quota_type(new)
    return row.plural == "persistentvolumeclaims" and usage(row, old) != usage(row, new)


def _resources_changed(old: Object, new: Object) -> bool:
    """Whether a container holds something else than before. Upstream:
    `hasResourcesChanged`.
    """
    return any(
        known[status["name"]] != _held(status)
        for kind in ("containerStatuses", "initContainerStatuses")
        for known in [
            {s["name"]: _held(s) for s in (old.get("status") or {}).get(kind) or ()}
        ]
        for status in (new.get("status") or {}).get(kind) or ()
        if status["name"] in known
    )


def _held(status: Object) -> dict[str, dict[str, Quantity] | None] | None:
    resources = status.get("resources")
    if resources is None:
        return None
    return {part: _amounts(resources.get(part)) for part in ("requests", "limits")}


def _is_counted(pod: Object) -> bool:
    """Upstream: `QuotaV1Pod`."""
    return (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")


def _quota_type(service: Object) -> str:
    """What a quota knows of a Service's type. Upstream: `GetQuotaServiceType`."""
    kind = str((service.get("spec") or {}).get("type") or "")
    return kind if kind in ("NodePort", "LoadBalancer") else ""
