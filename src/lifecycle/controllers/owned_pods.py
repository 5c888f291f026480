"""The pods of one kind of controller: which object does a pod event concern, and which
pods are an object's own.

Every controller of pods asks the same two questions, so they stand here once. Events
only find keys and settle expectations; `claim` reads the caches, adopts and releases.

Upstream: the `addPod`, `updatePod`, `deletePod`, `resolveControllerRef` that
`pkg/controller/job/job_controller.go`, `daemon/daemon_controller.go` and
`statefulset/stateful_set.go` each have, v1.36. (The ReplicaSet controller keeps its
own: it also spares itself the count of large sets.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import Selector
from lifecycle.api.resources import Resource, resource
from lifecycle.client.kept_selectors import KeptSelectors
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer, SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.controllers.controller_ref_manager import ControllerRefManager
from lifecycle.controllers.expectations import ControllerExpectations
from lifecycle.controllers.owner_references import (
    CONTROLLER_UID_INDEX,
    ORPHAN,
    get_controller_of,
    index_by_controller_uid,
)


class OwnedPods:
    """Pods of the objects in `owners`, which are of `kind`. `changed` is told an
    owner's key and the pod that caused it.
    """

    def __init__(
        self,
        informers: SharedInformerFactory,
        owners: SharedInformer,
        kind: str,
        changed: Callable[[str, Object], None],
        expectations: ControllerExpectations | None = None,
        *,
        adopts: bool = True,
    ) -> None:
        self.informer = informers.informer(resource("pods"))
        self.informer.add_indexers({CONTROLLER_UID_INDEX: index_by_controller_uid})
        self._owners = owners
        self._selectors = KeptSelectors(owners)
        self._kind = kind
        self._changed = changed
        self._expectations = expectations
        self._adopts = adopts
        self.informer.add_event_handler(
            add=self._add, update=self._update, delete=self._delete
        )

    def of(self, owner: Object) -> list[Object]:
        """The pods whose controller this object is."""
        return self.informer.indexer.by_index(
            CONTROLLER_UID_INDEX, owner["metadata"]["uid"]
        )

    async def claim(
        self,
        client: Client,
        owner: Object,
        owner_resource: Resource,
        selector: Selector,
        finalizers: Sequence[str] = (),
    ) -> list[Object]:
        """The object's pods after adopting (they get the `finalizers`) and releasing.
        Raises StatusError, RetryError.
        """
        namespace = owner["metadata"]["namespace"]
        pods = [
            *self.of(owner),
            *self.informer.indexer.by_index(CONTROLLER_UID_INDEX, ORPHAN + namespace),
        ]
        manager = ControllerRefManager(
            client, owner, owner_resource, self.informer.resource, selector, finalizers
        )
        return await manager.claim(pods)

    def owner_of(self, namespace: str, reference: Object) -> Object | None:
        """The object that a reference means, if it is still that one. Upstream:
        `resolveControllerRef`.
        """
        if reference["kind"] != self._kind:
            return None
        owner = self._owners.indexer.get_by_key(f"{namespace}/{reference['name']}")
        return (
            owner
            if owner is not None and owner["metadata"]["uid"] == reference["uid"]
            else None
        )

    def _add(self, pod: Object) -> None:
        if "deletionTimestamp" in pod["metadata"]:
            self._delete(pod)
            return
        reference = get_controller_of(pod)
        if reference is None:
            self._enqueue_selecting_owners(pod)
            return
        owner = self.owner_of(pod["metadata"]["namespace"], reference)
        if owner is not None:
            key = meta_namespace_key(owner)
            if self._expectations is not None:
                self._expectations.creation_observed(key)
            self._changed(key, pod)

    def _update(self, old: Object, new: Object) -> None:
        old_meta, meta = old["metadata"], new["metadata"]
        if old_meta["resourceVersion"] == meta["resourceVersion"]:
            return
        if "deletionTimestamp" in meta:
            self._delete(new)
            return
        reference, before = get_controller_of(new), get_controller_of(old)
        if before is not None and (
            reference is None or reference["uid"] != before["uid"]
        ):
            former = self.owner_of(meta["namespace"], before)
            if former is not None:
                self._changed(meta_namespace_key(former), new)
        if reference is None:
            if before is not None or old_meta.get("labels") != meta.get("labels"):
                self._enqueue_selecting_owners(new)
            return
        owner = self.owner_of(meta["namespace"], reference)
        if owner is not None:
            self._changed(meta_namespace_key(owner), new)

    def _delete(self, pod: Object) -> None:
        reference = get_controller_of(pod)
        owner = (
            self.owner_of(pod["metadata"]["namespace"], reference)
            if reference is not None
            else None
        )
        if owner is None:
            return
        key = meta_namespace_key(owner)
        if self._expectations is not None:
            self._expectations.deletion_observed(key, meta_namespace_key(pod))
        self._changed(key, pod)

    def _enqueue_selecting_owners(self, pod: Object) -> None:
        labels = pod["metadata"].get("labels")
        if not labels or not self._adopts:
            return
        for owner in self._owners.indexer.list_namespace(pod["metadata"]["namespace"]):
            selector = self._selectors.of(owner)
            if not selector.empty and selector.matches(labels):
                self._changed(meta_namespace_key(owner), pod)
