"""Deployments: from one template to the next, without ever having too few pods.

The controller writes ReplicaSets and nothing else: how many pods each template may have
now. That pods come and go is the ReplicaSet controller's doing; the two never talk,
they read each other's objects.

One sync of one Deployment takes the first of these that applies: being deleted → count
only; paused → resize what is there; asked to roll back → do that; scaled → resize; else
one step of the rollout. Then the status is written. A write that loses a race against
its own earlier one (the copy is older than what this very sync wrote) fails with a
conflict and the key comes back; the recorded cluster does the same.

Upstream: `pkg/controller/deployment/deployment_controller.go` (`DeploymentController`,
`syncDeployment`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_label_selector
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.client.events import EventRecorder
from lifecycle.client.kept_selectors import KeptSelectors
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.controller_ref_manager import ControllerRefManager
from lifecycle.controllers.deployment.deployment_control import DeploymentControl
from lifecycle.controllers.deployment.deployment_util import (
    is_rolling_update,
    status_of,
)
from lifecycle.controllers.deployment.recreate import rollout_recreate
from lifecycle.controllers.deployment.rollback import get_rollback_to, rollback
from lifecycle.controllers.deployment.rolling import rollout_rolling
from lifecycle.controllers.deployment.sync import (
    check_paused_conditions,
    is_scaling_event,
    sync,
    sync_status_only,
)
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.owner_references import (
    CONTROLLER_UID_INDEX,
    ORPHAN,
    get_controller_of,
    index_by_controller_uid,
)

WORKERS = 5
MAX_RETRIES = 15


class DeploymentController:
    """Rolls every Deployment towards its template and size."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._deployments = informers.informer(resource("deployments.apps"))
        self._selectors = KeptSelectors(self._deployments)
        self._replica_sets = informers.informer(resource("replicasets.apps"))
        self._pods = informers.informer(resource("pods"))
        for informer in (self._pods, self._replica_sets):
            informer.add_indexers({CONTROLLER_UID_INDEX: index_by_controller_uid})
        self._recorder = EventRecorder(client, "deployment-controller", clock=clock)
        self._control = DeploymentControl(client, self._recorder, clock)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._deployments.add_event_handler(
            add=self._enqueue,
            update=lambda old, new: self._enqueue(new),
            delete=self._enqueue,
        )
        self._replica_sets.add_event_handler(
            add=self._add_replica_set,
            update=self._update_replica_set,
            delete=self._delete_replica_set,
        )
        self._pods.add_event_handler(delete=self._delete_pod)

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            for informer in (self._deployments, self._replica_sets, self._pods):
                await informer.wait_for_sync()
            await run_workers(
                self._queue,
                self._sync_deployment,
                workers=WORKERS,
                name="deployment-controller",
                max_retries=MAX_RETRIES,
            )
        finally:
            await self._recorder.stop()

    # Events. All of these only find keys.

    def _enqueue(self, d: Object) -> None:
        self._queue.add(meta_namespace_key(d))

    def _resolve_controller_ref(
        self, namespace: str, reference: Object
    ) -> Object | None:
        if reference["kind"] != "Deployment":
            return None
        d = self._deployments.indexer.get_by_key(f"{namespace}/{reference['name']}")
        return d if d is not None and d["metadata"]["uid"] == reference["uid"] else None

    def _add_replica_set(self, rs: Object) -> None:
        if "deletionTimestamp" in rs["metadata"]:
            self._delete_replica_set(rs)
            return
        reference = get_controller_of(rs)
        if reference is None:
            self._enqueue_matching(rs)
            return
        d = self._resolve_controller_ref(rs["metadata"]["namespace"], reference)
        if d is not None:
            self._enqueue(d)

    def _update_replica_set(self, old: Object, new: Object) -> None:
        meta, old_meta = new["metadata"], old["metadata"]
        if meta["resourceVersion"] == old_meta["resourceVersion"]:
            return
        reference, old_reference = get_controller_of(new), get_controller_of(old)
        if old_reference is not None and reference != old_reference:
            former = self._resolve_controller_ref(meta["namespace"], old_reference)
            if former is not None:
                self._enqueue(former)
        if reference is not None:
            d = self._resolve_controller_ref(meta["namespace"], reference)
            if d is not None:
                self._enqueue(d)
        elif old_reference is not None or meta.get("labels") != old_meta.get("labels"):
            self._enqueue_matching(new)

    def _delete_replica_set(self, rs: Object) -> None:
        reference = get_controller_of(rs)
        d = (
            self._resolve_controller_ref(rs["metadata"]["namespace"], reference)
            if reference
            else None
        )
        if d is not None:
            self._enqueue(d)

    def _enqueue_matching(self, rs: Object) -> None:
        """An orphaned ReplicaSet: whoever selects it may want to adopt it."""
        labels = rs["metadata"].get("labels")
        if not labels:
            return
        for d in self._deployments.indexer.list_namespace(rs["metadata"]["namespace"]):
            selector = self._selectors.of(d)
            if not selector.empty and selector.matches(labels):
                self._enqueue(d)

    def _delete_pod(self, pod: Object) -> None:
        """With Recreate, the last old pod's end is what the rollout waits for."""
        reference = get_controller_of(pod)
        if reference is None or reference["kind"] != "ReplicaSet":
            return
        rs = self._replica_sets.indexer.get_by_key(
            f"{pod['metadata']['namespace']}/{reference['name']}"
        )
        owner = get_controller_of(rs) if rs is not None else None
        d = (
            self._resolve_controller_ref(pod["metadata"]["namespace"], owner)
            if owner
            else None
        )
        if d is not None and not is_rolling_update(d):
            replica_sets = self._replica_sets.indexer.by_index(
                CONTROLLER_UID_INDEX, d["metadata"]["uid"]
            )
            if not any(self._pods_of(rs) for rs in replica_sets):
                self._enqueue(d)

    def _pods_of(self, rs: Object) -> list[Object]:
        return self._pods.indexer.by_index(CONTROLLER_UID_INDEX, rs["metadata"]["uid"])

    # The sync.

    async def _sync_deployment(self, key: str) -> None:
        cached = self._deployments.indexer.get_by_key(key)
        if cached is None:
            return
        d = mutable_copy(cached)
        if not selector_from_label_selector(d["spec"]["selector"]).requirements:
            await self._refuse_to_select_all(d)
            return
        replica_sets = await self._get_replica_sets_for_deployment(d)
        if "deletionTimestamp" in d["metadata"]:
            await sync_status_only(self._control, d, replica_sets)
            return
        await check_paused_conditions(self._control, d)
        if d["spec"].get("paused"):
            await sync(self._control, d, replica_sets)
            return
        revision = get_rollback_to(d)
        if revision is not None:
            await rollback(self._control, d, replica_sets, revision)
            return
        if await is_scaling_event(self._control, d, replica_sets):
            await sync(self._control, d, replica_sets)
            return

        def enqueue_after(seconds: float) -> None:
            self._queue.add_after(key, seconds)

        if is_rolling_update(d):
            await rollout_rolling(self._control, d, replica_sets, enqueue_after)
        else:
            pod_map = {rs["metadata"]["uid"]: self._pods_of(rs) for rs in replica_sets}
            await rollout_recreate(
                self._control, d, replica_sets, pod_map, enqueue_after
            )

    async def _get_replica_sets_for_deployment(self, d: Object) -> list[Object]:
        """The ReplicaSets that are this Deployment's, after adopting and releasing."""
        meta = d["metadata"]
        indexer = self._replica_sets.indexer
        own = indexer.by_index(CONTROLLER_UID_INDEX, meta["uid"])
        orphans = indexer.by_index(CONTROLLER_UID_INDEX, ORPHAN + meta["namespace"])
        selector = selector_from_label_selector(d["spec"]["selector"])
        manager = ControllerRefManager(
            self._client,
            d,
            self._deployments.resource,
            self._replica_sets.resource,
            selector,
        )
        return await manager.claim([*own, *orphans])

    async def _refuse_to_select_all(self, d: Object) -> None:
        message = (
            "This deployment is selecting all pods. A non-empty selector is required."
        )
        self._recorder.event(d, "Warning", "SelectingAll", message)
        generation = d["metadata"].get("generation", 0)
        if status_of(d).get("observedGeneration", 0) < generation:
            d["status"] = {**status_of(d), "observedGeneration": generation}
            await self._control.update_status(d)
