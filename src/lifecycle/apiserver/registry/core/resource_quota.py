"""ResourceQuotas: how much a namespace may have altogether.

Upstream: `pkg/apis/core/v1/zz_generated.defaults.go`
(`SetObjectDefaults_ResourceQuota`), `pkg/registry/core/resourcequota/strategy.go`,
`pkg/apis/core/validation/validation.go` (`ValidateResourceQuota` …),
`pkg/printers/internalversion/printers.go` (`printResourceQuota`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.defaults.resource_lists import round_up_resource_list
from lifecycle.api.field_errors import FieldError, Named, invalid, required
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.quantity import canonical_quantity
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.pod.resources import (
    is_standard_quota_resource,
    validate_quantity,
    validate_quota_resource_name,
)
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy, UpdateStrategy

# --- defaults -------------------------------------------------------------------------


def set_defaults(quota: Object) -> None:
    """Whole thousandths only."""
    round_up_resource_list((quota.get("spec") or {}).get("hard"))
    status = quota.get("status") or {}
    round_up_resource_list(status.get("hard"))
    round_up_resource_list(status.get("used"))


# --- validation -----------------------------------------------------------------------


_SCOPES = (
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
)

_POD_QUOTA = {
    "pods",
    "cpu",
    "memory",
    "limits.cpu",
    "limits.memory",
    "requests.cpu",
    "requests.memory",
}


def validate(quota: Object) -> list[FieldError]:
    """A new quota."""
    errors = validate_core_object_meta(
        quota.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + _validate_spec(quota.get("spec") or {})


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """Scopes stay."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    errors += _validate_spec(new.get("spec") or {})
    scopes, before = (
        (new.get("spec") or {}).get("scopes") or [],
        (old.get("spec") or {}).get("scopes") or [],
    )
    if set(scopes) != set(before):
        errors.append(invalid("spec.scopes", scopes or None, "field is immutable"))
    return errors


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
    """Amounts only."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    status = new.get("status") or {}
    return (
        errors
        + _validate_amounts(status.get("hard"), "status.hard")
        + _validate_amounts(status.get("used"), "status.used")
    )


def _validate_spec(spec: Object) -> list[FieldError]:
    """Known resources, amounts, and scopes that fit them."""
    errors = _validate_amounts(spec.get("hard"), "spec.hard")
    scopes = spec.get("scopes") or []
    standard = [
        name
        for name in sorted(spec.get("hard") or ())
        if is_standard_quota_resource(name)
    ]
    for scope in scopes:
        if scope not in _SCOPES:
            errors.append(invalid("spec.scopes", scopes, "unsupported scope"))
        errors += [
            invalid("spec.scopes", scopes, "unsupported scope applied to resource")
            for name in standard
            if not _scope_fits(scope, name)
        ]
    errors += [invalid("spec.scopes", scopes, "conflicting scopes")] * _conflicting(
        scopes
    )
    selector = spec.get("scopeSelector")
    if selector is not None:
        errors += _validate_scope_selector(selector, standard, scopes)
    return errors


def _validate_amounts(amounts: Object | None, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for name, amount in (amounts or {}).items():
        errors += validate_quota_resource_name(name, f"{path}[{name}]")
        errors += validate_quantity(name, amount, f"{path}[{name}]")
    return errors


def _scope_fits(scope: str, resource: str) -> bool:
    if scope == "BestEffort":
        return resource == "pods"
    if scope in (
        "Terminating",
        "NotTerminating",
        "NotBestEffort",
        "PriorityClass",
        "CrossNamespacePodAffinity",
    ):
        return resource in _POD_QUOTA
    if scope == "VolumeAttributesClass":
        return resource in ("persistentvolumeclaims", "requests.storage")
    return True


def _conflicting(scopes: list[str]) -> int:
    pairs = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
    return sum(pair <= set(scopes) for pair in pairs)


def _validate_scope_selector(
    selector: Object, standard: list[str], scopes: list[str]
) -> list[FieldError]:
    errors: list[FieldError] = []
    path = "spec.scopeSelector.matchExpressions"
    requirements = selector.get("matchExpressions") or []
    for requirement in requirements:
        scope, operator, values = (
            requirement.get("scopeName", ""),
            requirement.get("operator", ""),
            requirement.get("values") or [],
        )
        if scope not in _SCOPES:
            errors.append(
                invalid(f"{path}.scopeName", Named(scope), "unsupported scope")
            )
        value = internal_value("core/v1.ScopeSelector", selector)
        errors += [
            invalid(path, value, "unsupported scope applied to resource")
            for name in standard
            if not _scope_fits(scope, name)
        ]
        if (
            scope in _SCOPES
            and scope not in ("PriorityClass", "VolumeAttributesClass")
            and operator != "Exists"
        ):
            why = (
                "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating,"
                " ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort,"
                " ResourceQuotaScopeNotBestEffort or"
                " ResourceQuotaScopeCrossNamespacePodAffinity"
            )
            errors.append(invalid(f"{path}.operator", operator, why))
        if operator in ("In", "NotIn"):
            if not values:
                why = (
                    "must be at least one value when `operator` is 'In' or 'NotIn' for"
                    " scope selector"
                )
                errors.append(required(f"{path}.values", why))
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                why = (
                    "must be no value when `operator` is 'Exist' or 'DoesNotExist' for"
                    " scope selector"
                )
                errors.append(invalid(f"{path}.values", values, why))
        else:
            errors.append(
                invalid(
                    f"{path}.operator", Named(operator), "not a valid selector operator"
                )
            )
    count = _conflicting(
        [requirement.get("scopeName", "") for requirement in requirements]
    )
    return errors + [invalid(path, scopes, "conflicting scopes")] * count


# --- table ----------------------------------------------------------------------------


def print_resource_quota(quota: Object, now: float) -> Cells:
    """`used/hard` of every resource; those that begin with `limits.` have a column of
    their own.
    """
    status = quota.get("status") or {}
    used = status.get("used") or {}
    requests: list[str] = []
    limits: list[str] = []
    for resource, hard in sorted((status.get("hard") or {}).items()):
        text = (
            f"{resource}:"
            f" {canonical_quantity(used.get(resource, '0'))}/{canonical_quantity(hard)}"
        )
        (limits if resource.startswith("limits.") else requests).append(text)
    return [
        quota["metadata"]["name"],
        ", ".join(requests),
        ", ".join(limits),
        age(quota, now),
    ]


PRINTER = Printer(
    (
        NAME,
        Column(
            "Request",
            "Request represents a minimum amount of cpu/memory that a container may"
            " consume.",
        ),
        Column(
            "Limit",
            "Limits control the maximum amount of cpu/memory that a container may"
            " use independent of contention on the node.",
        ),
        AGE,
    ),
    print_resource_quota,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    validate=validate,
    validate_update=validate_update,
    subresources={
        "status": UpdateStrategy(
            update.prepare_for_status_update, validate_status_update
        )
    },
    returns_deleted_object=True,
    printer=PRINTER,
)
