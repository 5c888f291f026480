"""StatefulSets: pods with names and volumes of their own, in order.

Upstream: `pkg/apis/apps/v1/defaults.go` (`SetDefaults_StatefulSet`),
`pkg/apis/apps/v1/conversion.go`, `pkg/registry/apps/statefulset/strategy.go`,
`pkg/apis/apps/validation/validation.go` (`ValidateStatefulSet` …),
`pkg/printers/internalversion/printers.go` (`printStatefulSet`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.defaults.pods import set_pod_template_defaults
from lifecycle.api.field_errors import (
    FieldError,
    Named,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.apps.columns import READY
from lifecycle.apiserver.registry.core import persistent_volume_claim
from lifecycle.apiserver.registry.core.persistent_volume_claim import (
    validate_claim_spec,
)
from lifecycle.apiserver.registry.core.pod.annotations import validate_pod_annotations
from lifecycle.apiserver.registry.core.pod.spec import validate_pod_template_spec
from lifecycle.apiserver.registry.core.pod.template import (
    MISMATCH,
    drop_disabled_template_fields,
    generation_is_unchanged,
    get_warnings_for_pod_template,
    pod_template_of,
    sorted_map,
    template_labels,
    validate_long_running,
)
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    CONTAINERS,
    NAME,
    Cells,
    Printer,
    container_cells,
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
    not_above,
    not_decremented,
    not_negative,
    validate_int_or_percent,
    validate_not_over_100_percent,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_annotations,
    validate_core_object_meta,
    validate_core_object_meta_update,
    validate_labels,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy, UpdateStrategy
from lifecycle.apiserver.registry.rest.update import prepare_for_status_update

# --- defaults -------------------------------------------------------------------------

_CLAIM_TYPE = {"kind": "PersistentVolumeClaim", "apiVersion": "v1"}


def set_defaults(stateful_set: Object) -> None:
    """Ordered, RollingUpdate from partition 0, claims kept."""
    spec = stateful_set.setdefault("spec", {})
    set_pod_template_defaults(spec.setdefault("template", {}))
    claims = spec.get("volumeClaimTemplates") or []
    for index, claim in enumerate(claims):
        persistent_volume_claim.set_defaults(claim)
        # whatever stood there; upstream does so in conversion
        claims[index] = {**_CLAIM_TYPE, **claim, **_CLAIM_TYPE}
    if not spec.get("podManagementPolicy"):
        spec["podManagementPolicy"] = "OrderedReady"
    strategy = spec.get("updateStrategy")
    if strategy is None:
        strategy = spec["updateStrategy"] = {}
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        if strategy.get("rollingUpdate") is None:
            strategy["rollingUpdate"] = {}
    if (
        strategy["type"] == "RollingUpdate"
        and strategy.get("rollingUpdate") is not None
    ):
        set_default(strategy["rollingUpdate"], "partition", 0)
    retention = spec.get("persistentVolumeClaimRetentionPolicy")
    if retention is None:
        retention = spec["persistentVolumeClaimRetentionPolicy"] = {}
    for key in ("whenDeleted", "whenScaled"):
        if not retention.get(key):
            retention[key] = "Retain"
    set_default(spec, "replicas", 1)
    set_default(spec, "revisionHistoryLimit", 10)


# --- strategy -------------------------------------------------------------------------


def prepare_for_create(stateful_set: Object) -> None:
    """Of a template count only features that are on."""
    drop_disabled_template_fields(pod_template_of(stateful_set))
    _drop_max_unavailable(stateful_set)


def prepare_for_update(new: Object, old: Object) -> None:
    """The same; what was there before stays."""
    drop_disabled_template_fields(pod_template_of(new), pod_template_of(old))
    if "maxUnavailable" not in _rolling_update(old):
        _drop_max_unavailable(new)


def _rolling_update(stateful_set: Object) -> Object:
    strategy = (stateful_set.get("spec") or {}).get("updateStrategy") or {}
    return strategy.get("rollingUpdate") or {}


def _drop_max_unavailable(stateful_set: Object) -> None:
    """`MaxUnavailableStatefulSet` is beta, and off. Upstream:
    `dropStatefulSetDisabledFields`.
    """
    _rolling_update(stateful_set).pop("maxUnavailable", None)


# --- validation -----------------------------------------------------------------------


_UPDATABLE = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def validate(stateful_set: Object) -> list[FieldError]:
    """A new StatefulSet: its name must do as a host name."""
    errors = validate_core_object_meta(
        stateful_set.get("metadata") or {}, True, content.name_is_dns_label
    )
    return errors + _validate_spec(stateful_set.get("spec") or {}, "spec")


def _validate_spec(
    spec: Object, path: str, *, updated: bool = False, tolerant: bool = False
) -> list[FieldError]:
    """`updated`: the claims, which cannot change, are not looked at again; `tolerant`:
    the template may stay wrong.
    """
    errors: list[FieldError] = []
    policy = spec.get("podManagementPolicy", "")
    if not policy:
        errors.append(required(f"{path}.podManagementPolicy"))
    elif policy not in ("OrderedReady", "Parallel"):
        errors.append(
            invalid(
                f"{path}.podManagementPolicy",
                Named(policy),
                "must be 'OrderedReady' or 'Parallel'",
            )
        )
    errors += _validate_update_strategy(
        spec.get("updateStrategy") or {}, f"{path}.updateStrategy"
    )
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for key in ("whenDeleted", "whenScaled"):
        value = retention.get(key, "Retain")
        if value not in ("Retain", "Delete"):
            errors.append(
                not_supported(
                    f"{path}.persistentVolumeClaimRetentionPolicy.{key}",
                    value,
                    ("Retain", "Delete"),
                )
            )
    templates = spec.get("volumeClaimTemplates") or ()
    for index, claim in enumerate(() if updated else templates):
        errors += validate_claim_spec(
            claim.get("spec") or {}, f"{path}.volumeClaimTemplates[{index}].spec"
        )
    errors += not_negative(spec, "replicas", "minReadySeconds", path=path)
    errors += not_negative(spec.get("ordinals") or {}, "start", path=f"{path}.ordinals")
    service = spec.get("serviceName", "")
    if service and not updated:
        errors += [
            invalid(f"{path}.serviceName", service, why)
            for why in content.dns1123_label(service)
        ]
    selector = spec.get("selector")
    if selector is None:
        errors.append(required(f"{path}.selector"))
    else:
        errors += validate_label_selector(selector, f"{path}.selector")
        if selector_is_empty(selector):
            errors.append(
                invalid(
                    f"{path}.selector",
                    selector,
                    "empty selector is invalid for statefulset",
                )
            )
    if selector is not None and not selector_is_usable(selector):
        errors.append(invalid(f"{path}.selector", selector, ""))
    else:
        labels = template_labels(spec)
        if selector is None or (
            not selector_is_empty(selector)
            and not selector_matches(selector, labels or {})
        ):
            errors.append(
                invalid(
                    f"{path}.template.metadata.labels", sorted_map(labels), MISMATCH
                )
            )
        template = _with_claims(spec.get("template") or {}, templates)
        if not tolerant:
            errors += validate_pod_template_spec(template, f"{path}.template")
        metadata = template.get("metadata") or {}
        errors += validate_labels(metadata.get("labels"), f"{path}.template.labels")
        annotations = metadata.get("annotations")
        here = f"{path}.template.annotations"
        errors += validate_annotations(annotations, here)
        errors += validate_pod_annotations(
            annotations or {}, template.get("spec") or {}, here
        )
    return errors + validate_long_running(
        spec.get("template") or {}, f"{path}.template", "StatefulSet"
    )


def _with_claims(template: Object, claims: Sequence[Object]) -> Object:
    """The template as the controller will use it: host name and subdomain are each
    pod's own, volumes of claims come first.
    """
    pod = {**(template.get("spec") or {})}
    pod.pop("hostname", None)
    pod.pop("subdomain", None)
    names = list(
        dict.fromkeys((claim.get("metadata") or {}).get("name", "") for claim in claims)
    )
    if names:
        pod["volumes"] = [
            *(
                {"name": name, "persistentVolumeClaim": {"claimName": name}}
                for name in names
            ),
            *(
                volume
                for volume in pod.get("volumes") or ()
                if volume.get("name", "") not in names
            ),
        ]
    return {**template, "spec": pod}


def _validate_update_strategy(strategy: Object, path: str) -> list[FieldError]:
    type_, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if not type_:
        return [required(path)]
    if type_ == "OnDelete":
        if rolling is None:
            return []
        value = internal_value("apps/v1.RollingUpdateStatefulSetStrategy", rolling)
        return [
            invalid(
                f"{path}.rollingUpdate",
                value,
                "only allowed for updateStrategy 'RollingUpdate'",
            )
        ]
    if type_ != "RollingUpdate":
        value = internal_value("apps/v1.StatefulSetUpdateStrategy", strategy)
        return [invalid(path, value, "must be 'RollingUpdate' or 'OnDelete'")]
    if rolling is None:
        return []
    here = f"{path}.rollingUpdate"
    errors = not_negative(rolling, "partition", path=here)
    unavailable = rolling.get("maxUnavailable")
    if unavailable is not None:
        errors += validate_int_or_percent(unavailable, f"{here}.maxUnavailable")
        if int_or_percent_value(unavailable) == 0:
            errors.append(invalid(f"{here}.maxUnavailable", unavailable, "cannot be 0"))
        errors += validate_not_over_100_percent(unavailable, f"{here}.maxUnavailable")
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed StatefulSet: a short list of fields may change."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    spec = new.get("spec") or {}
    tolerant = bool(_validate_spec(old.get("spec") or {}, "spec", updated=True))
    errors += _validate_spec(spec, "spec", updated=True, tolerant=tolerant)
    if _immutable(spec) != _immutable(old.get("spec") or {}):
        *names, last = (f"'{key}'" for key in _UPDATABLE)
        errors.append(
            forbidden(
                "spec",
                "updates to statefulset spec for fields other than"
                f" {', '.join(names)} and {last} are forbidden",
            )
        )
    return errors


def _immutable(spec: Object) -> Object:
    return {key: value for key, value in spec.items() if key not in _UPDATABLE}


# --- warnings -------------------------------------------------------------------------


def warnings_on_create(stateful_set: Object) -> list[str]:
    """Of the template, and of a history without end."""
    warnings = get_warnings_for_pod_template(
        pod_template_of(stateful_set), "spec.template"
    )
    if ((stateful_set.get("spec") or {}).get("revisionHistoryLimit") or 0) < 0:
        why = (
            "a negative value retains all historical revisions; a value >= 0 is"
            " recommended"
        )
        warnings.append(f"spec.revisionHistoryLimit: {why}")
    return warnings


def warnings_on_update(new: Object, old: Object) -> list[str]:
    """The same, if anything changed."""
    return [] if generation_is_unchanged(new, old) else warnings_on_create(new)


_STATUS_COUNTS = (
    "replicas",
    "readyReplicas",
    "currentReplicas",
    "updatedReplicas",
    "availableReplicas",
    "observedGeneration",
    "collisionCount",
)


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
    """Counts from zero up, which add up."""
    status, before = new.get("status") or {}, old.get("status") or {}
    errors = not_negative(status, *_STATUS_COUNTS, path="status")
    errors += not_above(
        status,
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        path="status",
        name="status.replicas",
    )
    errors += not_above(
        status,
        "readyReplicas",
        "availableReplicas",
        path="status",
        name="status.readyReplicas",
    )
    errors += validate_core_object_meta_update(new["metadata"], old["metadata"])
    return errors + not_decremented(status, before)


# --- table ----------------------------------------------------------------------------


def print_stateful_set(stateful_set: Object, now: float) -> Cells:
    """The cells of `kubectl get statefulsets`."""
    spec, status = stateful_set.get("spec") or {}, stateful_set.get("status") or {}
    return [
        stateful_set["metadata"]["name"],
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        age(stateful_set, now),
        *container_cells(spec.get("template")),
    ]


PRINTER = Printer((NAME, READY, AGE, *CONTAINERS), print_stateful_set)

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
