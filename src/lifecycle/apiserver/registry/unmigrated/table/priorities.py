"""Who goes first, and who gets which device: priority classes, flow control, dynamic
resources.

Upstream: `pkg/printers/internalversion/printers.go` (`printPriorityClass`,
`printFlowSchema`, `printPriorityLevelConfiguration`, `printResourceClaim`,
`printResourceSlice`), v1.36.
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
    field,
)


def _print_priority_class(obj: Object, now: float) -> Cells:
    return [
        obj["metadata"]["name"],
        obj.get("value", 0),
        bool(obj.get("globalDefault")),
        age(obj, now),
        obj.get("preemptionPolicy") or "",
    ]


def _print_flow_schema(obj: Object, now: float) -> Cells:
    spec = obj.get("spec") or {}
    method = spec.get("distinguisherMethod")
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return [
        obj["metadata"]["name"],
        (spec.get("priorityLevelConfiguration") or {}).get("name", ""),
        spec.get("matchingPrecedence", 0),
        "<none>" if method is None else method.get("type", ""),
        age(obj, now),
        next(
            (c.get("status", "") for c in conditions if c.get("type") == "Dangling"),
            "?",
        ),
    ]


def _print_priority_level(obj: Object, now: float) -> Cells:
    spec = obj.get("spec") or {}
    limited = spec.get("limited")
    queuing = ((limited or {}).get("limitResponse") or {}).get("queuing")
    shares = "<none>" if limited is None else limited.get("nominalConcurrencyShares", 0)
    queues = (
        "<none>" if queuing is None else queuing.get(key, 0)
        for key in ("queues", "handSize", "queueLengthLimit")
    )
    return [
        obj["metadata"]["name"],
        spec.get("type", ""),
        shares,
        *queues,
        age(obj, now),
    ]


def _print_resource_claim(obj: Object, now: float) -> Cells:
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


def _print_resource_slice(obj: Object, now: float) -> Cells:
    spec = obj.get("spec") or {}
    pool = (spec.get("pool") or {}).get("name", "")
    return [
        obj["metadata"]["name"],
        spec.get("nodeName") or "",
        spec.get("driver", ""),
        pool,
        age(obj, now),
    ]


_NAME_AND_AGE = Printer(
    (NAME, AGE), lambda obj, now: [obj["metadata"]["name"], age(obj, now)]
)
_FLOW, _RESOURCE = "flowcontrol.apiserver.k8s.io", "resource.k8s.io"

PRINTERS = {
    "priorityclasses.scheduling.k8s.io": Printer(
        (
            NAME,
            Column("Value", field("scheduling/v1.PriorityClass", "value"), "integer"),
            Column(
                "Global-Default",
                field("scheduling/v1.PriorityClass", "globalDefault"),
                "boolean",
            ),
            AGE,
            Column(
                "PreemptionPolicy",
                field("scheduling/v1.PriorityClass", "preemptionPolicy"),
            ),
        ),
        _print_priority_class,
    ),
    f"flowschemas.{_FLOW}": Printer(
        (
            NAME,
            Column(
                "PriorityLevel",
                field("flowcontrol/v1.PriorityLevelConfigurationReference", "name"),
            ),
            Column(
                "MatchingPrecedence",
                field("flowcontrol/v1.FlowSchemaSpec", "matchingPrecedence"),
            ),
            Column(
                "DistinguisherMethod",
                field("flowcontrol/v1.FlowSchemaSpec", "distinguisherMethod"),
            ),
            AGE,
            Column(
                "MissingPL",
                "references a broken or non-existent PriorityLevelConfiguration",
            ),
        ),
        _print_flow_schema,
        order=lambda obj: (
            (obj.get("spec") or {}).get("matchingPrecedence", 0),
            obj["metadata"]["name"],
        ),
    ),
    f"prioritylevelconfigurations.{_FLOW}": Printer(
        (
            NAME,
            Column(
                "Type", field("flowcontrol/v1.PriorityLevelConfigurationSpec", "type")
            ),
            Column(
                "NominalConcurrencyShares",
                field(
                    "flowcontrol/v1.LimitedPriorityLevelConfiguration",
                    "nominalConcurrencyShares",
                ),
            ),
            Column("Queues", field("flowcontrol/v1.QueuingConfiguration", "queues")),
            Column(
                "HandSize", field("flowcontrol/v1.QueuingConfiguration", "handSize")
            ),
            Column(
                "QueueLengthLimit",
                field("flowcontrol/v1.QueuingConfiguration", "queueLengthLimit"),
            ),
            AGE,
        ),
        _print_priority_level,
    ),
    f"deviceclasses.{_RESOURCE}": _NAME_AND_AGE,
    f"resourceclaimtemplates.{_RESOURCE}": _NAME_AND_AGE,
    f"resourceclaims.{_RESOURCE}": Printer(
        (
            NAME,
            Column(
                "State",
                "A summary of the current state (allocated, pending, reserved, etc.).",
            ),
            AGE,
        ),
        _print_resource_claim,
    ),
    f"resourceslices.{_RESOURCE}": Printer(
        (
            NAME,
            Column("Node", field("resource/v1.ResourceSliceSpec", "nodeName")),
            Column("Driver", field("resource/v1.ResourceSliceSpec", "driver")),
            Column("Pool", field("resource/v1.ResourcePool", "name")),
            AGE,
        ),
        _print_resource_slice,
    ),
}
