"""ReplicaSets: so and so many pods of one template.

Upstream: `pkg/apis/apps/v1/defaults.go` (`SetDefaults_ReplicaSet`),
`pkg/registry/apps/replicaset/strategy.go`, `pkg/apis/apps/validation/validation.go`
(`ValidateReplicaSet` …), `pkg/printers/internalversion/printers.go`
(`printReplicaSet`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.defaults.pods import set_pod_template_defaults
from lifecycle.api.field_errors import FieldError
from lifecycle.api.http.wire import Object
from lifecycle.api.labels import format_label_selector
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.apps.selectors import (
    validate_selector,
    validate_selector_and_template,
    validate_selector_stays,
)
from lifecycle.apiserver.registry.core.pod.template import (
    drop_disabled_template_fields,
    pod_template_of,
    warnings_on_create,
    warnings_on_update,
)
from lifecycle.apiserver.registry.core.replicas import (
    replica_cells,
    replica_columns,
    validate_status_update,
)
from lifecycle.apiserver.registry.printers.printer import Cells, Printer
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.numbers import not_negative
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy, UpdateStrategy
from lifecycle.apiserver.registry.rest.update import prepare_for_status_update

# --- defaults -------------------------------------------------------------------------


def set_defaults(replica_set: Object) -> None:
    """One replica."""
    spec = replica_set.setdefault("spec", {})
    set_pod_template_defaults(spec.setdefault("template", {}))
    set_default(spec, "replicas", 1)


# --- strategy -------------------------------------------------------------------------


def prepare_for_create(replica_set: Object) -> None:
    """Of a template count only features that are on."""
    drop_disabled_template_fields(pod_template_of(replica_set))


def prepare_for_update(new: Object, old: Object) -> None:
    """The same; what was there before stays."""
    drop_disabled_template_fields(pod_template_of(new), pod_template_of(old))


# --- validation -----------------------------------------------------------------------


def validate(replica_set: Object) -> list[FieldError]:
    """A new ReplicaSet."""
    errors = validate_core_object_meta(
        replica_set.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + _validate_spec(replica_set.get("spec") or {}, "spec")


def _validate_spec(spec: Object, path: str) -> list[FieldError]:
    errors = not_negative(spec, "replicas", "minReadySeconds", path=path)
    return (
        errors
        + validate_selector(spec, path)
        + validate_selector_and_template(spec, path)
    )


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed ReplicaSet: the selector stays."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    errors += _validate_spec(new.get("spec") or {}, "spec")
    return errors + validate_selector_stays(new, old)


# --- table ----------------------------------------------------------------------------


def print_replica_set(replica_set: Object, now: float) -> Cells:
    """The cells of `kubectl get replicasets`."""
    selector = (replica_set.get("spec") or {}).get("selector")
    return [*replica_cells(replica_set, now), format_label_selector(selector)]


PRINTER = Printer(replica_columns("apps/v1.ReplicaSet"), print_replica_set)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    generation=Generation.SPEC,
    prepare_for_create=prepare_for_create,
    validate=validate,
    warnings_on_create=warnings_on_create,
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    warnings_on_update=warnings_on_update,
    subresources={
        "status": UpdateStrategy(prepare_for_status_update, validate_status_update)
    },
    printer=PRINTER,
)
