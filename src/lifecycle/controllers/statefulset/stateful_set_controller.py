"""StatefulSets: pods that are not interchangeable.

Each has a number, a name made of it, and claims that come back to it. A sync is: claim
the pods, find the revisions, do one step (`stateful_set_control.py`), write the status,
forget old revisions.

Upstream: `pkg/controller/statefulset/stateful_set.go` (`StatefulSetController`,
`sync`), `stateful_set_control.go` (`getStatefulSetRevisions`, `truncateHistory`),
v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_label_selector
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.events import EventRecorder
from lifecycle.client.keyed_worker import RetryError, run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.history.revisions import (
    CONTROLLER_REVISION_HASH,
    hash_revision,
    in_order,
    new_revision,
    next_revision,
    template_patch,
)
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.owned_pods import OwnedPods
from lifecycle.controllers.owner_references import (
    CONTROLLER_UID_INDEX,
    index_by_controller_uid,
)
from lifecycle.controllers.statefulset.stateful_pods import is_member, revision_of
from lifecycle.controllers.statefulset.stateful_set_control import (
    StatefulPodControl,
    StatefulSetControl,
    set_status,
)
from lifecycle.controllers.statefulset.stateful_set_status_updater import (
    StatefulSetStatusUpdater,
)


class StatefulSetController:
    """Keeps every StatefulSet's pods, one step at a time."""

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
        self._resource = resource("statefulsets.apps")
        self._sets = informers.informer(self._resource)
        self._claims = informers.informer(resource("persistentvolumeclaims"))
        self._revisions = informers.informer(resource("controllerrevisions.apps"))
        self._revisions.add_indexers({CONTROLLER_UID_INDEX: index_by_controller_uid})
        self._recorder = EventRecorder(client, "statefulset-controller", clock=clock)
        self._control = StatefulSetControl(
            StatefulPodControl(client, self._recorder, self._claims), clock
        )
        self._status = StatefulSetStatusUpdater(client, self._sets)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._written: dict[str, int] = {}
        self._pods = OwnedPods(informers, self._sets, "StatefulSet", self._pod_changed)
        self._sets.add_event_handler(
            add=lambda s: self._queue.add(meta_namespace_key(s)),
            update=lambda old, new: self._queue.add(meta_namespace_key(new)),
            delete=lambda s: self._queue.add(meta_namespace_key(s)),
        )

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            for informer in (
                self._pods.informer,
                self._claims,
                self._revisions,
                self._sets,
            ):
                await informer.wait_for_sync()
            await run_workers(
                self._queue, self._sync, workers=5, name="statefulset-controller"
            )
        finally:
            await self._recorder.stop()

    def _pod_changed(self, key: str, pod: Object) -> None:
        self._queue.add(key)
        set_ = self._sets.indexer.get_by_key(key)
        min_ready = set_["spec"].get("minReadySeconds", 0) if set_ is not None else 0
        if min_ready:
            self._queue.add_after(key, min_ready + 1)

    async def _sync(self, key: str) -> None:
        set_ = self._sets.indexer.get_by_key(key)
        if set_ is None:
            self._written.pop(key, None)
            return
        if int(set_["metadata"]["resourceVersion"]) < self._written.get(key, 0):
            raise RetryError(f"the cache has not seen the last status of {key} yet")
        selector = selector_from_label_selector(set_["spec"]["selector"])
        claimed = await self._pods.claim(self._client, set_, self._resource, selector)
        pods = [pod for pod in claimed if is_member(set_, pod)]
        current, update, collisions, revisions = await self._get_revisions(set_)
        error: StatusError | None = None
        taken = 0
        try:
            taken = await self._control.step(set_, current, update, pods)
        except StatusError as refused:
            error = refused
        status = set_status(
            set_, current, update, pods, taken, collisions, self._clock.now()
        )
        old = set_.get("status") or {}
        if status != {
            name: value for name, value in old.items() if name != "conditions"
        }:
            updated = await self._status.update(set_, status)
            self._written[key] = int(updated["metadata"]["resourceVersion"])
        await self._truncate_history(set_, revisions, current, update, pods)
        if error is not None:
            raise error

    async def _get_revisions(
        self, set_: Object
    ) -> tuple[Object, Object, int, list[Object]]:
        """The revision in use, the one to go to, the count of name collisions, and all
        of them.
        """
        revisions = in_order(
            self._revisions.indexer.by_index(
                CONTROLLER_UID_INDEX, set_["metadata"]["uid"]
            )
        )
        data = template_patch(set_)
        collisions = int((set_.get("status") or {}).get("collisionCount") or 0)
        equal = [revision for revision in revisions if revision["data"] == data]
        if equal and equal[-1] is revisions[-1]:
            update = equal[-1]
        elif equal:  # an old template is back: its revision gets a new number
            copy = {**mutable_copy(equal[-1]), "revision": next_revision(revisions)}
            update = await self._client.update(self._revisions.resource, copy)
        else:
            update, collisions = await self._create_revision(
                set_, data, next_revision(revisions), collisions
            )
        current_revision = (set_.get("status") or {}).get("currentRevision")
        current = next(
            (r for r in revisions if r["metadata"]["name"] == current_revision), update
        )
        return current, update, collisions, revisions

    async def _create_revision(
        self, set_: Object, data: Object, number: int, collisions: int
    ) -> tuple[Object, int]:
        labels = set_["spec"]["template"]["metadata"].get("labels") or {}
        while True:
            name_hash = hash_revision(data, collisions)
            revision = new_revision(
                set_,
                data,
                number,
                name_hash,
                {**labels, CONTROLLER_REVISION_HASH: name_hash},
            )
            namespace = set_["metadata"]["namespace"]
            try:
                return await self._client.create(
                    self._revisions.resource, revision, namespace
                ), collisions
            except StatusError as error:
                if error.reason != "AlreadyExists":
                    raise
                there = await self._client.get(
                    self._revisions.resource, revision["metadata"]["name"], namespace
                )
                if there["data"] == data:
                    return there, collisions
                collisions += 1

    async def _truncate_history(
        self,
        set_: Object,
        revisions: list[Object],
        current: Object,
        update: Object,
        pods: list[Object],
    ) -> None:
        live = {
            current["metadata"]["name"],
            update["metadata"]["name"],
            *map(revision_of, pods),
        }
        idle = [
            revision
            for revision in revisions
            if revision["metadata"]["name"] not in live
        ]
        limit = set_["spec"].get("revisionHistoryLimit", 10)
        for revision in idle[: max(0, len(idle) - limit)]:
            await self._client.delete(
                self._revisions.resource,
                revision["metadata"]["name"],
                revision["metadata"]["namespace"],
            )
