"""ConfigMaps, Secrets and quotas: what is kept and how much there may be.

Upstream: `pkg/printers/internalversion/printers.go` (`printConfigMap`, `printSecret`,
`printResourceQuota`, `printPodDisruptionBudget`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.human_duration import age
from lifecycle.api.quantity import canonical_quantity
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)


def _print_config_map(obj: Object, now: float) -> Cells:
    return [
        obj["metadata"]["name"],
        len(obj.get("data") or ()) + len(obj.get("binaryData") or ()),
        age(obj, now),
    ]


def _print_secret(obj: Object, now: float) -> Cells:
    return [
        obj["metadata"]["name"],
        obj.get("type", ""),
        len(obj.get("data") or ()),
        age(obj, now),
    ]


def _print_resource_quota(obj: Object, now: float) -> Cells:
    """`used/hard` of every resource; those that begin with `limits.` have a column of
    their own.
    """
    status = obj.get("status") or {}
    used = status.get("used") or {}
    requests: list[str] = []
    limits: list[str] = []
    for resource, hard in sorted((status.get("hard") or {}).items()):
        text = (
            f"{resource}:"
            f" {canonical_quantity(used.get(resource, '0'))}/{canonical_quantity(hard)}"
        )
        (limits if resource.startswith("limits.") else requests).append(text)
    return [
        obj["metadata"]["name"],
        ", ".join(requests),
        ", ".join(limits),
        age(obj, now),
    ]


def _print_pod_disruption_budget(obj: Object, now: float) -> Cells:
    spec = obj.get("spec") or {}
    bounds = [spec.get(bound) for bound in ("minAvailable", "maxUnavailable")]
    return [
        obj["metadata"]["name"],
        *("N/A" if bound is None else str(bound) for bound in bounds),
        (obj.get("status") or {}).get("disruptionsAllowed", 0),
        age(obj, now),
    ]


PRINTERS = {
    "configmaps": Printer(
        (NAME, Column("Data", field("core/v1.ConfigMap", "data")), AGE),
        _print_config_map,
    ),
    "secrets": Printer(
        (
            NAME,
            Column("Type", field("core/v1.Secret", "type")),
            Column("Data", field("core/v1.Secret", "data")),
            AGE,
        ),
        _print_secret,
    ),
    "resourcequotas": Printer(
        (
            NAME,
            Column(
                "Request",
                "Request represents a minimum amount of cpu/memory that a container may"
                " consume.",
            ),
            Column(
                "Limit",
                "Limits control the maximum amount of cpu/memory that a container may"
                " use independent of contention on the node.",
            ),
            AGE,
        ),
        _print_resource_quota,
    ),
    "poddisruptionbudgets.policy": Printer(
        (
            NAME,
            Column(
                "Min Available", "The minimum number of pods that must be available."
            ),
            Column(
                "Max Unavailable", "The maximum number of pods that may be unavailable."
            ),
            Column(
                "Allowed Disruptions",
                "Calculated number of pods that may be disrupted at this time.",
                "integer",
            ),
            AGE,
        ),
        _print_pod_disruption_budget,
    ),
}
