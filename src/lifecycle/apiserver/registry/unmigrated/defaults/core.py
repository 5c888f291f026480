"""Defaults of the core group beside pods: services, volumes, namespaces, nodes, limits.

Upstream: `pkg/apis/core/v1/defaults.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.defaults.pods import (
    set_pod_template_defaults,
    set_volume_source_defaults,
)
from lifecycle.api.defaults.resource_lists import round_up_resource_list
from lifecycle.api.wire import Object


def set_persistent_volume_defaults(volume: Object) -> None:
    """Phase, reclaim policy, mode."""
    status = volume.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"
    spec = volume.setdefault("spec", {})
    if not spec.get("persistentVolumeReclaimPolicy"):
        spec["persistentVolumeReclaimPolicy"] = "Retain"
    if spec.get("volumeMode") is None:
        spec["volumeMode"] = "Filesystem"
    set_volume_source_defaults(spec)
    round_up_resource_list(spec.get("capacity"))


def set_node_defaults(node: Object) -> None:
    """Everything a node has is allocatable unless it says otherwise."""
    spec, status = node.setdefault("spec", {}), node.setdefault("status", {})
    if spec.get("podCIDR") and spec["podCIDR"] != next(
        iter(spec.get("podCIDRs") or ()), ""
    ):
        spec["podCIDRs"] = [
            spec["podCIDR"]
        ]  # who knows only the older field has the last word
    elif spec.get("podCIDRs"):
        spec["podCIDR"] = spec["podCIDRs"][0]
    if status.get("allocatable") is None and status.get("capacity") is not None:
        status["allocatable"] = dict(status["capacity"])
    round_up_resource_list(status.get("capacity"))
    round_up_resource_list(status.get("allocatable"))


def set_limit_range_defaults(limit_range: Object) -> None:
    """For containers: default limits from the maximum, default requests from default
    limits, then from the minimum.
    """
    for item in (limit_range.get("spec") or {}).get("limits") or ():
        for name in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"):
            round_up_resource_list(item.get(name))
        if item.get("type") != "Container":
            continue
        default = {**(item.get("max") or {}), **(item.get("default") or {})}
        request = {
            **(item.get("min") or {}),
            **default,
            **(item.get("defaultRequest") or {}),
        }
        if default:
            item["default"] = default
        if request:
            item["defaultRequest"] = request


def set_resource_quota_defaults(quota: Object) -> None:
    """Whole thousandths only."""
    round_up_resource_list((quota.get("spec") or {}).get("hard"))
    status = quota.get("status") or {}
    round_up_resource_list(status.get("hard"))
    round_up_resource_list(status.get("used"))


def set_replication_controller_defaults(controller: Object) -> None:
    """One replica; selector and labels from the template."""
    spec = controller.setdefault("spec", {})
    template = spec.get("template")
    if template is not None:
        labels = (template.get("metadata") or {}).get("labels")
        if labels:
            if not spec.get("selector"):
                spec["selector"] = dict(labels)
            meta = controller.setdefault("metadata", {})
            if not meta.get("labels"):
                meta["labels"] = dict(labels)
        set_pod_template_defaults(template)
    if spec.get("replicas") is None:
        spec["replicas"] = 1


def set_pod_template_object_defaults(holder: Object) -> None:
    """A stored PodTemplate."""
    set_pod_template_defaults(holder.setdefault("template", {}))
