"""The ownership graph: a node per object, an edge per owner reference.

A node may be *virtual*: somebody names it as an owner, but no informer has shown it
yet. Perhaps it is on its way, perhaps it never existed; only the server can tell.

Upstream: `pkg/controller/garbagecollector/graph.go` (`node`, `objectReference`), v1.36.
"""

from __future__ import annotations

from typing import NamedTuple

from lifecycle.api.http.wire import Object


class ObjectReference(NamedTuple):
    """What an object is, and in which of its lives. `namespace` is empty for
    cluster-scoped objects.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


class Node:
    """An object in the graph. Compared by identity of the Python object: one node per
    uid.
    """

    __slots__ = (
        "being_deleted",
        "deleting_dependents",
        "dependents",
        "identity",
        "owners",
        "virtual",
    )

    def __init__(
        self, identity: ObjectReference, owners: list[Object], *, virtual: bool = False
    ) -> None:
        self.identity = identity
        self.owners = owners
        self.dependents: dict[Node, None] = {}
        self.virtual = virtual
        self.being_deleted = False
        self.deleting_dependents = False

    def __str__(self) -> str:
        return f"{self.identity.kind} {self.identity.namespace}/{self.identity.name}"

    def blocking_dependents(self) -> list[Node]:
        """Dependents whose reference to this node says `blockOwnerDeletion`."""
        uid = self.identity.uid
        return [
            dependent
            for dependent in self.dependents
            if any(
                ref["uid"] == uid and ref.get("blockOwnerDeletion")
                for ref in dependent.owners
            )
        ]


def matches_coordinates(reference: Object, identity: ObjectReference) -> bool:
    """Whether a reference names this very object. Upstream:
    `ownerReferenceMatchesCoordinates`.
    """
    return (
        reference["uid"] == identity.uid
        and reference["name"] == identity.name
        and reference["kind"] == identity.kind
        and reference["apiVersion"] == identity.api_version
    )
