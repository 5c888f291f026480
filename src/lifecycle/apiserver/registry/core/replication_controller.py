"""ReplicationControllers: the first controllers of pods, before ReplicaSets. Their
selector is a plain map of labels.

Upstream: `pkg/apis/core/v1/defaults.go` (`SetDefaults_ReplicationController`),
`pkg/registry/core/replicationcontroller/strategy.go`,
`pkg/apis/core/validation/validation.go` (`ValidateReplicationController` …),
`pkg/printers/internalversion/printers.go` (`printReplicationController`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.defaults.pods import set_pod_template_defaults
from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.http.wire import Object
from lifecycle.api.labels import format_label_selector
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.pod.spec import validate_pod_template_spec
from lifecycle.apiserver.registry.core.pod.template import (
    MISMATCH,
    drop_disabled_template_fields,
    pod_template_of,
    sorted_map,
    template_labels,
    validate_long_running,
    warnings_on_create,
)
from lifecycle.apiserver.registry.core.replicas import (
    replica_cells,
    replica_columns,
    validate_status_update,
)
from lifecycle.apiserver.registry.printers.printer import Cells, Printer, format_labels
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.field_labels import (
    NAME,
    NAMESPACE,
    FieldLabels,
    field_label_not_supported,
)
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.numbers import not_negative
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy, UpdateStrategy

# --- defaults -------------------------------------------------------------------------


def set_defaults(controller: Object) -> None:
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


# --- strategy -------------------------------------------------------------------------


def prepare_for_create(controller: Object) -> None:
    """Of a template count only features that are on."""
    drop_disabled_template_fields(pod_template_of(controller))


def prepare_for_update(new: Object, old: Object) -> None:
    """The same; what was there before stays."""
    drop_disabled_template_fields(pod_template_of(new), pod_template_of(old))


def prepare_for_status_update(new: Object, old: Object) -> None:
    """The status. Labels that were left out are the template's again once it was read
    back from the store.
    """
    update.prepare_for_status_update(new, old)
    labels = ((pod_template_of(new) or {}).get("metadata") or {}).get("labels")
    if labels and not new["metadata"].get("labels"):
        new["metadata"]["labels"] = dict(labels)


# --- validation -----------------------------------------------------------------------


def validate(controller: Object) -> list[FieldError]:
    """A new ReplicationController."""
    errors = validate_core_object_meta(
        controller.get("metadata") or {},
        True,
        content.name_is_dns_subdomain,
        generated=True,
    )
    return errors + _validate_spec(controller.get("spec") or {})


def _validate_spec(spec: Object) -> list[FieldError]:
    errors = not_negative(spec, "minReadySeconds", path="spec")
    selector, template = spec.get("selector") or {}, spec.get("template")
    if not selector:
        errors.append(required("spec.selector"))
    errors += not_negative(spec, "replicas", path="spec")
    if template is None:
        return [*errors, required("spec.template")]
    labels = template_labels(spec)
    if selector and any(
        (labels or {}).get(key) != value for key, value in selector.items()
    ):
        errors.append(
            invalid("spec.template.metadata.labels", sorted_map(labels), MISMATCH)
        )
    errors += validate_pod_template_spec(template, "spec.template")
    return errors + validate_long_running(
        template, "spec.template", "ReplicationController"
    )


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed ReplicationController: selector and template may change."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    return errors + _validate_spec(new.get("spec") or {})


# --- field labels ---------------------------------------------------------------------


def _selectable_fields(controller: Object) -> dict[str, str]:
    return {"status.replicas": str((controller.get("status") or {}).get("replicas", 0))}


FIELD_LABELS = FieldLabels(
    (NAME, NAMESPACE, "status.replicas"), _selectable_fields, field_label_not_supported
)

# --- table ----------------------------------------------------------------------------


def print_replication_controller(controller: Object, now: float) -> Cells:
    """The cells of `kubectl get replicationcontrollers`."""
    selector = (controller.get("spec") or {}).get("selector")
    return [*replica_cells(controller, now), format_labels(selector)]


PRINTER = Printer(
    replica_columns("core/v1.ReplicationController"), print_replication_controller
)

# --- scale ----------------------------------------------------------------------------


def format_selector(selector: Object | None) -> str:
    """A map of labels as a selector's text."""
    return format_label_selector({"matchLabels": selector or {}})


STRATEGY = Strategy(
    set_defaults=set_defaults,
    orphans_dependents=True,
    generation=Generation.SPEC,
    prepare_for_create=prepare_for_create,
    validate=validate,
    warnings_on_create=warnings_on_create,
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    subresources={
        "status": UpdateStrategy(prepare_for_status_update, validate_status_update)
    },
    format_selector=format_selector,
    field_labels=FIELD_LABELS,
    printer=PRINTER,
)
