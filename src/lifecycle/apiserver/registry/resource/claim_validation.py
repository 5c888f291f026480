"""What is asked of a claim: its requests, the constraints between them, their
configuration.

Upstream: `pkg/apis/resource/validation/validation.go` (`validateDeviceClaim` …),
`pkg/registry/resource/utils.go` (`AuthorizedForAdmin`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.field_errors import (
    FieldError,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.resource.collections import (
    by_name,
    itself,
    validate_set,
    validate_slice,
)
from lifecycle.apiserver.registry.resource.device_configuration import (
    validate_configuration,
    validate_selectors,
)
from lifecycle.apiserver.registry.resource.device_names import (
    validate_fully_qualified_name,
    validate_label,
    validate_subdomain,
)
from lifecycle.apiserver.registry.rest.object_meta import validate_label_name

REQUESTS = 32
_CONSTRAINTS = 32
CONFIGS = 32
_ALTERNATIVES = 8
EFFECTS = ("NoExecute", "NoSchedule", "None")
_NOT_A_REQUEST = (
    "must be the name of a request in the claim or the name of a request and a"
    " subrequest separated by '/'"
)

RequestNames = dict[str, set[str] | None]


def gather_request_names(claim: Object) -> RequestNames:
    """Request → its alternatives, if it has any."""
    return {
        request.get("name", ""): {
            one.get("name", "") for one in request["firstAvailable"]
        }
        if request.get("firstAvailable")
        else None
        for request in claim.get("requests") or ()
    }


def _names_a_request(name: str, names: RequestNames) -> bool:
    request, slash, alternative = name.partition("/")
    if request not in names:
        return False
    return not slash or alternative in (names[request] or ())


def validate_request_reference(
    name: str, path: str, names: RequestNames
) -> list[FieldError]:
    """`request` or `request/alternative`."""
    segments = name.split("/")
    if len(segments) > 2:
        return [invalid(path, name, _NOT_A_REQUEST)]
    errors = [error for one in segments for error in validate_label(one, path)]
    if not _names_a_request(name, names):
        errors.append(invalid(path, name, _NOT_A_REQUEST))
    return errors


def validate_request_references(
    references: list[str] | None, path: str, names: RequestNames
) -> list[FieldError]:
    """Each once."""
    return validate_set(
        references,
        REQUESTS,
        lambda name, here: validate_request_reference(name, here, names),
        itself,
        path,
    )


def validate_claim_spec(spec: Object, path: str) -> list[FieldError]:
    """The spec of a claim, or of a template's claims."""
    claim, here = spec.get("devices") or {}, f"{path}.devices"
    names = gather_request_names(claim)
    errors = validate_set(
        claim.get("requests"),
        REQUESTS,
        _validate_request,
        by_name,
        f"{here}.requests",
    )
    errors += validate_slice(
        claim.get("constraints"),
        _CONSTRAINTS,
        lambda one, where: _validate_constraint(one, where, names),
        f"{here}.constraints",
    )
    return errors + validate_slice(
        claim.get("config"),
        CONFIGS,
        lambda one, where: (
            validate_request_references(one.get("requests"), f"{where}.requests", names)
            + validate_configuration(one, where)
        ),
        f"{here}.config",
    )


def _validate_request(request: Object, path: str) -> list[FieldError]:
    errors = validate_label(request.get("name", ""), f"{path}.name")
    alternatives, exactly = request.get("firstAvailable"), request.get("exactly")
    why = "exactly one of `exactly` or `firstAvailable` is required"
    if alternatives and exactly is not None:
        why += ", but multiple fields are set"
        return [*errors, invalid(path, None, why)]
    if alternatives:
        return errors + validate_set(
            alternatives,
            _ALTERNATIVES,
            _validate_alternative,
            by_name,
            f"{path}.firstAvailable",
        )
    if exactly is not None:
        return errors + _validate_devices_of(exactly, f"{path}.exactly")
    return [*errors, required(path, why)]


def _validate_alternative(request: Object, path: str) -> list[FieldError]:
    errors = validate_label(request.get("name", ""), f"{path}.name")
    return errors + _validate_devices_of(request, path)


def _validate_devices_of(request: Object, path: str) -> list[FieldError]:
    class_name = request.get("deviceClassName", "")
    errors = (
        validate_subdomain(class_name, f"{path}.deviceClassName")
        if class_name
        else [required(f"{path}.deviceClassName")]
    )
    errors += validate_selectors(request.get("selectors"), f"{path}.selectors")
    errors += _validate_allocation_mode(request, path)
    for index, toleration in enumerate(request.get("tolerations") or ()):
        errors += _validate_toleration(toleration, f"{path}.tolerations[{index}]")
    return errors


def _validate_allocation_mode(request: Object, path: str) -> list[FieldError]:
    mode, count = request.get("allocationMode", ""), request.get("count") or 0
    if mode == "All":
        why = "must not be specified when allocationMode is 'All'"
        return [invalid(f"{path}.count", count, why)] if count else []
    if mode == "ExactCount":
        why = "must be greater than zero"
        return [invalid(f"{path}.count", count, why)] if count <= 0 else []
    return [not_supported(f"{path}.allocationMode", mode, ("All", "ExactCount"))]


def validate_value(value: str, path: str) -> list[FieldError]:
    """Of a taint or toleration: as a label's."""
    return [invalid(path, value, why) for why in content.label_value(value)]


def _validate_toleration(toleration: Object, path: str) -> list[FieldError]:
    key, value = toleration.get("key", ""), toleration.get("value", "")
    operator, effect = toleration.get("operator", ""), toleration.get("effect", "")
    errors = validate_label_name(key, f"{path}.key") if key else []
    if operator == "Exists":
        if value:
            why = "must be empty for operator `Exists`"
            errors.append(invalid(f"{path}.value", value, why))
    elif operator == "Equal":
        errors += validate_value(value, f"{path}.value")
    elif not operator:
        errors.append(required(f"{path}.operator"))
    else:
        known = ("Equal", "Exists")
        errors.append(not_supported(f"{path}.operator", operator, known))
    if effect and effect not in EFFECTS:
        errors.append(not_supported(f"{path}.effect", effect, EFFECTS))
    return errors


def _validate_constraint(
    constraint: Object, path: str, names: RequestNames
) -> list[FieldError]:
    errors = validate_request_references(
        constraint.get("requests"), f"{path}.requests", names
    )
    for key in ("matchAttribute", "distinctAttribute"):
        if constraint.get(key) is not None:
            return errors + validate_fully_qualified_name(
                constraint[key], f"{path}.{key}"
            )
    why = (
        'exactly one of "matchAttribute" or "distinctAttribute" is required, but'
        " multiple fields are set"
    )
    return [*errors, required(path, why)]


def wants_admin_access(spec: Any) -> int | None:
    """The first request that asks for a device whoever else uses it."""
    requests = (spec.get("devices") or {}).get("requests") or ()
    return next(
        (
            index
            for index, request in enumerate(requests)
            if (request.get("exactly") or {}).get("adminAccess")
        ),
        None,
    )
