"""ReplicaSets: so many pods of this template, no more, no fewer.

Pod events say which ReplicaSet to look at; the look itself starts from the caches. Pods
are found by the uid of their controller (an index), so that a sync costs what its own
pods cost, not what the cluster's do. Orphans of the namespace that the selector matches
are adopted on the way.

A ReplicaSet of hundreds is not counted for each event of one of its pods; see
`controllers/counting_pauses.py`.

The kind is a parameter: ReplicationControllers are kept by the same code (see
`controllers/replication`).

Upstream: `pkg/controller/replicaset/replica_set.go` (`ReplicaSetController`,
`NewBaseController`, `syncReplicaSet`), v1.36. Left out: metrics.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import Selector, selector_from_label_selector
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.client.events import EventRecorder
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.consistency_store import ConsistencyStore
from lifecycle.controllers.controller_ref_manager import ControllerRefManager
from lifecycle.controllers.counting_pauses import CountingPauses
from lifecycle.controllers.expectations import ControllerExpectations
from lifecycle.controllers.owner_references import (
    CONTROLLER_UID_INDEX,
    ORPHAN,
    get_controller_of,
    index_by_controller_uid,
)
from lifecycle.controllers.pod_control import PodControl
from lifecycle.controllers.pod_readiness import (
    is_pod_active,
    is_pod_ready,
    is_pod_terminating,
)
from lifecycle.controllers.replicaset.manage_replicas import manage_replicas
from lifecycle.controllers.replicaset.status import (
    calculate_status,
    update_replica_set_status,
)

WORKERS = 5
PAUSE_PER_POD = 50e-6
"""A thousand pods are counted twenty times a second: as often as upstream may write."""


class ReplicaSetController:
    """Keeps every ReplicaSet at its number of pods."""

    kind = "ReplicaSet"
    resource_name = "replicasets.apps"
    component = "replicaset-controller"
    status_fields: frozenset[str] | None = None
    """What the kind's status has room for; None: all that is counted."""

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
        self._replica_sets = informers.informer(resource(self.resource_name))
        self._pods = informers.informer(resource("pods"))
        for informer in (self._pods, self._replica_sets):
            informer.add_indexers({CONTROLLER_UID_INDEX: index_by_controller_uid})
        self._recorder = EventRecorder(client, self.component, clock=clock)
        self._pod_control = PodControl(client, self._recorder)
        self._expectations = ControllerExpectations(clock)
        self._consistency = ConsistencyStore()
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._pauses = CountingPauses(PAUSE_PER_POD)
        self._replica_sets.add_event_handler(
            add=lambda rs: self._queue.add(meta_namespace_key(rs)),
            update=lambda old, new: self._queue.add(meta_namespace_key(new)),
            delete=self._delete_replica_set,
        )
        self._pods.add_event_handler(
            add=self._add_pod, update=self._update_pod, delete=self._delete_pod
        )

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            await self._pods.wait_for_sync()
            await self._replica_sets.wait_for_sync()
            await run_workers(
                self._queue,
                self._sync_replica_set,
                workers=WORKERS,
                name=self.component,
            )
        finally:
            await self._recorder.stop()

    def _selector(self, rs: Object) -> Selector:
        return selector_from_label_selector(rs["spec"]["selector"])

    # Events. All of these only find keys.

    def _delete_replica_set(self, rs: Object) -> None:
        key = meta_namespace_key(rs)
        self._expectations.delete_expectations(key)
        self._queue.add(key)

    def _resolve_controller_ref(
        self, namespace: str, reference: Object
    ) -> Object | None:
        """The ReplicaSet a reference means, if it is still that one."""
        if reference["kind"] != self.kind:
            return None
        rs = self._replica_sets.indexer.get_by_key(f"{namespace}/{reference['name']}")
        return (
            rs if rs is not None and rs["metadata"]["uid"] == reference["uid"] else None
        )

    def _enqueue_matching(self, pod: Object) -> None:
        """An orphan: whoever selects it may want to adopt it."""
        meta = pod["metadata"]
        labels = meta.get("labels")
        if not labels:
            return
        for rs in self._replica_sets.indexer.list_namespace(meta["namespace"]):
            selector = self._selector(rs)
            if not selector.empty and selector.matches(labels):
                self._queue.add(meta_namespace_key(rs))

    def _enqueue_for_pod(self, rs: Object, key: str) -> None:
        replicas = (rs.get("status") or {}).get("replicas", 0)
        self._queue.add_after(key, self._pauses.before(key, replicas))

    def _add_pod(self, pod: Object) -> None:
        meta = pod["metadata"]
        if (
            "deletionTimestamp" in meta
        ):  # seen for the first time after a restart, already on its way out
            self._delete_pod(pod)
            return
        reference = get_controller_of(pod)
        if reference is None:
            self._enqueue_matching(pod)
            return
        rs = self._resolve_controller_ref(meta["namespace"], reference)
        if rs is not None:
            key = meta_namespace_key(rs)
            self._expectations.creation_observed(key)
            if self._expectations.satisfied(key):
                self._queue.add(key)
            else:
                self._enqueue_for_pod(rs, key)

    def _update_pod(self, old: Object, new: Object) -> None:
        old_meta, meta = old["metadata"], new["metadata"]
        if old_meta["resourceVersion"] == meta["resourceVersion"]:
            return
        if (
            "deletionTimestamp" in meta
        ):  # marked: for this controller it is gone from now on
            self._delete_pod(new)
            return
        reference, old_reference = get_controller_of(new), get_controller_of(old)
        if old_reference is not None and (
            reference is None or reference["uid"] != old_reference["uid"]
        ):
            former = self._resolve_controller_ref(meta["namespace"], old_reference)
            if former is not None:
                self._queue.add(meta_namespace_key(former))
        if reference is None:
            if old_reference is not None or old_meta.get("labels") != meta.get(
                "labels"
            ):
                self._enqueue_matching(new)
            return
        rs = self._resolve_controller_ref(meta["namespace"], reference)
        if rs is None:
            return
        key = meta_namespace_key(rs)
        self._enqueue_for_pod(rs, key)
        min_ready_seconds = rs["spec"].get("minReadySeconds", 0)
        if min_ready_seconds and not is_pod_ready(old) and is_pod_ready(new):
            self._queue.add_after(
                key, min_ready_seconds + 1
            )  # when it will count as available

    def _delete_pod(self, pod: Object) -> None:
        reference = get_controller_of(pod)
        if reference is None:
            return
        rs = self._resolve_controller_ref(pod["metadata"]["namespace"], reference)
        if rs is not None:
            key = meta_namespace_key(rs)
            self._expectations.deletion_observed(key, meta_namespace_key(pod))
            self._enqueue_for_pod(rs, key)

    # The sync.

    async def _sync_replica_set(self, key: str) -> None:
        self._pauses.over(key)
        rs = self._replica_sets.indexer.get_by_key(key)
        if rs is None:
            self._expectations.delete_expectations(key)
            self._consistency.clear(key)
            return
        self._consistency.ensure_ready(key, rs)
        needs_sync = self._expectations.satisfied(key)
        meta, spec = rs["metadata"], rs["spec"]
        selector = self._selector(rs)
        indexer = self._pods.indexer
        own = indexer.by_index(CONTROLLER_UID_INDEX, meta["uid"])
        orphans = indexer.by_index(CONTROLLER_UID_INDEX, ORPHAN + meta["namespace"])
        manager = ControllerRefManager(
            self._client, rs, self._replica_sets.resource, self._pods.resource, selector
        )
        active = await manager.claim(
            [pod for pod in (*own, *orphans) if is_pod_active(pod)]
        )
        terminating = sum(
            1
            for pod in own
            if is_pod_terminating(pod)
            and selector.matches(pod["metadata"].get("labels"))
        )
        error: Exception | None = None
        if needs_sync and "deletionTimestamp" not in meta:
            error = await manage_replicas(
                rs,
                active,
                pod_control=self._pod_control,
                expectations=self._expectations,
                related_pods=lambda: self._indirectly_related_pods(rs),
                now=self._clock.now(),
            )
        status = calculate_status(rs, active, terminating, error, self._clock.now())
        if self.status_fields is not None:
            status = {k: v for k, v in status.items() if k in self.status_fields}
        updated = await update_replica_set_status(
            self._client, self._replica_sets.resource, rs, status
        )
        self._consistency.wrote_at(key, updated)
        min_ready_seconds = spec.get("minReadySeconds", 0)
        counts = updated.get("status") or {}
        if (
            error is None
            and min_ready_seconds
            and counts.get("readyReplicas", 0) == spec.get("replicas", 1)
            and counts.get("availableReplicas", 0) != spec.get("replicas", 1)
        ):
            self._queue.add_after(key, min_ready_seconds)
        if error is not None:
            raise error

    def _indirectly_related_pods(self, rs: Object) -> list[Object]:
        """All pods of all ReplicaSets of the same owner. Upstream:
        `getIndirectlyRelatedPods`.
        """
        reference = get_controller_of(rs)
        related = (
            [rs]
            if reference is None
            else self._replica_sets.indexer.by_index(
                CONTROLLER_UID_INDEX, reference["uid"]
            )
        )
        return [
            pod
            for r in related
            for pod in self._pods.indexer.by_index(
                CONTROLLER_UID_INDEX, r["metadata"]["uid"]
            )
        ]
