"""Autoscalers have two faces: `autoscaling/v1` and `autoscaling/v2`. They are one
object under one key, stored as v2.

The old version knows one metric, the CPU's utilization. Whatever else the newer one
says travels through it in annotations, as JSON: who reads an autoscaler by v1 and
writes it back loses nothing.

Upstream: `pkg/apis/autoscaling/v1/conversion.go`,
`pkg/apis/autoscaling/{annotations,helpers}.go`, v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.schema.struct_decoder import normal_form

AUTOSCALING_V1, AUTOSCALING_V2 = "autoscaling/v1", "autoscaling/v2"
KIND = "HorizontalPodAutoscaler"

_PREFIX = "autoscaling.alpha.kubernetes.io/"
METRICS, CURRENT_METRICS = f"{_PREFIX}metrics", f"{_PREFIX}current-metrics"
CONDITIONS, BEHAVIOR = f"{_PREFIX}conditions", f"{_PREFIX}behavior"
_ROUND_TRIP = frozenset({METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR})

_SOURCES = ("object", "pods", "resource", "containerResource", "external")
DEFAULT_CPU_UTILIZATION = 80


def to_v1(autoscaler: Object) -> Object:
    """A v2 autoscaler as v1 shows it."""
    if autoscaler.get("apiVersion") != AUTOSCALING_V2:
        return autoscaler
    spec, status = autoscaler.get("spec") or {}, autoscaler.get("status") or {}
    metrics, current = spec.get("metrics") or [], status.get("currentMetrics") or []
    v1_spec: Object = {
        key: spec[key]
        for key in ("scaleTargetRef", "minReplicas", "maxReplicas")
        if key in spec
    }
    reported = {
        key: status[key]
        for key in (
            "observedGeneration",
            "lastScaleTime",
            "currentReplicas",
            "desiredReplicas",
        )
        if key in status
    }
    utilization = next(
        (
            m["resource"]["target"]["averageUtilization"]
            for m in metrics
            if _is_cpu(m, "target")
        ),
        None,
    )
    if utilization is not None:
        v1_spec["targetCPUUtilizationPercentage"] = utilization
    measured = next(
        (
            m["resource"]["current"]["averageUtilization"]
            for m in current
            if _is_cpu(m, "current")
        ),
        None,
    )
    if measured is not None:
        reported["currentCPUUtilizationPercentage"] = measured
    annotations = _without_round_trip(autoscaler["metadata"].get("annotations"))
    others = [old_metric(metric) for metric in metrics if not _is_cpu(metric, "target")]
    if others:
        annotations[METRICS] = _json(others)
    if current:
        annotations[CURRENT_METRICS] = _json(
            [old_metric_status(one) for one in current]
        )
    if spec.get("behavior") is not None:
        annotations[BEHAVIOR] = written_behavior(spec["behavior"])
    if status.get("conditions"):
        annotations[CONDITIONS] = _json(
            [
                normal_form("autoscaling/v1.HorizontalPodAutoscalerCondition", one)
                for one in status["conditions"]
            ]
        )
    return _assembled(
        AUTOSCALING_V1, autoscaler["metadata"], annotations, v1_spec, reported
    )


def to_v2(autoscaler: Object) -> Object:
    """A v1 autoscaler with what its annotations say. Annotations that cannot be read
    are dropped without a word.
    """
    if autoscaler.get("apiVersion") != AUTOSCALING_V1:
        return autoscaler
    spec, status = (
        dict(autoscaler.get("spec") or {}),
        dict(autoscaler.get("status") or {}),
    )
    annotations = autoscaler["metadata"].get("annotations") or {}
    metrics: list[Object] = []
    utilization, measured = (
        spec.pop("targetCPUUtilizationPercentage", None),
        status.pop("currentCPUUtilizationPercentage", None),
    )
    if utilization is not None:
        metrics = [_cpu_metric(utilization)]
    metrics = [
        new_metric(one)
        for one in _parsed(annotations, METRICS, "autoscaling/v1.MetricSpec")
    ] + metrics
    spec["metrics"] = metrics or [_cpu_metric(DEFAULT_CPU_UTILIZATION)]
    behavior = parsed_behavior(annotations.get(BEHAVIOR))
    if behavior:
        spec["behavior"] = behavior
    current = [
        new_metric_status(one)
        for one in _parsed(annotations, CURRENT_METRICS, "autoscaling/v1.MetricStatus")
    ]
    if current:
        status["currentMetrics"] = current
    elif measured is not None:
        status["currentMetrics"] = [
            {
                "type": "Resource",
                "resource": {
                    "name": "cpu",
                    "current": {"averageUtilization": measured},
                },
            }
        ]
    conditions = _parsed(
        annotations, CONDITIONS, "autoscaling/v1.HorizontalPodAutoscalerCondition"
    )
    if conditions:
        status["conditions"] = conditions
    return _assembled(
        AUTOSCALING_V2,
        autoscaler["metadata"],
        _without_round_trip(annotations),
        spec,
        status,
    )


def _assembled(
    version: str, metadata: Object, annotations: Object, spec: Object, status: Object
) -> Object:
    metadata = {**metadata, "annotations": dict(sorted(annotations.items()))}
    if not annotations:
        del metadata["annotations"]
    return {
        "kind": KIND,
        "apiVersion": version,
        "metadata": metadata,
        "spec": normal_form(f"{version}.HorizontalPodAutoscalerSpec", spec),
        "status": normal_form(f"{version}.HorizontalPodAutoscalerStatus", status),
    }


def _without_round_trip(annotations: Object | None) -> Object:
    return {
        key: value
        for key, value in (annotations or {}).items()
        if key not in _ROUND_TRIP
    }


def _is_cpu(metric: Object, field: str) -> bool:
    """Is this the metric that v1 has a field for?"""
    source = metric.get("resource")
    return (
        source is not None
        and source.get("name") == "cpu"
        and source[field].get("averageUtilization") is not None
    )


def _cpu_metric(utilization: int) -> Object:
    target = {"type": "Utilization", "averageUtilization": utilization}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


# --- annotations ----------------------------------------------------------------------


def _json(value: Any) -> str:
    text = fast_json.dumps(value).decode()
    for char in "&<>":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _parsed(annotations: Object, name: str, struct: str) -> list[Object]:
    try:
        items = fast_json.loads(annotations[name]) if name in annotations else []
        return [normal_form(struct, item) for item in items or []]
    except (ValueError, TypeError):
        return []


def written_behavior(behavior: Object) -> str:
    """`spec.behavior` as the annotation of a version that has no field for it."""
    internal = internal_value(
        "autoscaling/v2.HorizontalPodAutoscalerBehavior", behavior
    )
    return _json(internal)


def parsed_behavior(text: str | None) -> Object | None:
    """The behaviour is kept under the field names of the internal type; Go reads names
    in any case.
    """
    try:
        value = _lower(fast_json.loads(text)) if text is not None else None
        return (
            normal_form("autoscaling/v2.HorizontalPodAutoscalerBehavior", value)
            if value
            else None
        )
    except (ValueError, TypeError):
        return None


def _lower(value: Any) -> Any:
    if isinstance(value, list):
        return [_lower(item) for item in value]
    if isinstance(value, dict):
        return {key[:1].lower() + key[1:]: _lower(item) for key, item in value.items()}
    return value


# --- metrics --------------------------------------------------------------------------


def _without_nil(value: Object) -> Object:
    return {key: item for key, item in value.items() if item is not None}


def _old_source(source: Object, kind: str, values: Object, prefix: str) -> Object:
    """A metric in v1's flat form. `prefix` is `target` or `current`, the first half of
    the value fields' names.
    """
    metric = source.get("metric") or {}
    average, plain = values.get("averageValue"), values.get("value")
    if kind in ("resource", "containerResource"):
        utilization = values.get("averageUtilization")
        flat: Object = {
            "name": source.get("name"),
            "container": source.get("container"),
        }
        flat |= {
            f"{prefix}AverageUtilization": utilization,
            f"{prefix}AverageValue": average,
        }
    elif kind == "object":
        flat = {
            "target": source.get("describedObject"),
            "metricName": metric.get("name"),
            f"{prefix}Value": plain,
        }
        flat |= {"selector": metric.get("selector"), "averageValue": average}
    elif kind == "pods":
        flat = {
            "metricName": metric.get("name"),
            f"{prefix}AverageValue": average,
            "selector": metric.get("selector"),
        }
    else:
        flat = {
            "metricName": metric.get("name"),
            "metricSelector": metric.get("selector"),
        }
        flat |= {f"{prefix}Value": plain, f"{prefix}AverageValue": average}
    return _without_nil(flat)


def old_metric(metric: Object) -> Object:
    """A v2 metric in the flat form of v1's annotations, and of `v2beta1`."""
    old: Object = {"type": metric.get("type", "")}
    for kind in _SOURCES:
        if metric.get(kind) is not None:
            old[kind] = _old_source(
                metric[kind], kind, metric[kind].get("target") or {}, "target"
            )
    return normal_form("autoscaling/v1.MetricSpec", old)


def old_metric_status(status: Object) -> Object:
    """The same of what was measured."""
    old: Object = {"type": status.get("type", "")}
    for kind in _SOURCES:
        if status.get(kind) is not None:
            old[kind] = _old_source(
                status[kind], kind, status[kind].get("current") or {}, "current"
            )
    return normal_form("autoscaling/v1.MetricStatus", old)


def _new_source(flat: Object, kind: str, prefix: str) -> tuple[Object, Object]:
    """A flat v1 metric as v2's source, and its values."""
    average = flat.get(f"{prefix}AverageValue")
    if kind in ("resource", "containerResource"):
        source = {"name": flat.get("name"), "container": flat.get("container")}
        return _without_nil(source), _without_nil(
            {
                "averageUtilization": flat.get(f"{prefix}AverageUtilization"),
                "averageValue": average,
            }
        )
    selector = flat.get("metricSelector" if kind == "external" else "selector")
    source = {
        "metric": _without_nil({"name": flat.get("metricName"), "selector": selector})
    }
    if kind == "object":
        source["describedObject"] = flat.get("target") or {}
        average = flat.get("averageValue")
    values = _without_nil(
        {
            "value": flat.get(f"{prefix}Value") if kind != "pods" else None,
            "averageValue": average,
        }
    )
    return source, values


def new_metric(metric: Object) -> Object:
    """A flat metric as v2 says it."""
    new: Object = {"type": metric.get("type", "")}
    for kind in _SOURCES:
        if metric.get(kind) is None:
            continue
        source, values = _new_source(metric[kind], kind, "target")
        if kind in ("resource", "containerResource"):
            values["type"] = (
                "Utilization" if "averageUtilization" in values else "AverageValue"
            )
        elif kind == "object":
            values["type"] = "AverageValue" if "averageValue" in values else "Value"
        elif kind == "external":
            values["type"] = "Value" if "value" in values else "AverageValue"
        else:
            values["type"] = "AverageValue"
        new[kind] = {**source, "target": values}
    return normal_form("autoscaling/v2.MetricSpec", new)


def new_metric_status(status: Object) -> Object:
    """The same of what was measured."""
    new: Object = {"type": status.get("type", "")}
    for kind in _SOURCES:
        if status.get(kind) is not None:
            source, values = _new_source(status[kind], kind, "current")
            new[kind] = {**source, "current": values}
    return normal_form("autoscaling/v2.MetricStatus", new)
