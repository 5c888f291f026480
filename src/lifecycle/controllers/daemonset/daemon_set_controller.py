"""DaemonSets: one pod on every node that should have one.

A sync compares nodes with pods. A failed pod is deleted, and the next one comes later
each time; pods on nodes that no longer should have one are deleted; of several pods on
a node the oldest stays. Then a step of the rollout, the status, and the history.

Upstream: `pkg/controller/daemon/daemon_controller.go` (`syncDaemonSet`, `manage`,
`podsShouldBeOnNode`, `syncNodes`), `update.go` (`constructHistory`, `cleanupHistory`),
v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_label_selector
from lifecycle.api.loop.clock import Clock
from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.loop.worker import beside, size_of
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.backoff import Backoff
from lifecycle.client.events import EventRecorder
from lifecycle.client.keyed_worker import RetryError, run_workers
from lifecycle.client.rest import REQUEST_ERRORS, Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.daemonset.daemon_pods import (
    Should,
    daemon_pod,
    node_of,
    node_should_run_daemon_pod,
)
from lifecycle.controllers.daemonset.daemon_set_status import daemon_set_status
from lifecycle.controllers.daemonset.rolling_update import (
    allows_surge,
    rolling_update,
    surplus_pods,
)
from lifecycle.controllers.expectations import ControllerExpectations
from lifecycle.controllers.history.revisions import (
    REVISION_LABEL,
    in_order,
    new_revision,
    next_revision,
    template_patch,
)
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.owned_pods import OwnedPods
from lifecycle.controllers.owner_references import (
    CONTROLLER_UID_INDEX,
    get_controller_of,
    index_by_controller_uid,
)
from lifecycle.controllers.pod_control import PodControl
from lifecycle.controllers.pod_readiness import is_pod_available, pod_phase
from lifecycle.controllers.pod_template_hash import compute_hash

BURST_REPLICAS = 250
BACKOFF_INITIAL, BACKOFF_MAX = 1.0, 900.0
BACKOFF_GC_INTERVAL = 60.0


def _should(ds: Object, node: Object | None) -> Should:
    """What is to be on a node, which may not be there."""
    if node is None:
        return Should(False, False)
    return node_should_run_daemon_pod(ds, node)


class DaemonSetController:
    """Keeps every DaemonSet's pods where they belong."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._clock = clock
        self._resource = resource("daemonsets.apps")
        self._sets = informers.informer(self._resource)
        self._nodes = informers.informer(resource("nodes"))
        self._revisions = informers.informer(resource("controllerrevisions.apps"))
        self._revisions.add_indexers({CONTROLLER_UID_INDEX: index_by_controller_uid})
        self._recorder = EventRecorder(client, "daemonset-controller", clock=clock)
        self._pod_control = PodControl(client, self._recorder)
        self._expectations = ControllerExpectations(clock)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._node_updates: RateLimitingQueue[str] = RateLimitingQueue()
        self._nodes_before: dict[str, Object | None] = {}  # of those in that queue
        self._failures = Backoff(BACKOFF_INITIAL, BACKOFF_MAX)
        self._pods = OwnedPods(
            informers, self._sets, "DaemonSet", self._pod_changed, self._expectations
        )
        self._sets.add_event_handler(
            add=lambda ds: self._queue.add(meta_namespace_key(ds)),
            update=lambda old, new: self._queue.add(meta_namespace_key(new)),
            delete=self._set_deleted,
        )
        self._nodes.add_event_handler(
            add=lambda node: self._node_changed(node["metadata"]["name"], None),
            update=self._node_updated,
            delete=lambda node: self._node_changed(node["metadata"]["name"], node),
        )

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            for informer in (
                self._pods.informer,
                self._nodes,
                self._revisions,
                self._sets,
            ):
                await informer.wait_for_sync()
            async with asyncio.TaskGroup() as group:
                group.create_task(
                    run_workers(
                        self._queue,
                        self._sync_daemon_set,
                        workers=2,
                        name="daemonset-controller",
                    )
                )
                group.create_task(
                    run_workers(
                        self._node_updates,
                        self._sync_node_update,
                        workers=1,
                        name="daemonset-controller nodes",
                    )
                )
                group.create_task(self._forget_old_failures())
        finally:
            await self._recorder.stop()

    # Events.

    def _pod_changed(self, key: str, pod: Object) -> None:
        self._queue.add(key)
        ds = self._sets.indexer.get_by_key(key)
        min_ready = ds["spec"].get("minReadySeconds", 0) if ds is not None else 0
        if min_ready and not is_pod_available(pod, min_ready, self._clock.now()):
            self._queue.add_after(key, min_ready + 1)

    def _set_deleted(self, ds: Object) -> None:
        key = meta_namespace_key(ds)
        self._expectations.delete_expectations(key)
        self._failures.forget_all(ds["metadata"]["uid"])
        self._queue.add(key)

    def _node_updated(self, old: Object, new: Object) -> None:
        same_taints = (old.get("spec") or {}).get("taints") == (
            new.get("spec") or {}
        ).get("taints")
        if same_taints and old["metadata"].get("labels") == new["metadata"].get(
            "labels"
        ):
            return  # a heartbeat
        self._node_changed(old["metadata"]["name"], old)

    def _node_changed(self, name: str, before: Object | None) -> None:
        self._nodes_before.setdefault(name, before)
        self._node_updates.add(name)

    async def _sync_node_update(self, name: str) -> None:
        """Who looks at a node differently now is synced: to ask all is much, if each
        has much to say about nodes. Upstream: `syncNodeUpdate`.
        """
        old, new = (
            self._nodes_before.pop(name, None),
            self._nodes.indexer.get_by_key(name),
        )
        pauses = Pauses()
        for ds in self._sets.indexer.list():
            await pauses.pause()
            if _should(ds, old) != _should(ds, new):
                self._queue.add(meta_namespace_key(ds))

    # The sync.

    async def _sync_daemon_set(self, key: str) -> None:
        ds = self._sets.indexer.get_by_key(key)
        if ds is None:
            self._expectations.delete_expectations(key)
            return
        selector = selector_from_label_selector(ds["spec"]["selector"])
        if "deletionTimestamp" in ds["metadata"]:
            return
        current, old = await self._construct_history(ds)
        revision_hash = current["metadata"]["labels"][REVISION_LABEL]
        nodes = self._nodes.indexer.list()
        error: Exception | None = None
        claimed: list[Object] = []
        if self._expectations.satisfied(key):
            claimed = await self._pods.claim(self._client, ds, self._resource, selector)
            pods_on = self._nodes_to_daemon_pods(claimed)
            error = await self._manage(ds, nodes, pods_on, revision_hash)
            rolling = ds["spec"]["updateStrategy"]["type"] == "RollingUpdate"
            if rolling and error is None and self._expectations.satisfied(key):
                step = rolling_update(
                    ds, nodes, pods_on, revision_hash, self._clock.now()
                )
                error = await self._sync_nodes(
                    ds, step.delete, step.create, revision_hash
                )
            await self._cleanup_history(ds, old)
        own = self._pods.of(ds)
        known = {pod["metadata"]["uid"] for pod in own}
        adopted = [pod for pod in claimed if get_controller_of(pod) is None]
        own += [pod for pod in adopted if pod["metadata"]["uid"] not in known]
        pods_on = self._nodes_to_daemon_pods(own)
        status = daemon_set_status(ds, nodes, pods_on, revision_hash, self._clock.now())
        if status != (ds.get("status") or {}):
            try:
                await self._client.update(
                    self._resource,
                    {**mutable_copy(ds), "status": status},
                    subresource="status",
                )
            except StatusError as refused:
                if refused.code == 409:
                    raise RetryError(f"{key} has changed since") from refused
                raise
        if error is not None:
            raise error

    @staticmethod
    def _nodes_to_daemon_pods(pods: Sequence[Object]) -> dict[str, list[Object]]:
        node_to_daemon_pods: dict[str, list[Object]] = {}
        for pod in pods:
            node_to_daemon_pods.setdefault(node_of(pod), []).append(pod)
        return node_to_daemon_pods

    async def _manage(
        self,
        ds: Object,
        nodes: Sequence[Object],
        pods_on: dict[str, list[Object]],
        revision_hash: str,
    ) -> Exception | None:
        create: list[str] = []
        delete: list[Object] = []
        known = {node["metadata"]["name"] for node in nodes}
        for node in nodes:
            name = node["metadata"]["name"]
            should = node_should_run_daemon_pod(ds, node)
            pods = pods_on.get(name, [])
            if should.run and not pods:
                create.append(name)
            elif should.continue_running:
                delete += self._failed_pods_to_delete(ds, name, pods)
                running = [
                    pod
                    for pod in pods
                    if pod_phase(pod) not in ("Failed", "Succeeded")
                    and "deletionTimestamp" not in pod["metadata"]
                ]
                if should.run and not running and allows_surge(ds):
                    create.append(name)  # what is on its way out need not be gone
                delete += surplus_pods(ds, running, revision_hash, self._clock.now())
            else:
                delete += [
                    pod for pod in pods if "deletionTimestamp" not in pod["metadata"]
                ]
        for name, pods in pods_on.items():
            if (
                name and name not in known
            ):  # the node is gone, so nobody will tell that these ended
                delete += [
                    pod
                    for pod in pods
                    if "deletionTimestamp" not in pod["metadata"]
                    and not pod["spec"].get("nodeName")
                ]
        return await self._sync_nodes(ds, delete, create, revision_hash)

    def _failed_pods_to_delete(
        self, ds: Object, node: str, pods: Sequence[Object]
    ) -> list[Object]:
        """Pods that have ended: those that succeeded at once, failed ones when their
        time has come.
        """
        pods_to_delete: list[Object] = []
        for pod in pods:
            if "deletionTimestamp" in pod["metadata"]:
                continue
            where = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
            if pod_phase(pod) == "Failed" and self._is_its_time(ds, node):
                message = (
                    f"Found failed daemon pod {where} on node {node}, will try to kill"
                    " it"
                )
                self._recorder.event(ds, "Warning", "FailedDaemonPod", message)
                pods_to_delete.append(pod)
            elif pod_phase(pod) == "Succeeded":
                message = (
                    f"Found succeeded daemon pod {where} on node {node}, will try to"
                    " delete it"
                )
                self._recorder.event(ds, "Normal", "SucceededDaemonPod", message)
                pods_to_delete.append(pod)
        return pods_to_delete

    def _is_its_time(self, ds: Object, node: str) -> bool:
        """Whether a failed pod may go. Each failure on a node doubles the wait before
        the next, until there was none for twice the longest wait.
        """
        now, failures = self._clock.now(), self._failures
        key = (ds["metadata"]["uid"], str(ds["metadata"].get("generation")), node)
        if failures.is_in_backoff(key, now):
            wait = failures.remaining(key, failures.last_try(key), now)
            self._queue.add_after(meta_namespace_key(ds), wait)
            return False
        failures.next(key, now)
        return True

    async def _forget_old_failures(self) -> None:
        while True:
            self._failures.forget_old(self._clock.now())
            await asyncio.sleep(BACKOFF_GC_INTERVAL)

    async def _sync_nodes(
        self,
        ds: Object,
        delete: Sequence[Object],
        create: Sequence[str],
        revision_hash: str,
    ) -> Exception | None:
        """Creates in growing batches, then all deletes. The first error."""
        if not create and not delete:
            return None
        key = meta_namespace_key(ds)
        create, delete = create[:BURST_REPLICAS], delete[:BURST_REPLICAS]
        namespace = ds["metadata"]["namespace"]
        names = [f"{namespace}/{pod['metadata']['name']}" for pod in delete]
        self._expectations.expect(key, creations=len(create), deletions=names)
        done, size, error = 0, 1, None
        while done < len(create) and error is None:
            batch = create[done : done + size]
            bodies = [
                fast_json.dumps(daemon_pod(ds, node, revision_hash)) for node in batch
            ]
            results = await asyncio.gather(
                *(self._pod_control.create_pod(body, namespace, ds) for body in bodies),
                return_exceptions=True,
            )
            errors = [result for result in results if isinstance(result, Exception)]
            error = errors[0] if errors else None
            done += len(batch) - len(errors)
            size *= 2
        for _ in range(len(create) - done):
            self._expectations.creation_observed(key)
        for pod, name in zip(delete, names, strict=True):
            try:
                await self._pod_control.delete_pod(
                    pod["metadata"]["name"], namespace, ds
                )
            except REQUEST_ERRORS as refused:
                self._expectations.deletion_observed(key, name)
                if not (isinstance(refused, StatusError) and refused.code == 404):
                    error = error or refused
        return error

    # History.

    async def _construct_history(self, ds: Object) -> tuple[Object, list[Object]]:
        """The revision of the present template, made or renumbered if need be, and the
        others.
        """
        revisions = in_order(
            self._revisions.indexer.by_index(
                CONTROLLER_UID_INDEX, ds["metadata"]["uid"]
            )
        )
        data = template_patch(ds)
        current = [revision for revision in revisions if revision["data"] == data]
        old = [revision for revision in revisions if revision["data"] != data]
        number = next_revision(old)
        if current:
            newest = current[-1]
            if newest["revision"] < number:
                copy = {**mutable_copy(newest), "revision": number}
                newest = await self._client.update(self._revisions.resource, copy)
            return newest, old
        template = ds["spec"]["template"]
        collisions = (ds.get("status") or {}).get("collisionCount")
        size = size_of(template)
        name_hash = await beside(size, compute_hash, template, collisions)
        labels = {
            **(template["metadata"].get("labels") or {}),
            REVISION_LABEL: name_hash,
        }
        revision = new_revision(ds, data, number, name_hash, labels)
        try:
            return (
                await self._client.create(
                    self._revisions.resource, revision, ds["metadata"]["namespace"]
                ),
                old,
            )
        except StatusError as error:
            if error.code != 409:
                raise
            name = revision["metadata"]["name"]
            there = await self._client.get(
                self._revisions.resource, name, ds["metadata"]["namespace"]
            )
            if there["data"] == data:
                return there, old
            status = {
                **(ds.get("status") or {}),
                "collisionCount": (collisions or 0) + 1,
            }
            await self._client.update(
                self._resource,
                {**mutable_copy(ds), "status": status},
                subresource="status",
            )
            raise RetryError(f"the name {name} is taken by another template") from error

    async def _cleanup_history(self, ds: Object, old: list[Object]) -> None:
        limit = ds["spec"].get("revisionHistoryLimit", 10)
        used = {
            (pod["metadata"].get("labels") or {}).get(REVISION_LABEL)
            for pod in self._pods.of(ds)
        }
        idle = [
            revision
            for revision in old
            if (revision["metadata"].get("labels") or {}).get(REVISION_LABEL)
            not in used
        ]
        for revision in idle[: max(0, len(old) - limit)]:
            try:
                await self._client.delete(
                    self._revisions.resource,
                    revision["metadata"]["name"],
                    revision["metadata"]["namespace"],
                )
            except StatusError as error:
                if error.code != 404:
                    raise
