"""The order of an update: what a write may touch, and whether the result is sound.

`before_update`, `validate_update`, then `Strategy.canonicalize`. A subresource has
rules of its own; a write of the main resource leaves the status alone.

Upstream: `apiserver/pkg/registry/rest/update.go` (`BeforeUpdate`), v1.36.
"""

from __future__ import annotations

from collections.abc import Collection

from lifecycle.api.field_errors import FieldError
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.empties import Empty
from lifecycle.apiserver.registry.rest.object_meta import validate_object_meta_update
from lifecycle.apiserver.registry.rest.stored_empties import forget_empty_lists
from lifecycle.apiserver.registry.rest.strategy import Strategy, validate_metadata


def take_over(new: Object, old: Object, key: str) -> None:
    """`new` has at `key` what `old` has there, or nothing."""
    if key in old:
        new[key] = old[key]
    else:
        new.pop(key, None)


def before_update(
    strategy: Strategy,
    new: Object,
    old: Object,
    subresource: str = "",
    empties: Collection[Empty] = (),
) -> list[Empty]:
    """Keep what this write may not touch, and count generations. In place; the
    `empties`, and those that are forgotten here.
    """
    empties = [*empties, *forget_empty_lists(new)]
    _keep_metadata(new["metadata"], old["metadata"])
    own = strategy.subresources[subresource] if subresource else strategy
    if not subresource and "status" in strategy.subresources:
        take_over(new, old, "status")
    own.prepare_for_update(new, old)
    if own.generation.counts(new, old, empties):
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
    return empties


def _keep_metadata(metadata: Object, old: Object) -> None:
    take_over(metadata, old, "generation")
    if not metadata.get("uid") and old.get("uid"):
        metadata["uid"] = old["uid"]
    for key in ("creationTimestamp", "deletionTimestamp"):
        if old.get(key) is not None:
            metadata[key] = old[key]
    if metadata.get("deletionGracePeriodSeconds") is None:
        take_over(metadata, old, "deletionGracePeriodSeconds")


def prepare_for_status_update(new: Object, old: Object) -> None:
    """Of `new` count the status and the metadata; everything else is as in `old`."""
    for key in [key for key in new if key not in _OF_A_STATUS_WRITE] + ["spec"]:
        take_over(new, old, key)
    for key in old:
        if key not in new and key != "status":
            new[key] = old[key]


_OF_A_STATUS_WRITE = ("metadata", "status", "apiVersion", "kind")


def prepare_for_status_only_update(new: Object, old: Object) -> None:
    """Of `new` counts the status only. Upstream: `metav1.ResetObjectMetaForStatus`."""
    prepare_for_status_update(new, old)
    reset_object_meta_for_status(new, old)


def prepare_for_status_alone(new: Object, old: Object) -> None:
    """Of `new` counts the status only, and of its metadata nothing but who wrote.
    Upstream: `flowSchemaStatusStrategy.PrepareForUpdate`.
    """
    prepare_for_status_update(new, old)
    metadata = {**old["metadata"]}
    take_over(metadata, new["metadata"], "managedFields")
    new["metadata"] = metadata


def reset_object_meta_for_status(new: Object, old: Object) -> None:
    """Most of the metadata is the old one."""
    for key in _NOT_OF_A_STATUS:
        take_over(new["metadata"], old["metadata"], key)


_NOT_OF_A_STATUS = (
    "deletionTimestamp",
    "generation",
    "selfLink",
    "labels",
    "annotations",
    "finalizers",
    "ownerReferences",
)


def validate_update(
    strategy: Strategy, new: Object, old: Object, subresource: str = ""
) -> list[FieldError]:
    """Everything wrong with replacing `old` by `new`.

    The registry checks the metadata itself before it asks the kind's own rule, which
    mostly checks it again: upstream reports such errors as often as they are found, and
    so do we (the message shows them once).
    """
    own = strategy.subresources[subresource] if subresource else strategy
    errors = validate_metadata(new)
    errors += validate_object_meta_update(
        new["metadata"], old["metadata"], sound=not errors
    )
    return errors + own.validate_update(new, old)
