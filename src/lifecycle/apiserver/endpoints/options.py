"""What a query string may ask for, and what is said of one that cannot be read.

Every verb takes its options from the query. They are read before the object is: a
request with `?limit=many` or `?dryRun=maybe` is refused whatever else it says. A number
that is none is a 400 in the words of Go's `strconv`; a value outside the allowed ones
is a 422 on a kind that nobody ever stored (`CreateOptions`, `ListOptions`).

Upstream: `apimachinery/pkg/runtime/conversion.go` (`Convert_Slice_string_To_int64`,
`…_To_bool`), `apimachinery/pkg/apis/meta/v1/validation/validation.go`
(`ValidateCreateOptions` and siblings),
`apimachinery/pkg/apis/meta/internalversion/validation/validation.go`
(`ValidateListOptions`), v1.36. Left out:
`ignoreStoreReadErrorWithClusterBreakingPotential` (no corrupt objects here), sharding.
"""

from __future__ import annotations

import re

from lifecycle.api import status
from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.query_params import bool_parameter
from lifecycle.api.http.wire import Request

META_GROUP = "meta.k8s.io"
MAX_MANAGER_LENGTH = 128
_INT64 = re.compile(r"[+-]?[0-9]+")


def int_option(request: Request, key: str) -> int | None:
    """A number of 64 bits; None if it is not given. Raises StatusError 400."""
    values = request.query.get(key)
    return None if not values else parse_int(values[0])


def parse_int(text: str) -> int:
    """`strconv.ParseInt(text, 10, 64)`. Raises StatusError 400 with Go's message."""
    if not _INT64.fullmatch(text):
        raise status.bad_request(
            f"strconv.ParseInt: parsing {go_quote(text)}: invalid syntax"
        )
    number = int(text) if len(text) <= 20 else 1 << 64
    if not -(1 << 63) <= number < 1 << 63:
        raise status.bad_request(
            f"strconv.ParseInt: parsing {go_quote(text)}: value out of range"
        )
    return number


def bool_option(request: Request, key: str) -> bool | None:
    """Whatever is not `false` or `0` is true; None if it is not given."""
    return bool_parameter(request.query, key)


def check_write_options(request: Request, kind: str) -> None:
    """CreateOptions or UpdateOptions. Raises StatusError 422."""
    if request.query:
        refuse_options(kind, _write_errors(request))


def check_patch_options(request: Request, *, apply: bool) -> None:
    """PatchOptions; an apply names its manager, and only an apply may use force. Raises
    StatusError 422.
    """
    errors = []
    if apply:
        if not request.param("fieldManager"):
            errors.append(required("fieldManager", "is required for apply patch"))
    elif request.query.get("force"):
        errors.append(forbidden("force", "may not be specified for non-apply patch"))
    refuse_options("PatchOptions", errors + _write_errors(request))


def check_list_options(request: Request, *, watch: bool) -> None:
    """ListOptions. Raises StatusError 400 for numbers that are none, 422 for what does
    not go together.
    """
    if not request.query:
        return
    for key in ("limit", "timeoutSeconds"):
        int_option(request, key)
    match, version = (
        request.param("resourceVersionMatch"),
        request.param("resourceVersion"),
    )
    initial = bool_option(request, "sendInitialEvents")
    errors = []
    if watch and not match and initial is None and version in ("", "0"):
        # a watch from anywhere begins with what is there: `SetListOptionsDefaults`
        match, initial = "NotOlderThan", True
    if watch:
        if initial is not None and match != "NotOlderThan":
            errors.append(
                forbidden(
                    "resourceVersionMatch",
                    "sendInitialEvents requires setting resourceVersionMatch to"
                    " NotOlderThan",
                )
            )
        if match:
            if initial is None:
                detail = (
                    "resourceVersionMatch is forbidden for watch unless"
                    " sendInitialEvents is provided"
                )
                errors.append(forbidden("resourceVersionMatch", detail))
            if match != "NotOlderThan":
                errors.append(
                    not_supported("resourceVersionMatch", match, ["NotOlderThan"])
                )
            if request.param("continue"):
                errors.append(
                    forbidden(
                        "resourceVersionMatch",
                        "resourceVersionMatch is forbidden when continue is provided",
                    )
                )
    else:
        errors += _list_match_errors(match, version, request.param("continue"))
        if initial is not None:
            errors.append(
                forbidden(
                    "sendInitialEvents", "sendInitialEvents is forbidden for list"
                )
            )
    refuse_options("ListOptions", errors)


def check_dry_run(values: list[str]) -> list[FieldError]:
    """`All` is the only dry run there is."""
    return (
        [not_supported("dryRun", values, ["All"])]
        if any(value != "All" for value in values)
        else []
    )


def refuse_options(kind: str, errors: list[FieldError]) -> None:
    """Raises StatusError 422 if there is anything to refuse."""
    if errors:
        raise status.invalid(kind, "", [error.cause() for error in errors], META_GROUP)


def _list_match_errors(match: str, version: str, token: str) -> list[FieldError]:
    if not match:
        return []
    field, errors = "resourceVersionMatch", []
    if not version:
        errors.append(
            forbidden(
                field,
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            )
        )
    if token:
        errors.append(
            forbidden(
                field, "resourceVersionMatch is forbidden when continue is provided"
            )
        )
    if match not in ("Exact", "NotOlderThan"):
        errors.append(not_supported(field, match, ["Exact", "NotOlderThan", ""]))
    if match == "Exact" and version == "0":
        errors.append(
            forbidden(
                field,
                'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
            )
        )
    return errors


def _write_errors(request: Request) -> list[FieldError]:
    errors = manager_errors(request.param("fieldManager"))
    errors += check_dry_run(request.query.get("dryRun", []))
    validation = request.param("fieldValidation")
    if validation not in ("", "Ignore", "Warn", "Strict"):
        errors.append(
            not_supported(
                "fieldValidation", validation, ["", "Ignore", "Strict", "Warn"]
            )
        )
    return errors


def manager_errors(manager: str) -> list[FieldError]:
    """A field manager is short and printable. Upstream: `ValidateFieldManager`."""
    errors = []
    if len(manager.encode()) > MAX_MANAGER_LENGTH:
        errors.append(too_long("fieldManager", MAX_MANAGER_LENGTH))
    if manager.isprintable():
        return errors
    position = 0
    for char in manager:
        if not char.isprintable():
            code_point = f"U+{ord(char):04X}"
            errors.append(
                invalid(
                    "fieldManager",
                    manager,
                    f"invalid character {code_point} (at position {position})",
                )
            )
        position += len(char.encode("utf-8", "replace"))
    return errors
