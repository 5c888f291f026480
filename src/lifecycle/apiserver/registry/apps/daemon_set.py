"""DaemonSets: a pod on every node.

Upstream: `pkg/apis/apps/v1/defaults.go` (`SetDefaults_DaemonSet`),
`pkg/registry/apps/daemonset/strategy.go`, `pkg/apis/apps/validation/validation.go`
(`ValidateDaemonSet` …), `pkg/printers/internalversion/printers.go`
(`printDaemonSet`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.defaults.pods import set_pod_template_defaults
from lifecycle.api.field_errors import FieldError, invalid, not_supported, required
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.labels import format_label_selector
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.apps.rolling_update import set_rolling_update_defaults
from lifecycle.apiserver.registry.apps.selectors import validate_selector_stays
from lifecycle.apiserver.registry.core.pod.spec import validate_pod_template_spec
from lifecycle.apiserver.registry.core.pod.template import (
    MISMATCH,
    drop_disabled_template_fields,
    get_warnings_for_pod_template,
    pod_template_of,
    sorted_map,
    template_labels,
    validate_long_running,
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
    format_labels,
)
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.label_selectors import (
    selector_is_empty,
    selector_is_usable,
    selector_matches,
    validate_label_selector,
)
from lifecycle.apiserver.registry.rest.numbers import (
    int_or_percent_value,
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
from lifecycle.apiserver.registry.rest.update import prepare_for_status_update

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
"""An annotation that is a field in upstream's internal form."""

# --- defaults -------------------------------------------------------------------------


def set_defaults(daemon_set: Object) -> None:
    """RollingUpdate, one node at a time, no surge."""
    spec = daemon_set.setdefault("spec", {})
    set_pod_template_defaults(spec.setdefault("template", {}))
    set_rolling_update_defaults(spec, "updateStrategy", 1, max_surge=0)
    set_default(spec, "revisionHistoryLimit", 10)
    _set_template_generation(daemon_set, _template_generation(daemon_set))


def _template_generation(daemon_set: Object) -> int:
    annotations = daemon_set["metadata"].get("annotations") or {}
    try:
        return int(annotations.get(TEMPLATE_GENERATION, "0"))
    except ValueError:
        return 0


def _set_template_generation(daemon_set: Object, generation: int) -> None:
    metadata = daemon_set.setdefault("metadata", {})
    metadata["annotations"] = {
        **(metadata.get("annotations") or {}),
        TEMPLATE_GENERATION: str(generation),
    }


# --- strategy -------------------------------------------------------------------------


def prepare_for_create(daemon_set: Object) -> None:
    """Of a template count only features that are on; it is the first one."""
    drop_disabled_template_fields(pod_template_of(daemon_set))
    _set_template_generation(daemon_set, 1)


def prepare_for_update(new: Object, old: Object) -> None:
    """The same; what was there before stays. Another template is counted."""
    drop_disabled_template_fields(pod_template_of(new), pod_template_of(old))
    changed = pod_template_of(new) != pod_template_of(old)
    _set_template_generation(new, _template_generation(old) + changed)


def _prepare_for_status_update(new: Object, old: Object) -> None:
    prepare_for_status_update(new, old)
    _set_template_generation(new, _template_generation(old))


# --- validation -----------------------------------------------------------------------


def validate(daemon_set: Object) -> list[FieldError]:
    """A new DaemonSet."""
    errors = validate_core_object_meta(
        daemon_set.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + _validate_spec(daemon_set.get("spec") or {}, "spec")


def _validate_spec(spec: Object, path: str) -> list[FieldError]:
    selector, labels = spec.get("selector"), template_labels(spec)
    errors = validate_label_selector(selector, f"{path}.selector")
    usable = selector is None or selector_is_usable(selector)
    if usable and (selector is None or not selector_matches(selector, labels or {})):
        errors.append(
            invalid(f"{path}.template.metadata.labels", sorted_map(labels), MISMATCH)
        )
    if selector is not None and selector_is_empty(selector):
        errors.append(
            invalid(
                f"{path}.selector", selector, "empty selector is invalid for daemonset"
            )
        )
    template = spec.get("template") or {}
    errors += validate_pod_template_spec(template, f"{path}.template")
    errors += validate_long_running(template, f"{path}.template", "DaemonSet")
    errors += not_negative(spec, "minReadySeconds", path=path)
    errors += _validate_update_strategy(
        spec.get("updateStrategy") or {}, f"{path}.updateStrategy"
    )
    return errors + not_negative(spec, "revisionHistoryLimit", path=path)


def _validate_update_strategy(strategy: Object, path: str) -> list[FieldError]:
    type_, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if type_ == "OnDelete":
        return []
    if type_ != "RollingUpdate":
        value = internal_value("apps/v1.DaemonSetUpdateStrategy", strategy)
        return [not_supported(path, value, ("RollingUpdate", "OnDelete"))]
    here = f"{path}.rollingUpdate"
    if rolling is None:
        return [required(here)]
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    errors = validate_int_or_percent(unavailable, f"{here}.maxUnavailable")
    errors += validate_int_or_percent(surge, f"{here}.maxSurge")
    if int_or_percent_value(unavailable) and int_or_percent_value(surge):
        errors.append(
            invalid(
                f"{here}.maxSurge",
                surge,
                "may not be set when maxUnavailable is non-zero",
            )
        )
    elif not int_or_percent_value(unavailable) and not int_or_percent_value(surge):
        errors.append(
            required(f"{here}.maxUnavailable", "cannot be 0 when maxSurge is 0")
        )
    errors += validate_not_over_100_percent(unavailable, f"{here}.maxUnavailable")
    return errors + validate_not_over_100_percent(surge, f"{here}.maxSurge")


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed DaemonSet: the selector stays."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    errors += validate_selector_stays(new, old)
    return errors + _validate_spec(new.get("spec") or {}, "spec")


_STATUS_COUNTS = (
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
)


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
    """Counts from zero up."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    status, before = new.get("status") or {}, old.get("status") or {}
    errors += not_negative(status, *_STATUS_COUNTS, path="status")
    return errors + not_decremented(status, before)


# --- warnings -------------------------------------------------------------------------


def warnings_on_create(daemon_set: Object) -> list[str]:
    """Of the template."""
    return get_warnings_for_pod_template(pod_template_of(daemon_set), "spec.template")


# --- table ----------------------------------------------------------------------------

_COUNTS = (
    ("Desired", "desiredNumberScheduled"),
    ("Current", "currentNumberScheduled"),
    ("Ready", "numberReady"),
    ("Up-to-date", "updatedNumberScheduled"),
    ("Available", "numberAvailable"),
)


def print_daemon_set(daemon_set: Object, now: float) -> Cells:
    """The cells of `kubectl get daemonsets`."""
    spec, status = daemon_set.get("spec") or {}, daemon_set.get("status") or {}
    template = spec.get("template") or {}
    return [
        daemon_set["metadata"]["name"],
        *(status.get(count, 0) for _, count in _COUNTS),
        format_labels((template.get("spec") or {}).get("nodeSelector")),
        age(daemon_set, now),
        *container_cells(template),
        format_label_selector(spec.get("selector")),
    ]


PRINTER = Printer(
    (
        NAME,
        *(
            Column(name, field("apps/v1.DaemonSetStatus", count), "integer")
            for name, count in _COUNTS
        ),
        Column("Node Selector", field("core/v1.PodSpec", "nodeSelector")),
        AGE,
        *CONTAINERS,
        Column("Selector", field("apps/v1.DaemonSetSpec", "selector"), priority=1),
    ),
    print_daemon_set,
    internal_annotations=(TEMPLATE_GENERATION,),
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    versioned_annotations=(TEMPLATE_GENERATION,),
    generation=Generation.SPEC,
    prepare_for_create=prepare_for_create,
    validate=validate,
    warnings_on_create=warnings_on_create,
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    warnings_on_update=warnings_on_update,
    subresources={
        "status": UpdateStrategy(_prepare_for_status_update, validate_status_update)
    },
    printer=PRINTER,
)
