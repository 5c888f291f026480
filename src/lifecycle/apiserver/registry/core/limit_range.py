"""LimitRanges: how much one pod, container or claim may ask for.

Upstream: `pkg/apis/core/v1/defaults.go` (`SetDefaults_LimitRangeItem`),
`pkg/registry/core/limitrange/strategy.go`, `pkg/apis/core/validation/validation.go`
(`ValidateLimitRange`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.defaults.resource_lists import round_up_resource_list
from lifecycle.api.field_errors import (
    FieldError,
    Named,
    duplicate,
    forbidden,
    invalid,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.pod.resources import (
    is_overcommit_allowed,
    validate_limit_range_resource_name,
)
from lifecycle.apiserver.registry.rest.object_meta import validate_core_object_meta
from lifecycle.apiserver.registry.rest.strategy import Strategy

# --- defaults -------------------------------------------------------------------------


def set_defaults(limit_range: Object) -> None:
    """For containers: default limits from the maximum, default requests from default
    limits, then from the minimum.
    """
    for item in (limit_range.get("spec") or {}).get("limits") or ():
        for name in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"):
            round_up_resource_list(item.get(name))
        if item.get("type") != "Container":
            continue
        default = {**(item.get("max") or {}), **(item.get("default") or {})}
        request = {
            **(item.get("min") or {}),
            **default,
            **(item.get("defaultRequest") or {}),
        }
        if default:
            item["default"] = default
        if request:
            item["defaultRequest"] = request


# --- validation -----------------------------------------------------------------------


_TYPES = ("Pod", "Container", "PersistentVolumeClaim")


def validate(limit_range: Object) -> list[FieldError]:
    """Minimum ≤ default request ≤ default ≤ maximum."""
    errors = validate_core_object_meta(
        limit_range.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    types: set[str] = set()
    for index, limit in enumerate((limit_range.get("spec") or {}).get("limits") or ()):
        here, type_ = f"spec.limits[{index}]", Named(limit.get("type", ""))
        type_errors = [
            invalid(f"{here}.type", type_, why) for why in content.qualified_name(type_)
        ]
        if not type_errors and "/" not in type_ and type_ not in _TYPES:
            type_errors.append(
                invalid(
                    f"{here}.type",
                    type_,
                    "must be a standard limit type or fully qualified",
                )
            )
        errors += type_errors
        if type_ in types:
            errors.append(duplicate(f"{here}.type", type_))
        types.add(type_)
        errors += _validate_item(limit, type_, here)
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The same."""
    return validate(new)


def _validate_item(limit: Object, type_: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    groups = {
        name: limit.get(name) or {}
        for name in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
    }

    def names(group: str) -> None:
        for name in groups[group]:
            errors.extend(
                validate_limit_range_resource_name(
                    type_, name, f"{path}.{group}[{name}]"
                )
            )

    names("max")
    names("min")
    if type_ == "Pod":
        for group in ("default", "defaultRequest"):
            if groups[group]:
                errors.append(
                    forbidden(
                        f"{path}.{group}", "may not be specified when `type` is 'Pod'"
                    )
                )
                groups[group] = {}
    else:
        names("default")
        names("defaultRequest")
    if (
        type_ == "PersistentVolumeClaim"
        and "storage" not in groups["min"]
        and "storage" not in groups["max"]
    ):
        why = (
            "either minimum or maximum storage value is required, but neither was"
            " provided"
        )
        errors.append(required(f"{path}.limits", why))
    names("maxLimitRequestRatio")
    for name in sorted({name for group in groups.values() for name in group}):
        errors += _validate_order(name, groups, path)
    return errors


def _validate_order(
    name: str, groups: dict[str, Object], path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    low, high = groups["min"].get(name), groups["max"].get(name)
    default, request, ratio = (
        groups["default"].get(name),
        groups["defaultRequest"].get(name),
        groups["maxLimitRequestRatio"].get(name),
    )

    def greater(one: str | None, other: str | None) -> bool:
        return (
            one is not None
            and other is not None
            and parse_quantity(one) > parse_quantity(other)
        )

    def complain(group: str, value: str | None, why: str) -> None:
        errors.append(invalid(f"{path}.{group}[{name}]", value, why))

    if greater(low, high):
        complain("min", low, f"min value {low} is greater than max value {high}")
    if greater(low, request):
        complain(
            "defaultRequest",
            request,
            f"min value {low} is greater than default request value {request}",
        )
    if greater(request, high):
        complain(
            "defaultRequest",
            request,
            f"default request value {request} is greater than max value {high}",
        )
    if greater(request, default):
        complain(
            "defaultRequest",
            request,
            f"default request value {request} is greater than default limit value"
            f" {default}",
        )
    if greater(low, default):
        complain(
            "default", low, f"min value {low} is greater than default value {default}"
        )
    if greater(default, high):
        complain(
            "default", high, f"default value {default} is greater than max value {high}"
        )
    if ratio is not None:
        if parse_quantity(ratio) < parse_quantity("1"):
            complain("maxLimitRequestRatio", ratio, f"ratio {ratio} is less than 1")
        if low is not None and high is not None and parse_quantity(low).milli():
            limit = parse_quantity(high).milli() / parse_quantity(low).milli()
            if parse_quantity(ratio).milli() / 1000 > limit:
                complain(
                    "maxLimitRequestRatio",
                    ratio,
                    f"ratio {ratio} is greater than max/min = {limit:f}",
                )
    if (
        not is_overcommit_allowed(name)
        and default is not None
        and request is not None
        and (greater(default, request) or greater(request, default))
    ):
        complain(
            "defaultRequest",
            request,
            f"default value {default} must equal to defaultRequest value {request} in"
            f" {name}",
        )
    return errors


STRATEGY = Strategy(
    set_defaults=set_defaults,
    names_itself=True,
    validate=validate,
    allow_create_on_update=True,
    validate_update=validate_update,
)
