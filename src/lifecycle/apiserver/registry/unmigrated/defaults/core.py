"""Defaults of the core group beside pods: services, volumes, namespaces, nodes, limits.

Upstream: `pkg/apis/core/v1/defaults.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.defaults.pods import (
    set_pod_template_defaults,
)
from lifecycle.api.wire import Object


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
