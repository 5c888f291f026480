"""The table of autoscalers: what is measured against what is aimed at.

Upstream: `pkg/printers/internalversion/printers.go` (`printHorizontalPodAutoscaler`,
`formatHPAMetrics`), v1.36. Left out: metrics that version 1 hides in annotations.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.quantity import canonical_quantity
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)

_SOURCES = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


_UNKNOWN = "<unknown>"


_MOST = 2


def print_horizontal_pod_autoscaler(obj: Object, now: float) -> Cells:
    """The cells of `kubectl get horizontalpodautoscalers`."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    return _row(obj, spec.get("metrics") or [], status.get("currentMetrics") or [], now)


def _row(
    obj: Object, metrics: list[Object], current: list[Object], now: float
) -> Cells:
    spec = obj.get("spec") or {}
    target, minimum = spec.get("scaleTargetRef") or {}, spec.get("minReplicas")
    return [
        obj["metadata"]["name"],
        f"{target.get('kind', '')}/{target.get('name', '')}",
        _format_metrics(metrics, current),
        "<unset>" if minimum is None else str(minimum),
        spec.get("maxReplicas", 0),
        (obj.get("status") or {}).get("currentReplicas", 0),
        age(obj, now),
    ]


def _format_metrics(specs: list[Object], statuses: list[Object]) -> str:
    if not specs:
        return "<none>"
    texts = [
        _format_metric(spec, statuses[i] if i < len(statuses) else {})
        for i, spec in enumerate(specs)
    ]
    text = ", ".join(texts[:_MOST])
    return f"{text} + {len(texts) - _MOST} more..." if len(texts) > _MOST else text


def _format_metric(spec: Object, status: Object) -> str:
    """`cpu: 40%/80%`, `3/10 (avg)`; a status of another type than the spec's counts as
    none.
    """
    source = _SOURCES.get(spec.get("type", ""))
    if source is None:
        return "<unknown type>"
    target = (spec.get(source) or {}).get("target") or {}
    measured = status.get(source)
    current = (measured or {}).get("current") or {}
    by_average = target.get("averageValue") is not None or source == "pods"
    key = "averageValue" if by_average else "value"
    if source in ("external", "object"):
        if by_average and current.get(key) is None:
            measured = None  # only here upstream asks whether the average is there
        text = f"{_quantity(current, key, measured)}/{_quantity(target, key, target)}"
        return f"{text} (avg)" if by_average else text
    if source == "pods":
        return f"{_quantity(current, key, measured)}/{_quantity(target, key, target)}"
    name = spec[source].get("name", "")
    if by_average:
        return (
            f"{name}:"
            f" {_quantity(current, key, measured)}/{_quantity(target, key, target)}"
        )
    return f"{name}: {_percent(current, _UNKNOWN)}/{_percent(target, '<auto>')}"


def _quantity(side: Object, key: str, measured: Object | None) -> str:
    """An amount; `<unknown>` if nothing was measured, Go's `<nil>` if something else
    was.
    """
    if measured is None:
        return _UNKNOWN
    value = side.get(key)
    return "<nil>" if value is None else canonical_quantity(value)


def _percent(side: Object, without: str) -> str:
    utilization = side.get("averageUtilization")
    return without if utilization is None else f"{utilization}%"


_SPEC, _STATUS = (
    "autoscaling/v2.HorizontalPodAutoscalerSpec",
    "autoscaling/v2.HorizontalPodAutoscalerStatus",
)


_SPEC, _STATUS = (
    "autoscaling/v2.HorizontalPodAutoscalerSpec",
    "autoscaling/v2.HorizontalPodAutoscalerStatus",
)


_COLUMNS = (
    NAME,
    Column("Reference", field(_SPEC, "scaleTargetRef")),
    Column("Targets", field(_SPEC, "metrics")),
    Column("MinPods", field(_SPEC, "minReplicas")),
    Column("MaxPods", field(_SPEC, "maxReplicas")),
    Column("Replicas", field(_STATUS, "currentReplicas")),
    AGE,
)


PRINTER = Printer(_COLUMNS, print_horizontal_pod_autoscaler)
