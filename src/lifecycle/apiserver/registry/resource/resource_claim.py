"""ResourceClaims: devices that a pod wants, and whether it has got them.

Upstream: `pkg/registry/resource/resourceclaim/strategy.go`,
`pkg/printers/internalversion/printers.go` (`printResourceClaim`), v1.36. Left out:
validation beyond the metadata.
"""

from __future__ import annotations

from lifecycle.api.human_duration import age
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
)
from lifecycle.apiserver.registry.resource.requests import set_claim_spec_defaults
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.strategy import (
    METADATA_AND_SPEC_FIELDS,
    Strategy,
    UpdateStrategy,
)


def set_defaults(claim: Object) -> None:
    """A ResourceClaim."""
    set_claim_spec_defaults(claim.get("spec") or {})


def print_resource_claim(obj: Object, now: float) -> Cells:
    """The cells of `kubectl get resourceclaims`."""
    status, deleted = (
        obj.get("status") or {},
        bool(obj["metadata"].get("deletionTimestamp")),
    )
    states = ["deleted"] if deleted else []
    if status.get("allocation") is not None:
        states += (
            ["allocated", "reserved"] if status.get("reservedFor") else ["allocated"]
        )
    elif not deleted:
        states.append("pending")
    return [obj["metadata"]["name"], ",".join(states), age(obj, now)]


PRINTER = Printer(
    (
        NAME,
        Column(
            "State",
            "A summary of the current state (allocated, pending, reserved, etc.).",
        ),
        AGE,
    ),
    print_resource_claim,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    returns_deleted_object=True,
    subresources={
        "status": UpdateStrategy(
            update.prepare_for_status_only_update, reset_fields=METADATA_AND_SPEC_FIELDS
        )
    },
    printer=PRINTER,
)
