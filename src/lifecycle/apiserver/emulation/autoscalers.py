"""Autoscalers of `autoscaling/v2beta1`: each metric is a flat list of fields, and how
fast to go up and down is no field at all, but an annotation.

Upstream: `pkg/apis/autoscaling/v2beta1/conversion.go`, v1.20.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.apis.autoscaler_versions import (
    BEHAVIOR,
    new_metric,
    new_metric_status,
    old_metric,
    old_metric_status,
    parsed_behavior,
    written_behavior,
)


def _each(holder: Object, key: str, convert: Callable[[Object], Object]) -> Object:
    if not holder.get(key):
        return dict(holder)
    return {**holder, key: [convert(each) for each in holder[key]]}


def _converted(
    obj: Object, metric: Callable[[Object], Object], status: Callable[[Object], Object]
) -> Object:
    converted = {**obj, "spec": _each(obj.get("spec") or {}, "metrics", metric)}
    if obj.get("status"):
        converted["status"] = _each(obj["status"], "currentMetrics", status)
    return converted


def _with_annotations(obj: Object, annotations: Object) -> Object:
    metadata = {k: v for k, v in obj["metadata"].items() if k != "annotations"}
    if annotations:
        metadata["annotations"] = dict(sorted(annotations.items()))
    return {**obj, "metadata": metadata}


def autoscaler_to_served(obj: Object) -> Object:
    """In v2's form."""
    converted = _converted(obj, new_metric, new_metric_status)
    annotations = dict((obj.get("metadata") or {}).get("annotations") or {})
    if BEHAVIOR not in annotations:
        return converted
    behavior = parsed_behavior(annotations.pop(BEHAVIOR))
    if behavior:
        converted["spec"]["behavior"] = behavior
    return _with_annotations(converted, annotations)


def autoscaler_to_old(obj: Object) -> Object:
    """The other way."""
    converted = _converted(obj, old_metric, old_metric_status)
    behavior = converted["spec"].pop("behavior", None)
    if behavior is None:
        return converted
    annotations = dict(obj["metadata"].get("annotations") or {})
    annotations[BEHAVIOR] = written_behavior(behavior)
    return _with_annotations(converted, annotations)
