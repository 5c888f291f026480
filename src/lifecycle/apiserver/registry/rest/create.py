"""The order of a create: what happens to a new object before it is stored.

Uid, creation time and the generated name are filled in; then `before_create`,
`Strategy.validate`, `canonicalize`.

Upstream: `apiserver/pkg/registry/rest/create.go` (`BeforeCreate`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.schema.gotypes import is_struct, struct_for
from lifecycle.api.schema.struct_decoder import zero_value
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.stored_empties import forget_empty_lists
from lifecycle.apiserver.registry.rest.strategy import Strategy


def before_create(strategy: Strategy, obj: Object) -> None:
    """Drop what no client may set, begin to count generations, reset the status; then
    the kind's own rules. In place.
    """
    metadata = obj.get("metadata")
    if metadata is None:
        metadata = obj["metadata"] = {}
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
        metadata.pop(key, None)
    if strategy.generation is not Generation.UNCOUNTED:
        metadata["generation"] = 1
    elif not metadata.get("generation"):
        metadata.pop("generation", None)
    if "status" in strategy.subresources and not strategy.status_on_create:
        _reset_status(obj)
    strategy.prepare_for_create(obj)


def _reset_status(obj: Object) -> None:
    struct = struct_for(obj.get("apiVersion", ""), obj.get("kind", ""))
    status = f"{struct}Status"
    if struct and is_struct(status):
        obj["status"] = zero_value(status)
    else:
        obj.pop("status", None)


def canonicalize(strategy: Strategy, obj: Object) -> None:
    """Last touches after validation. In place."""
    forget_empty_lists(obj)
    strategy.canonicalize(obj)
