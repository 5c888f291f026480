"""Keeping the ownership graph up to date from the informers of everything that can be
deleted.

Each event costs a look-up by uid and, almost always, one comparison: owner references
hardly ever change. What an event may set in motion is put into one of two queues:
*attempt to delete* (its owners are gone, or it waits for its dependents) and *attempt
to orphan* (its owner is being deleted with the `orphan` finalizer).

Upstream: `pkg/controller/garbagecollector/graph_builder.go` (`GraphBuilder`,
`processGraphChanges`), v1.36. Left out: events about owner references into other
namespaces, alternate identities of virtual nodes.
"""

from __future__ import annotations

import asyncio

from lifecycle.api.custom_resources import served_resource
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.worker import LARGE, let_go
from lifecycle.api.resources import Resource, all_resources, resource, resource_for_kind
from lifecycle.client.event_correlator import LRU
from lifecycle.client.events import EventRecorder
from lifecycle.client.shared_informer import SharedInformer, SharedInformerFactory
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.garbagecollector.graph import (
    Node,
    ObjectReference,
    matches_coordinates,
)

FOREGROUND, ORPHAN_FINALIZER = "foregroundDeletion", "orphan"
IGNORED = frozenset({("", "events"), ("events.k8s.io", "events")})
ABSENT_OWNERS = 500


def deletable_resources() -> list[Resource]:
    """Every resource that can be deleted, listed and watched, in its preferred version.
    Upstream: `GetDeletableResources`.
    """
    deletable: dict[tuple[str, str], Resource] = {}
    for row in all_resources():
        if {"delete", "list", "watch"} <= set(row.verbs) and (
            row.group,
            row.plural,
        ) not in IGNORED:
            deletable.setdefault((row.group, row.plural), row)
    return list(deletable.values())


def _same_objects(one: Resource, other: Resource) -> bool:
    """Whether two rows are followed by one monitor: what a definition's objects are
    called besides makes no other objects of them.
    """
    return (one.path(), one.kind, one.namespaced) == (
        other.path(),
        other.kind,
        other.namespaced,
    )


class GraphBuilder:
    """The graph, and the queues of nodes to look at.

    `absent_owners` remembers owners known not to exist, so that a thousand dependents
    of one do not ask a thousand times. Without a `recorder` nobody is told of
    references to owners in other namespaces.
    """

    def __init__(
        self, informers: SharedInformerFactory, recorder: EventRecorder | None = None
    ) -> None:
        self._recorder = recorder
        self.nodes: dict[str, Node] = {}
        self.attempt_to_delete: RateLimitingQueue[Node] = RateLimitingQueue()
        self.attempt_to_orphan: RateLimitingQueue[Node] = RateLimitingQueue()
        self.absent_owners: LRU[tuple[str, ...], bool] = LRU(ABSENT_OWNERS)
        self.informers: list[SharedInformer] = []
        self._stopping: set[asyncio.Future[None]] = set()
        for row in deletable_resources():
            informer = informers.informer(row)
            informer.add_event_handler(
                add=self._added, update=self._updated, delete=self._deleted
            )
            self.informers.append(informer)
        self._client = informers.client
        self._monitors: dict[str, tuple[Resource, SharedInformer]] = {}
        definitions = informers.informer(
            resource("customresourcedefinitions.apiextensions.k8s.io")
        )
        definitions.add_event_handler(
            add=self._defined,
            update=lambda _, new: self._defined(new),
            delete=self._remove_monitor,
        )

    def _defined(self, definition: Object) -> None:
        """A definition is there: follow its objects from the moment it is established.
        Upstream: `syncMonitors`.
        """
        name, row = definition["metadata"]["name"], served_resource(definition)
        known = self._monitors.get(name)
        if row is None:
            return
        if known is not None and _same_objects(known[0], row):
            self._monitors[name] = row, known[1]
            return
        self._remove_monitor(definition)
        informer = SharedInformer(self._client, row)
        informer.add_event_handler(
            add=self._added, update=self._updated, delete=self._deleted
        )
        self._monitors[name] = row, informer
        informer.start()

    def _remove_monitor(self, definition: Object) -> None:
        known = self._monitors.pop(definition["metadata"]["name"], None)
        if known is not None:
            stopping = asyncio.ensure_future(known[1].stop())
            self._stopping.add(stopping)
            stopping.add_done_callback(self._stopping.discard)
            let_go(known[1].indexer.list(), LARGE + 1)  # nobody counts how large

    async def stop(self) -> None:
        """Stop following custom resources."""
        for _, informer in self._monitors.values():
            await informer.stop()
        self._monitors.clear()

    def mapping(self, api_version: str, kind: str) -> Resource | None:
        """The resource of a kind, a custom one included; None if there is none."""
        resource = resource_for_kind(api_version, kind)
        if resource is not None:
            return resource
        group_kind = (api_version.partition("/")[0], kind)
        return next(
            (
                row
                for row, _ in self._monitors.values()
                if (row.group, row.kind) == group_kind
            ),
            None,
        )

    def virtual_delete(self, identity: ObjectReference) -> None:
        """The server says that this object does not exist. Upstream:
        `enqueueVirtualDeleteEvent`.
        """
        self.absent_owners.put(identity, True)
        node = self.nodes.get(identity.uid)
        if node is None:
            return
        if node.identity == identity:
            self._remove(node)
            return
        for dependent in list(
            node.dependents
            # the uid exists under other coordinates: only those who named these are
            # concerned
        ):
            if any(matches_coordinates(ref, identity) for ref in dependent.owners):
                self.attempt_to_delete.add(dependent)

    # Events.

    def _added(self, obj: Object) -> None:
        self._changed(None, obj)

    def _updated(self, old: Object, new: Object) -> None:
        meta = new["metadata"]
        old_meta = old["metadata"]
        if meta["uid"] != old_meta["uid"]:  # replaced while no watch ran
            self._deleted(old)
            self._changed(None, new)
        elif "deletionTimestamp" in meta or meta.get("ownerReferences") != old_meta.get(
            "ownerReferences"
        ):
            self._changed(old, new)

    def _deleted(self, obj: Object) -> None:
        node = self.nodes.get(obj["metadata"]["uid"])
        if node is not None:
            self._remove(node)

    def _changed(self, old: Object | None, new: Object) -> None:
        meta = new["metadata"]
        owners = meta.get("ownerReferences") or []
        node = self.nodes.get(meta["uid"])
        if node is None:
            identity = ObjectReference(
                new["apiVersion"],
                new["kind"],
                meta.get("namespace", ""),
                meta["name"],
                meta["uid"],
            )
            node = Node(identity, owners)
            self.nodes[meta["uid"]] = node
            if owners:
                self._add_dependent_to_owners(node, owners)
        else:
            if node.virtual:
                self._observed(node, new)
            if owners != node.owners:
                self._change_owners(node, owners)
        if "deletionTimestamp" in meta:
            node.being_deleted = True
            self._process_transitions(old, new, node)

    def _observed(self, node: Node, obj: Object) -> None:
        """A virtual node turns out to exist; dependents that described it wrongly are
        looked at again.
        """
        meta = obj["metadata"]
        node.virtual = False
        node.identity = ObjectReference(
            obj["apiVersion"],
            obj["kind"],
            meta.get("namespace", ""),
            meta["name"],
            meta["uid"],
        )
        for dependent in node.dependents:
            uid = node.identity.uid
            references = [ref for ref in dependent.owners if ref["uid"] == uid]
            if self._owner_reference_mismatch(dependent, node, references):
                self._report_wrong_namespace(dependent, node)
                self.attempt_to_delete.add(dependent)

    def _change_owners(self, node: Node, owners: list[Object]) -> None:
        old = {ref["uid"]: ref for ref in node.owners}
        new = {ref["uid"]: ref for ref in owners}
        for uid, ref in old.items():
            owner = self.nodes.get(uid)
            if owner is None:
                continue
            still = new.get(uid)
            if ref.get("blockOwnerDeletion") and not (
                still and still.get("blockOwnerDeletion")
            ):
                self.attempt_to_delete.add(
                    owner
                )  # it may have waited for this one only
            if still is None:
                owner.dependents.pop(node, None)
        node.owners = owners
        self._add_dependent_to_owners(
            node, [ref for uid, ref in new.items() if uid not in old]
        )

    def _add_dependent_to_owners(self, node: Node, owners: list[Object]) -> None:
        references: dict[str, list[Object]] = {}  # an owner may be named twice
        for ref in node.owners:
            references.setdefault(ref["uid"], []).append(ref)
        for ref in owners:
            owner = self.nodes.get(ref["uid"])
            if owner is None:
                identity = ObjectReference(
                    ref["apiVersion"],
                    ref["kind"],
                    node.identity.namespace,
                    ref["name"],
                    ref["uid"],
                )
                owner = Node(identity, [], virtual=True)
                self.nodes[ref["uid"]] = owner
                owner.dependents[node] = None
                self.attempt_to_delete.add(owner)  # does it exist at all?
                continue
            owner.dependents[node] = None
            if self._owner_reference_mismatch(node, owner, references[ref["uid"]]):
                if not owner.virtual:
                    self._report_wrong_namespace(node, owner)
                self.attempt_to_delete.add(node)

    def _report_wrong_namespace(self, dependent: Node, owner: Node) -> None:
        """Say that the owner is elsewhere: for the dependent it does not exist.
        Upstream: `reportInvalidNamespaceOwnerRef`.
        """
        here, there = dependent.identity.namespace, owner.identity.namespace
        if self._recorder is None or not there or there == here:
            return
        for ref in dependent.owners:
            if ref["uid"] == owner.identity.uid:
                what = (
                    f"[{ref['apiVersion']}/{ref['kind']}, namespace: {here}, name:"
                    f" {ref['name']}, uid: {ref['uid']}]"
                )
                identity = dependent.identity
                meta = {"namespace": here, "name": identity.name, "uid": identity.uid}
                about = {
                    "kind": identity.kind,
                    "apiVersion": identity.api_version,
                    "metadata": meta,
                }
                message = f'ownerRef {what} does not exist in namespace "{here}"'
                self._recorder.event(
                    about, "Warning", "OwnerRefInvalidNamespace", message
                )

    @staticmethod
    def _owner_reference_mismatch(
        dependent: Node, owner: Node, references: list[Object]
    ) -> bool:
        """Whether one of a dependent's references to an owner does not describe the one
        that has the uid: wrong namespace, name or kind.
        """
        if (
            owner.identity.namespace
            and owner.identity.namespace != dependent.identity.namespace
        ):
            return True
        return not all(matches_coordinates(r, owner.identity) for r in references)

    def _process_transitions(self, old: Object | None, new: Object, node: Node) -> None:
        finalizers = new["metadata"].get("finalizers") or ()
        before = ()
        if old is not None and "deletionTimestamp" in old["metadata"]:
            before = old["metadata"].get("finalizers") or ()
        if ORPHAN_FINALIZER in finalizers and ORPHAN_FINALIZER not in before:
            self.attempt_to_orphan.add(node)
        elif FOREGROUND in finalizers and FOREGROUND not in before:
            node.deleting_dependents = True
            for dependent in node.dependents:
                self.attempt_to_delete.add(dependent)
            self.attempt_to_delete.add(node)

    def _remove(self, node: Node) -> None:
        self.nodes.pop(node.identity.uid, None)
        if node.dependents:
            self.absent_owners.put(node.identity, True)
            for dependent in node.dependents:
                self.attempt_to_delete.add(dependent)
        for ref in node.owners:
            owner = self.nodes.get(ref["uid"])
            if owner is not None:
                owner.dependents.pop(node, None)
                if owner.deleting_dependents:
                    self.attempt_to_delete.add(owner)
