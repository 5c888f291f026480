"""The garbage collector: an object whose owners are all gone goes too.

What happens to dependents is the choice of who deletes the owner:

* *Background* (the default): the owner goes at once, and the collector, seeing
  dependents without an owner, deletes them afterwards;
* *Foreground*: the owner stays, marked with the finalizer `foregroundDeletion`, until
  every dependent that says `blockOwnerDeletion` is gone;
* *Orphan*: the owner stays, marked with the finalizer `orphan`, until the reference to
  it has been taken out of every dependent.

The graph says only where to look. Before anything is deleted, the server is asked for
the object and each of its owners as they are now, and the delete carries uid and
resourceVersion as preconditions: the collector never deletes on hearsay.

Upstream: `pkg/controller/garbagecollector/garbagecollector.go` (`attemptToDeleteItem`,
`orphanDependents`, `processDeletingDependentsItem`), `operations.go`, `patch.go`,
v1.36.
"""

from __future__ import annotations

import asyncio

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.names import NameSource
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.client.events import EventRecorder
from lifecycle.client.keyed_worker import RetryError, run_workers
from lifecycle.client.rest import (
    MERGE_PATCH,
    REQUEST_ERRORS,
    STRATEGIC_MERGE_PATCH,
    Client,
)
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.controllers.garbagecollector.graph import Node, ObjectReference
from lifecycle.controllers.garbagecollector.graph_builder import (
    FOREGROUND,
    ORPHAN_FINALIZER,
    GraphBuilder,
)

WORKERS = 20
INITIAL_SYNC_TIMEOUT = 30.0


class NamespacedOwnerOfClusterScopedObject(Exception):
    """A reference that can never be followed. Upstream:
    `namespacedOwnerOfClusterScopedObjectErr`.
    """


class GarbageCollector:
    """Deletes what nothing owns any more."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._recorder = EventRecorder(
            client, "garbage-collector-controller", clock=clock
        )
        self.graph = GraphBuilder(informers, self._recorder)

    async def run(self) -> None:
        """Work until cancelled. Starts after half a minute even if some resource cannot
        be listed.
        """
        syncs = [
            asyncio.ensure_future(informer.wait_for_sync())
            for informer in self.graph.informers
        ]
        try:
            await asyncio.wait(syncs, timeout=INITIAL_SYNC_TIMEOUT)
        finally:
            for sync in syncs:
                sync.cancel()
        name = "garbage-collector"
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(
                    run_workers(
                        self.graph.attempt_to_delete,
                        self._attempt_to_delete,
                        workers=WORKERS,
                        name=name,
                    )
                )
                group.create_task(
                    run_workers(
                        self.graph.attempt_to_orphan,
                        self._attempt_to_orphan,
                        workers=WORKERS,
                        name=name,
                    )
                )
        finally:
            await self.graph.stop()
            await self._recorder.stop()

    # Deleting.

    async def _attempt_to_delete(self, node: Node) -> None:
        in_graph = self.graph.nodes.get(node.identity.uid)
        if in_graph is not node:
            return
        if node.being_deleted and not node.deleting_dependents:
            return
        latest = await self._get(node.identity)
        if latest is None:
            self.graph.virtual_delete(node.identity)
            return
        if node.deleting_dependents:
            await self._process_deleting_dependents(node)
            return
        if node.virtual:
            raise RetryError(f"{node} has not been seen by an informer yet")
        if "deletionTimestamp" in latest["metadata"]:
            # the informer will say so in a moment (ours: upstream would ask for the
            # deletion once more)
            return
        owners = latest["metadata"].get("ownerReferences") or []
        if owners:
            await self._attempt_to_delete_item(node, latest, owners)

    async def _attempt_to_delete_item(
        self, node: Node, latest: Object, owners: list[Object]
    ) -> None:
        """What the owners' states mean for the object. Upstream: the second half of
        `attemptToDeleteItem`.
        """
        try:
            solid, dangling, waiting = await self._classify(node, owners)
        except NamespacedOwnerOfClusterScopedObject:
            return  # asking again will not help: it stays
        if solid:
            uids = [ref["uid"] for ref in (*dangling, *waiting)]
            if uids:
                await self._delete_owner_references(node, uids)
            return
        if waiting and node.dependents:
            # Its owner waits for it, and it has dependents itself: they go first. Were
            # they waiting for one another in a circle, nobody would ever go; so if one
            # of its dependents waits already, its own references no longer block.
            if any(dependent.deleting_dependents for dependent in node.dependents):
                await self._unblock_owner_references(node, owners)
            await self._delete(node.identity, latest, "Foreground")
            return
        finalizers = latest["metadata"].get("finalizers") or ()
        policy = (
            "Orphan"
            if ORPHAN_FINALIZER in finalizers
            else "Foreground"
            if FOREGROUND in finalizers
            else "Background"
        )
        await self._delete(node.identity, latest, policy)

    async def _classify(
        self, node: Node, owners: list[Object]
    ) -> tuple[list[Object], list[Object], list[Object]]:
        """References by the state of the owner: there; gone; on its way out in the
        foreground, its dependents first.
        """
        solid: list[Object] = []
        dangling: list[Object] = []
        waiting: list[Object] = []
        for ref in owners:
            owner = await self._get_owner(node, ref)
            if owner is None:
                dangling.append(ref)
            elif "deletionTimestamp" in owner["metadata"] and FOREGROUND in (
                owner["metadata"].get("finalizers") or ()
            ):
                waiting.append(ref)
            else:
                solid.append(ref)
        return solid, dangling, waiting

    async def _get_owner(self, node: Node, ref: Object) -> Object | None:
        """The owner as it is now; None if there is none of that uid. Upstream:
        `isDangling`.
        """
        row = _mapping(self.graph, ref["apiVersion"], ref["kind"])
        if row.namespaced and not node.identity.namespace:
            raise NamespacedOwnerOfClusterScopedObject
        namespace = node.identity.namespace if row.namespaced else ""
        identity = ObjectReference(
            ref["apiVersion"], ref["kind"], namespace, ref["name"], ref["uid"]
        )
        if self.graph.absent_owners.get(identity):
            return None
        owner = await self._get(identity)
        if owner is None:
            self.graph.absent_owners.put(identity, True)
        return owner

    async def _process_deleting_dependents(self, node: Node) -> None:
        """Foreground: when nothing blocks any more, the owner may go."""
        blocking = node.blocking_dependents()
        if not blocking:
            await self._remove_finalizer(node, FOREGROUND)
            return
        for dependent in blocking:
            if not dependent.deleting_dependents:
                self.graph.attempt_to_delete.add(dependent)

    # Orphaning.

    async def _attempt_to_orphan(self, owner: Node) -> None:
        dependents, pauses = iter(list(owner.dependents)), Pauses()
        errors: list[Exception] = []

        async def let_go() -> None:
            for dependent in dependents:
                await pauses.pause()
                try:
                    await self._delete_owner_references(dependent, [owner.identity.uid])
                except (*REQUEST_ERRORS, RetryError) as error:
                    # those behind it shall not wait for what may never be possible
                    if not (isinstance(error, StatusError) and error.code == 404):
                        errors.append(error)

        # some at a time: without a network between, thousands that are begun at once
        # are done at once, and nobody has a turn before the last of them
        async with asyncio.TaskGroup() as group:
            for _ in range(WORKERS):
                group.create_task(let_go())
        if errors:
            raise errors[0]
        await self._remove_finalizer(owner, ORPHAN_FINALIZER)

    # Requests.

    async def _get(self, identity: ObjectReference) -> Object | None:
        try:
            obj = await self._client.get(
                _mapping(self.graph, identity.api_version, identity.kind),
                identity.name,
                identity.namespace,
            )
        except StatusError as error:
            if error.code == 404:
                return None
            raise
        return obj if obj["metadata"]["uid"] == identity.uid else None

    async def _delete(
        self, identity: ObjectReference, latest: Object, policy: str
    ) -> None:
        await self._client.delete(
            _mapping(self.graph, identity.api_version, identity.kind),
            identity.name,
            identity.namespace,
            uid=identity.uid,
            resource_version=latest["metadata"]["resourceVersion"],
            propagation=policy,
        )

    async def _patch(
        self, node: Node, strategic: Object, owners_left: list[Object]
    ) -> None:
        """Strategic merge where the type has one, else the whole list as a merge
        patch.
        """
        identity = node.identity
        row = _mapping(self.graph, identity.api_version, identity.kind)
        try:
            await self._client.patch(
                row,
                identity.name,
                identity.namespace,
                strategic,
                patch_type=STRATEGIC_MERGE_PATCH,
            )
        except StatusError as error:
            if error.code != 415:
                raise
            merge = {"metadata": {"ownerReferences": owners_left, "uid": identity.uid}}
            await self._client.patch(
                row, identity.name, identity.namespace, merge, patch_type=MERGE_PATCH
            )

    async def _delete_owner_references(self, node: Node, uids: list[str]) -> None:
        references = [{"$patch": "delete", "uid": uid} for uid in uids]
        left = [ref for ref in node.owners if ref["uid"] not in uids]
        await self._patch(
            node,
            {"metadata": {"ownerReferences": references, "uid": node.identity.uid}},
            left,
        )

    async def _unblock_owner_references(self, node: Node, owners: list[Object]) -> None:
        unblocked = [{**ref, "blockOwnerDeletion": False} for ref in owners]
        blocking = [
            ref for ref, was in zip(unblocked, owners) if was.get("blockOwnerDeletion")
        ]
        await self._patch(
            node,
            {"metadata": {"ownerReferences": blocking, "uid": node.identity.uid}},
            unblocked,
        )

    async def _remove_finalizer(self, node: Node, finalizer: str) -> None:
        """Take a finalizer off, if it is still there. A lost race is tried again
        through the queue.
        """
        latest = await self._get(node.identity)
        if latest is None:
            return
        meta = latest["metadata"]
        finalizers = meta.get("finalizers") or []
        if finalizer not in finalizers:
            return
        left = [f for f in finalizers if f != finalizer]
        patch = {
            "metadata": {
                "resourceVersion": meta["resourceVersion"],
                "finalizers": left or None,
            }
        }
        row = _mapping(self.graph, node.identity.api_version, node.identity.kind)
        await self._client.patch(
            row,
            node.identity.name,
            node.identity.namespace,
            patch,
            patch_type=MERGE_PATCH,
        )


def _mapping(graph: GraphBuilder, api_version: str, kind: str) -> Resource:
    row = graph.mapping(api_version, kind)
    if row is None:
        raise RetryError(
            f"unable to get REST mapping for {api_version}/{kind}: no matches for kind"
            f' "{kind}"'
        )
    return row
