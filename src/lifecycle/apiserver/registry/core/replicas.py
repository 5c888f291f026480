"""What ReplicationControllers and ReplicaSets, which succeeded them, have in common.

Upstream: `pkg/apis/core/validation/validation.go`
(`ValidateReplicationControllerStatus`), `pkg/apis/apps/validation/validation.go`
(`ValidateReplicaSetStatus`), `pkg/printers/internalversion/printers.go`
(`printReplicationController`, `printReplicaSet`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    CONTAINERS,
    NAME,
    Cells,
    Column,
    container_cells,
    field,
)
from lifecycle.apiserver.registry.rest.numbers import not_above, not_negative
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta_update,
)

_COUNTS = (
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "terminatingReplicas",
    "observedGeneration",
)


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
    """The counts must add up."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    status = new.get("status") or {}
    errors += not_negative(status, *_COUNTS, path="status")
    errors += not_above(
        status,
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        path="status",
        name="status.replicas",
    )
    return errors + not_above(
        status,
        "readyReplicas",
        "availableReplicas",
        path="status",
        name="readyReplicas",
    )


def replica_cells(obj: Object, now: float) -> Cells:
    """All cells but the last, the selector."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    return [
        obj["metadata"]["name"],
        spec.get("replicas", 0),
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        age(obj, now),
        *container_cells(spec.get("template")),
    ]


def replica_columns(kind: str) -> tuple[Column, ...]:
    """The columns; `kind` as in the published documentation, `apps/v1.ReplicaSet`."""
    return (
        NAME,
        Column("Desired", field(f"{kind}Spec", "replicas"), "integer"),
        Column("Current", field(f"{kind}Status", "replicas"), "integer"),
        Column("Ready", field(f"{kind}Status", "readyReplicas"), "integer"),
        AGE,
        *CONTAINERS,
        Column("Selector", field(f"{kind}Spec", "selector"), priority=1),
    )
