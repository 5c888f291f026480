"""Resource names and amounts: in containers, pods, quotas and limit ranges.

Upstream: `pkg/apis/core/validation/validation.go` (`validateResourceRequirements`,
`ValidateResourceQuantityValue`), `pkg/apis/core/helper/helpers.go`
(`IsStandardResourceName`, `IsOvercommitAllowed` …), v1.36.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from lifecycle.api.bounded_cache import short_pair_cache
from lifecycle.api.field_errors import (
    NOT_FOUND,
    FieldError,
    Named,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.resource_names import (
    is_extended_resource_name,
    is_native_resource,
)
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.rest.numbers import NOT_NEGATIVE

NOT_POSITIVE = "must be greater than zero"
HUGE_PAGES = "hugepages-"
_OBJECT_COUNTS = {
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
}
_COMPUTE = {"cpu", "memory", "ephemeral-storage"}
_STANDARD_QUOTA = {
    *_COMPUTE,
    *(f"requests.{name}" for name in _COMPUTE),
    *(f"limits.{name}" for name in _COMPUTE),
    "requests.storage",
    *_OBJECT_COUNTS,
}
_POD_LEVEL = ("cpu", "memory", HUGE_PAGES)
Amounts = Object


def is_huge_page(name: str) -> bool:
    """`hugepages-2Mi` and the like."""
    return name.startswith(HUGE_PAGES)


def is_overcommit_allowed(name: str) -> bool:
    """May requests be lower than limits?"""
    return is_native_resource(name) and not is_huge_page(name)


def _is_quota_huge_page(name: str) -> bool:
    return name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}"))


def is_standard_quota_resource(name: str) -> bool:
    """A name that a quota may limit without a domain."""
    return name in _STANDARD_QUOTA or _is_quota_huge_page(name)


def _validate_name(name: str, path: str) -> list[FieldError]:
    errors = [invalid(path, Named(name), why) for why in content.qualified_name(name)]
    if (
        not errors
        and "/" not in name
        and not (
            name in _STANDARD_QUOTA or name == "storage" or _is_quota_huge_page(name)
        )
    ):
        errors.append(
            invalid(
                path, Named(name), "must be a standard resource type or fully qualified"
            )
        )
    return errors


def validate_container_resource_name(name: str, path: str) -> list[FieldError]:
    """A name that a container may ask for."""
    errors = _validate_name(name, path)
    if "/" not in name:
        if name not in _COMPUTE and not is_huge_page(name):
            errors.append(
                invalid(path, Named(name), "must be a standard resource for containers")
            )
    elif not is_native_resource(name) and not is_extended_resource_name(name):
        errors.append(
            invalid(path, Named(name), "doesn't follow extended resource name standard")
        )
    return errors


def validate_pod_resource_name(name: str, path: str) -> list[FieldError]:
    """A name that a whole pod may ask for."""
    errors = _validate_name(name, path)
    if not errors and name not in ("cpu", "memory") and not is_huge_page(name):
        errors.append(not_supported(path, name, sorted(_POD_LEVEL)))
    return errors


def validate_quota_resource_name(name: str, path: str) -> list[FieldError]:
    """A name that a quota may limit."""
    errors = _validate_name(name, path)
    if "/" not in name and not is_standard_quota_resource(name):
        why = "must be a standard resource for quota"
        errors.append(invalid(path, Named(name), why))
    return errors


def validate_limit_range_resource_name(
    limit_type: str, name: str, path: str
) -> list[FieldError]:
    """A name in a LimitRange: what containers may ask for, or anything storage-like for
    other types.
    """
    return (
        validate_container_resource_name(name, path)
        if limit_type in ("Pod", "Container")
        else _validate_name(name, path)
    )


def validate_quantity(name: str, amount: str, path: str) -> list[FieldError]:
    """Not negative; whole where halves make no sense."""
    return (
        list(_quantity_errors(name, amount, path))
        if not _plainly_fine(amount, name)
        else []
    )


@short_pair_cache(4096)
def _plainly_fine(amount: str, name: str) -> bool:
    return not _quantity_errors(name, amount, "")


def _quantity_errors(name: str, amount: str, path: str) -> list[FieldError]:
    errors = []
    value = parse_quantity(amount)
    if value < parse_quantity("0"):
        errors.append(invalid(path, amount, NOT_NEGATIVE))
    if (
        name in _OBJECT_COUNTS or is_extended_resource_name(name)
    ) and value.milli() % 1000:
        errors.append(invalid(path, amount, "must be an integer"))
    return errors


def validate_resource_requirements(
    requirements: Object | None,
    path: str,
    claims: set[str] | None = None,
    name_rule: Callable[
        [str, str], list[FieldError]
    ] = validate_container_resource_name,
) -> list[FieldError]:
    """Limits and requests of a container (or, with another `name_rule`, a pod)."""
    if not requirements:
        return []
    errors: list[FieldError] = []
    limits, requests = (
        requirements.get("limits") or {},
        requirements.get("requests") or {},
    )
    for name, amount in limits.items():
        here = f"{path}.limits[{name}]"
        errors += name_rule(name, here)
        errors += validate_quantity(name, amount, here)
        errors += _validate_huge_page_amount(name, amount, here)
    for name, amount in requests.items():
        here = f"{path}.requests[{name}]"
        errors += name_rule(name, here)
        errors += validate_quantity(name, amount, here)
        limit = limits.get(name)
        if limit is not None:
            if amount != limit:
                requested, allowed = parse_quantity(amount), parse_quantity(limit)
                if requested != allowed and not is_overcommit_allowed(name):
                    errors.append(
                        invalid(
                            f"{path}.requests",
                            amount,
                            f"must be equal to {name} limit of {limit}",
                        )
                    )
                elif requested > allowed:
                    errors.append(
                        invalid(
                            f"{path}.requests",
                            amount,
                            f"must be less than or equal to {name} limit of {limit}",
                        )
                    )
        elif not is_overcommit_allowed(name):
            errors.append(
                required(
                    f"{path}.limits",
                    "Limit must be set for non overcommitable resources",
                )
            )
        errors += _validate_huge_page_amount(name, amount, here)
    names = {*limits, *requests}
    if not names & {"cpu", "memory"} and any(map(is_huge_page, names)):
        errors.append(forbidden(path, "HugePages require cpu or memory"))
    if requirements.get("claims"):
        errors += _validate_claim_names(
            requirements["claims"], claims or set(), f"{path}.claims"
        )
    return errors


def _validate_huge_page_amount(name: str, amount: str, path: str) -> list[FieldError]:
    if not is_huge_page(name):
        return []
    try:
        size = parse_quantity(name.removeprefix(HUGE_PAGES)).value()
    except ValueError:
        size = 0
    if size <= 0 or parse_quantity(amount).value() % size:
        return [
            invalid(
                path, amount, f"{amount} is not positive integer multiple of {name}"
            )
        ]
    return []


def _validate_claim_names(
    claims: list[Object], known: set[str], path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    times: Counter[str] = Counter()  # that a claim is among the seen
    names = f": {', '.join(sorted(known))}" if known else " which is empty"
    unknown = f"must be one of the names in pod.spec.resourceClaims{names}"
    for index, claim in enumerate(claims):
        here, name = f"{path}[{index}]", claim.get("name", "")
        if not name:
            errors.append(required(here))
            continue
        if name in seen:
            errors.append(duplicate(here, name))
        else:
            key = name
            if claim.get("request"):
                errors += [
                    invalid(f"{here}.request", claim["request"], why)
                    for why in content.dns1123_label(claim["request"])
                ]
                key = f"{name}/{claim['request']}"
            if key in seen:
                errors.append(duplicate(here, key))
            elif not claim.get("request"):
                errors += [duplicate(here, name)] * times[name]
            times[key.partition("/")[0]] += key not in seen
            seen.add(key)
        if name not in known:
            errors.append(FieldError(NOT_FOUND, here, name, unknown))
    return errors
