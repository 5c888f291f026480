"""Who owns an object, and which of the owners runs it.

Any number of objects may own another; at most one of them is its *controller*, the one
that made it and keeps it going. Garbage collection follows all references, adoption
only the controller's.

Upstream: `apimachinery/pkg/apis/meta/v1/controller_ref.go` (`GetControllerOf`,
`NewControllerRef`, `IsControlledBy`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object

CONTROLLER_UID_INDEX = "controllerUID"
ORPHAN = "orphan:"


def get_controller_of(obj: Object) -> Object | None:
    """The owner reference marked `controller`, if there is one."""
    references = obj["metadata"].get("ownerReferences")
    if references:
        for reference in references:
            if reference.get("controller"):
                controller_ref: Object = reference
                return controller_ref
    return None


def is_controlled_by(obj: Object, owner: Object) -> bool:
    """Whether `owner` is the controller of `obj`, by uid."""
    reference = get_controller_of(obj)
    return reference is not None and bool(reference["uid"] == owner["metadata"]["uid"])


def new_controller_ref(owner: Object) -> Object:
    """A reference that says: `owner` made this, runs it, and must outlive it in a
    foreground deletion.
    """
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def index_by_controller_uid(obj: Object) -> tuple[str, ...]:
    """Index function: the controller's uid, or `orphan:` and the namespace for objects
    without one.

    Upstream: `pkg/controller/controller_utils.go` (`AddPodControllerIndexer`).
    """
    reference = get_controller_of(obj)
    if reference is None:
        return (ORPHAN + obj["metadata"].get("namespace", ""),)
    return (reference["uid"],)
