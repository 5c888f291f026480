"""Deployments: everything that the API server does to one.

Upstream: `pkg/apis/apps/v1/defaults.go` (`SetDefaults_Deployment`),
`pkg/registry/apps/deployment/strategy.go`, `pkg/apis/apps/validation/validation.go`
(`ValidateDeployment` …), `pkg/printers/internalversion/printers.go`
(`printDeployment`), v1.36. The subresource `scale` is every workload's:
`registry.scales`.
"""

from __future__ import annotations

from lifecycle.api.defaults.pods import set_pod_template_defaults
from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.fieldpath.field_sets import LEAF
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.labels import selector_from_label_selector
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.status import StatusError
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.apps.columns import READY
from lifecycle.apiserver.registry.apps.rolling_update import set_rolling_update_defaults
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
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    CONTAINERS,
    NAME,
    Cells,
    Column,
    Printer,
    container_cells,
    field,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.numbers import (
    int_or_percent_value,
    not_above,
    not_decremented,
    not_negative,
    validate_int_or_percent,
    validate_not_over_100_percent,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy, UpdateStrategy

# --- defaults -------------------------------------------------------------------------


def set_defaults(deployment: Object) -> None:
    """One replica, RollingUpdate with a quarter more and a quarter fewer, ten old
    replica sets, ten minutes to progress.
    """
    spec = deployment.setdefault("spec", {})
    set_pod_template_defaults(spec.setdefault("template", {}))
    set_default(spec, "replicas", 1)
    set_rolling_update_defaults(spec, "strategy", "25%", max_surge="25%")
    set_default(spec, "revisionHistoryLimit", 10)
    set_default(spec, "progressDeadlineSeconds", 600)


# --- strategy -------------------------------------------------------------------------


def prepare_for_create(deployment: Object) -> None:
    """Of a template count only features that are on."""
    drop_disabled_template_fields(pod_template_of(deployment))


def prepare_for_update(new: Object, old: Object) -> None:
    """The same; what was there before stays."""
    drop_disabled_template_fields(pod_template_of(new), pod_template_of(old))


def prepare_for_status_update(new: Object, old: Object) -> None:
    """Labels are not the status's business."""
    update.prepare_for_status_update(new, old)
    update.take_over(new["metadata"], old["metadata"], "labels")


# --- validation -----------------------------------------------------------------------


def validate(deployment: Object) -> list[FieldError]:
    """A new Deployment."""
    errors = validate_core_object_meta(
        deployment.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + _validate_spec(deployment.get("spec") or {}, "spec")


def _validate_spec(spec: Object, path: str) -> list[FieldError]:
    """Replicas, selector, template, strategy, deadlines: in upstream's order."""
    errors = not_negative(spec, "replicas", path=path)
    errors += validate_selector(spec, path)
    errors += validate_selector_and_template(spec, path)
    errors += _validate_strategy(spec.get("strategy") or {}, f"{path}.strategy")
    errors += not_negative(
        spec,
        "minReadySeconds",
        "revisionHistoryLimit",
        "progressDeadlineSeconds",
        path=path,
    )
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and deadline <= spec.get("minReadySeconds", 0):
        errors.append(
            invalid(
                f"{path}.progressDeadlineSeconds",
                deadline,
                "must be greater than minReadySeconds",
            )
        )
    return errors


def _validate_strategy(strategy: Object, path: str) -> list[FieldError]:
    type_, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if type_ == "Recreate":
        why = "may not be specified when strategy `type` is 'Recreate'"
        return [] if rolling is None else [forbidden(f"{path}.rollingUpdate", why)]
    if type_ != "RollingUpdate":
        value = internal_value("apps/v1.DeploymentStrategy", strategy)
        return [not_supported(path, value, ("Recreate", "RollingUpdate"))]
    here = f"{path}.rollingUpdate"
    if rolling is None:
        return [required(here, "this should be defaulted and never be nil")]
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    errors = validate_int_or_percent(unavailable, f"{here}.maxUnavailable")
    errors += validate_int_or_percent(surge, f"{here}.maxSurge")
    if int_or_percent_value(unavailable) == 0 and int_or_percent_value(surge) == 0:
        errors.append(
            invalid(
                f"{here}.maxUnavailable",
                unavailable,
                "may not be 0 when `maxSurge` is 0",
            )
        )
    return errors + validate_not_over_100_percent(unavailable, f"{here}.maxUnavailable")


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed Deployment: the selector stays."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    errors += _validate_spec(new.get("spec") or {}, "spec")
    return errors + validate_selector_stays(new, old)


_STATUS_COUNTS = (
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
)


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
    """Counts of a Deployment must add up."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    status, before = new.get("status") or {}, old.get("status") or {}
    errors += not_negative(status, *_STATUS_COUNTS, path="status")
    errors += not_above(
        status,
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        path="status",
        name="status.replicas",
    )
    errors += not_above(
        status,
        "readyReplicas",
        "availableReplicas",
        path="status",
        name="readyReplicas",
    )
    return errors + not_decremented(status, before)


# --- table ----------------------------------------------------------------------------


def print_deployment(deployment: Object, now: float) -> Cells:
    """The cells of `kubectl get deployments`."""
    spec, status = deployment.get("spec") or {}, deployment.get("status") or {}
    try:
        selector = str(selector_from_label_selector(spec.get("selector")))
    except StatusError:
        selector = "<invalid>"
    return [
        deployment["metadata"]["name"],
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        age(deployment, now),
        *container_cells(spec.get("template")),
        selector,
    ]


PRINTER = Printer(
    (
        NAME,
        READY,
        Column("Up-to-date", field("apps/v1.DeploymentStatus", "updatedReplicas")),
        Column("Available", field("apps/v1.DeploymentStatus", "availableReplicas")),
        AGE,
        *CONTAINERS,
        Column("Selector", field("apps/v1.DeploymentSpec", "selector"), priority=1),
    ),
    print_deployment,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    generation=Generation.SPEC_AND_ANNOTATIONS,
    prepare_for_create=prepare_for_create,
    validate=validate,
    warnings_on_create=warnings_on_create,
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    warnings_on_update=warnings_on_update,
    subresources={
        "status": UpdateStrategy(
            prepare_for_status_update,
            validate_status_update,
            reset_fields={"f:metadata": {"f:labels": LEAF}, "f:spec": LEAF},
        )
    },
    printer=PRINTER,
)
