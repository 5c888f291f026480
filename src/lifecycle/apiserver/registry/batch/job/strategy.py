"""Jobs: pods that end, until enough of them have succeeded.

Upstream: `pkg/apis/batch/v1/{defaults,conversion}.go`,
`pkg/registry/batch/job/strategy.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.defaults.pods import set_pod_template_defaults
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.batch.job.status import validate_status_update
from lifecycle.apiserver.registry.batch.job.table import PRINTER
from lifecycle.apiserver.registry.batch.job.validation import validate, validate_update
from lifecycle.apiserver.registry.core.pod.template import (
    drop_disabled_template_fields,
    pod_template_of,
    warnings_on_create,
    warnings_on_update,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.field_labels import NAME as METADATA_NAME
from lifecycle.apiserver.registry.rest.field_labels import (
    NAMESPACE,
    FieldLabels,
)
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.strategy import Strategy, UpdateStrategy

# --- defaults -------------------------------------------------------------------------


def set_defaults(job: Object) -> None:
    """One completion by one pod, six retries; labels from the template."""
    spec = job.setdefault("spec", {})
    set_job_spec_defaults(spec)
    _set_default_labels(job)
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = spec["parallelism"] = 1
    set_default(spec, "parallelism", 1)
    if spec.get("backoffLimit") is None:
        spec["backoffLimit"] = (
            6 if spec.get("backoffLimitPerIndex") is None else 2147483647
        )
    set_default(spec, "completionMode", "NonIndexed")
    set_default(spec, "suspend", False)
    set_default(spec, "manualSelector", False)
    set_default(
        spec,
        "podReplacementPolicy",
        "TerminatingOrFailed" if spec.get("podFailurePolicy") is None else "Failed",
    )


def set_job_spec_defaults(spec: Object) -> None:
    """What a Job's spec gets even inside a CronJob's template: the pod template's
    defaults, conditions of failure rules.
    """
    set_pod_template_defaults(spec.setdefault("template", {}))
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            if not pattern.get("status"):
                pattern["status"] = "True"


def _set_default_labels(job: Object) -> None:
    labels = ((job["spec"].get("template") or {}).get("metadata") or {}).get("labels")
    if labels and not (job.get("metadata") or {}).get("labels"):
        # the very same map, as in Go: what the template gets, the job gets
        job.setdefault("metadata", {})["labels"] = labels


# --- strategy -------------------------------------------------------------------------


def prepare_for_create(job: Object) -> None:
    """Of the template count only features that are on; the selector is generated."""
    drop_disabled_template_fields(pod_template_of(job))
    _generate_selector(job)


def prepare_for_status_update(new: Object, old: Object) -> None:
    """The status. A job that lost its labels has the template's again once it was read
    back from the store.
    """
    update.prepare_for_status_update(new, old)
    _set_default_labels(new)


def _generate_selector(job: Object) -> None:
    spec = job["spec"]
    if spec.get("manualSelector"):
        return
    meta = job["metadata"]
    uid, name = meta.get("uid", ""), meta.get("name", "")
    template = spec["template"] = dict(spec["template"])
    template_meta = template["metadata"] = dict(template.get("metadata") or {})
    template_labels = template_meta.get("labels")
    labels = template_meta["labels"] = dict(template_labels or {})
    for prefix in ("batch.kubernetes.io/", ""):
        labels.setdefault(prefix + "job-name", name)
        labels.setdefault(prefix + "controller-uid", uid)
    if (
        template_labels and meta.get("labels") is template_labels
    ):  # defaulted: one map, seen from two places
        meta["labels"] = dict(labels)
    selector = dict(spec.get("selector") or {})
    given = selector.get("matchLabels") or {}
    chosen = {"batch.kubernetes.io/controller-uid": uid, **given}
    selector["matchLabels"] = dict(sorted(chosen.items()))
    spec["selector"] = selector


def canonicalize(job: Object) -> None:
    """A Job without labels has those of its template."""
    if job["metadata"].get("labels"):
        return
    # what reading it back from storage would default
    template = (job["spec"].get("template") or {}).get("metadata") or {}
    if template.get("labels"):
        job["metadata"]["labels"] = dict(template["labels"])


def prepare_for_update(new: Object, old: Object) -> None:
    """The same; what was there before stays."""
    drop_disabled_template_fields(pod_template_of(new), pod_template_of(old))


# --- field labels ---------------------------------------------------------------------


def _selectable_fields(job: Object) -> dict[str, str]:
    return {"status.successful": str((job.get("status") or {}).get("succeeded", 0))}


def _label_not_supported(label: str) -> str:
    return f'field label "{label}" not supported for Job'


FIELD_LABELS = FieldLabels(
    (METADATA_NAME, NAMESPACE, "status.successful"),
    _selectable_fields,
    _label_not_supported,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    orphans_dependents=True,
    orphaning_warning=(
        "child pods are preserved by default when jobs are deleted; set"
        " propagationPolicy=Background to remove them or set propagationPolicy=Orphan"
        " to suppress this warning"
    ),
    generation=Generation.SPEC,
    prepare_for_create=prepare_for_create,
    validate=validate,
    warnings_on_create=warnings_on_create,
    canonicalize=canonicalize,
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    warnings_on_update=warnings_on_update,
    subresources={
        "status": UpdateStrategy(prepare_for_status_update, validate_status_update)
    },
    field_labels=FIELD_LABELS,
    printer=PRINTER,
)
