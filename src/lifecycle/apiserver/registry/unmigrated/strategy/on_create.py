"""What single kinds get at creation, beyond a reset status: phases, finalizers,
selectors, merged data.

Upstream: `pkg/registry/batch/job/strategy.go` (`generateSelector`),
`apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.wire import Object


def _create_job(job: Object) -> None:
    spec = job["spec"]
    if spec.get("manualSelector"):
        return
    meta = job["metadata"]
    uid, name = meta.get("uid", ""), meta.get("name", "")
    template = spec["template"] = dict(spec["template"])
    template_meta = template["metadata"] = dict(template.get("metadata") or {})
    given = template_meta.get("labels")
    labels = template_meta["labels"] = dict(given or {})
    for prefix in ("batch.kubernetes.io/", ""):
        labels.setdefault(prefix + "job-name", name)
        labels.setdefault(prefix + "controller-uid", uid)
    if (
        given and meta.get("labels") is given
    ):  # defaulted: one map, seen from two places
        meta["labels"] = dict(labels)
    selector = dict(spec.get("selector") or {})
    selector["matchLabels"] = {
        "batch.kubernetes.io/controller-uid": uid,
        **(selector.get("matchLabels") or {}),
    }
    spec["selector"] = selector


def _create_custom_resource_definition(definition: Object) -> None:
    stored = [
        v["name"]
        for v in (definition.get("spec") or {}).get("versions") or ()
        if v.get("storage")
    ]
    definition["status"] = {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": stored[:1] or None,
    }


ON_CREATE: dict[str, Callable[[Object], None]] = {
    "Job": _create_job,
    "CustomResourceDefinition": _create_custom_resource_definition,
}
"""Called by `prepare_for_create` after the status was reset; each may replace top-level
parts.
"""
