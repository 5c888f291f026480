"""ConfigMaps, Secrets and quotas: what is kept and how much there may be.

Upstream: `pkg/printers/internalversion/printers.go` (`printConfigMap`, `printSecret`,
`printResourceQuota`, `printPodDisruptionBudget`), v1.36.
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
