"""Deployments, ReplicaSets, DaemonSets, StatefulSets, ReplicationControllers.

Upstream: `pkg/apis/apps/validation/validation.go`,
`pkg/apis/core/validation/validation.go` (`ValidateReplicationControllerSpec`);
immutable selectors: `pkg/registry/apps/*/strategy.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.apps.selectors import (
    validate_selector,
    validate_selector_and_template,
    validate_selector_stays,
)
from lifecycle.apiserver.registry.core.pod.template import (
    MISMATCH,
    sorted_map,
    template_labels,
    validate_long_running,
)
from lifecycle.apiserver.registry.rest.label_selectors import (
    selector_is_empty,
    selector_is_usable,
    selector_matches,
    validate_label_selector,
)
from lifecycle.apiserver.registry.rest.numbers import (
    NOT_NEGATIVE,
    int_or_percent_value,
    not_negative,
    validate_int_or_percent,
    validate_not_over_100_percent,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.unmigrated.validation.persistent_volume_claims import (
    validate_claim_spec,
)
from lifecycle.apiserver.registry.unmigrated.validation.pod_spec import (
    validate_pod_template_spec,
)

# --- ReplicaSet -----------------------------------------------------------------------


def validate_replica_set(replica_set: Object) -> list[FieldError]:
    """A new ReplicaSet."""
    errors = validate_core_object_meta(
        replica_set.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + _validate_replica_set_spec(replica_set.get("spec") or {}, "spec")


def _validate_replica_set_spec(spec: Object, path: str) -> list[FieldError]:
    errors = not_negative(spec, "replicas", "minReadySeconds", path=path)
    return (
        errors
        + validate_selector(spec, path)
        + validate_selector_and_template(spec, path)
    )


def validate_replica_set_update(new: Object, old: Object) -> list[FieldError]:
    """A changed ReplicaSet: the selector stays."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    return (
        errors
        + _validate_replica_set_spec(new.get("spec") or {}, "spec")
        + validate_selector_stays(new, old)
    )


_REPLICA_COUNTS = (
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
)


def validate_replica_status_update(new: Object, old: Object) -> list[FieldError]:
    """Counts of a ReplicaSet or ReplicationController must add up."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    status = new.get("status") or {}
    errors += not_negative(status, *_REPLICA_COUNTS, path="status")
    total, ready = status.get("replicas", 0), status.get("readyReplicas", 0)
    for field in ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"):
        if status.get(field, 0) > total:
            errors.append(
                invalid(
                    f"status.{field}",
                    status[field],
                    "cannot be greater than status.replicas",
                )
            )
    if status.get("availableReplicas", 0) > ready:
        errors.append(
            invalid(
                "status.availableReplicas",
                status["availableReplicas"],
                "cannot be greater than readyReplicas",
            )
        )
    return errors


# --- DaemonSet ------------------------------------------------------------------------


def validate_daemon_set(daemon_set: Object) -> list[FieldError]:
    """A new DaemonSet."""
    errors = validate_core_object_meta(
        daemon_set.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + _validate_daemon_set_spec(daemon_set.get("spec") or {}, "spec")


def _validate_daemon_set_spec(spec: Object, path: str) -> list[FieldError]:
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
    errors += _validate_daemon_set_strategy(
        spec.get("updateStrategy") or {}, f"{path}.updateStrategy"
    )
    return errors + not_negative(spec, "revisionHistoryLimit", path=path)


def _validate_daemon_set_strategy(strategy: Object, path: str) -> list[FieldError]:
    type_, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if type_ == "OnDelete":
        return []
    if type_ != "RollingUpdate":
        shown = internal_value("apps/v1.DaemonSetUpdateStrategy", strategy)
        return [not_supported(path, shown, ("RollingUpdate", "OnDelete"))]
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


def validate_daemon_set_update(new: Object, old: Object) -> list[FieldError]:
    """A changed DaemonSet: the selector stays."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    return (
        errors
        + _validate_daemon_set_spec(new.get("spec") or {}, "spec")
        + validate_selector_stays(new, old)
    )


# --- StatefulSet ----------------------------------------------------------------------

_STATEFUL_FREE = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def validate_stateful_set(stateful_set: Object) -> list[FieldError]:
    """A new StatefulSet: its name must do as a host name."""
    errors = validate_core_object_meta(
        stateful_set.get("metadata") or {}, True, content.name_is_dns_label
    )
    return errors + _validate_stateful_set_spec(stateful_set.get("spec") or {}, "spec")


def _validate_stateful_set_spec(spec: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    policy = spec.get("podManagementPolicy", "")
    if not policy:
        errors.append(required(f"{path}.podManagementPolicy"))
    elif policy not in ("OrderedReady", "Parallel"):
        errors.append(
            invalid(
                f"{path}.podManagementPolicy",
                policy,
                "must be 'OrderedReady' or 'Parallel'",
            )
        )
    errors += _validate_stateful_set_strategy(
        spec.get("updateStrategy") or {}, f"{path}.updateStrategy"
    )
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for field in ("whenDeleted", "whenScaled"):
        value = retention.get(field, "Retain")
        if value not in ("Retain", "Delete"):
            errors.append(
                not_supported(
                    f"{path}.persistentVolumeClaimRetentionPolicy.{field}",
                    value,
                    ("Retain", "Delete"),
                )
            )
    errors += not_negative(spec, "replicas", "minReadySeconds", path=path)
    errors += not_negative(spec.get("ordinals") or {}, "start", path=f"{path}.ordinals")
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
        errors += validate_pod_template_spec(
            spec.get("template") or {}, f"{path}.template"
        )
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        errors += validate_claim_spec(
            claim.get("spec") or {}, f"{path}.volumeClaimTemplates[{index}].spec"
        )
    return errors + validate_long_running(
        spec.get("template") or {}, f"{path}.template", "StatefulSet"
    )


def _validate_stateful_set_strategy(strategy: Object, path: str) -> list[FieldError]:
    type_, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if not type_:
        return [required(path)]
    if type_ == "OnDelete":
        if rolling is None:
            return []
        shown = internal_value("apps/v1.RollingUpdateStatefulSetStrategy", rolling)
        return [
            invalid(
                f"{path}.rollingUpdate",
                shown,
                "only allowed for updateStrategy 'RollingUpdate'",
            )
        ]
    if type_ != "RollingUpdate":
        shown = internal_value("apps/v1.StatefulSetUpdateStrategy", strategy)
        return [invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")]
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


def validate_stateful_set_update(new: Object, old: Object) -> list[FieldError]:
    """A changed StatefulSet: a short list of fields is free."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    errors += _validate_stateful_set_spec(spec, "spec")
    if {k: v for k, v in spec.items() if k not in _STATEFUL_FREE} != {
        k: v for k, v in before.items() if k not in _STATEFUL_FREE
    }:
        names = (
            ", ".join(f"'{field}'" for field in _STATEFUL_FREE[:-1])
            + f" and '{_STATEFUL_FREE[-1]}'"
        )
        errors.append(
            forbidden(
                "spec",
                f"updates to statefulset spec for fields other than {names} are"
                " forbidden",
            )
        )
    return errors


# --- ReplicationController ------------------------------------------------------------


def validate_replication_controller(controller: Object) -> list[FieldError]:
    """A new ReplicationController."""
    errors = validate_core_object_meta(
        controller.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + _validate_replication_controller_spec(controller.get("spec") or {})


def _validate_replication_controller_spec(spec: Object) -> list[FieldError]:
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


def validate_replication_controller_update(
    new: Object, old: Object
) -> list[FieldError]:
    """A changed ReplicationController."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    return errors + _validate_replication_controller_spec(new.get("spec") or {})


def validate_pod_template(holder: Object) -> list[FieldError]:
    """A stored PodTemplate."""
    errors = validate_core_object_meta(
        holder.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + validate_pod_template_spec(holder.get("template") or {}, "template")


def validate_controller_revision(revision: Object) -> list[FieldError]:
    """A new revision: some data, and a number."""
    errors = validate_core_object_meta(
        revision.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    if revision.get("data") is None:
        errors.append(required("data", "data is mandatory"))
    number = revision.get("revision", 0)
    return errors + ([invalid("revision", number, NOT_NEGATIVE)] if number < 0 else [])


def validate_controller_revision_update(new: Object, old: Object) -> list[FieldError]:
    """Its data is history and stays."""
    errors = validate_core_object_meta_update(
        new["metadata"], old["metadata"]
    ) + validate_controller_revision(new)
    if new.get("data") != old.get("data"):
        errors.append(invalid("data", new.get("data"), IMMUTABLE))
    return errors
