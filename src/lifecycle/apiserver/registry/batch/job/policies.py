"""When a Job has failed, and when it has succeeded: its rules about exit codes, pod
conditions and indexes.

Upstream: `pkg/apis/batch/validation/validation.go` (`validatePodFailurePolicy`,
`validateSuccessPolicy`, `validateIndexesFormat`), v1.36.
"""

from __future__ import annotations

from contextlib import suppress

from lifecycle.api.field_errors import (
    OMIT,
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.rest.numbers import not_negative

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_MOST_RULES = _MOST_PATTERNS = 20
_MOST_CODES = 255
_LONGEST_INDEXES = 64 * 1024


def _valid_values(values: tuple[str, ...]) -> str:
    return f"valid values: [{' '.join(map(go_quote, values))}]"


def validate_failure_policy(
    policy: Object, spec: Object, path: str
) -> list[FieldError]:
    """What a failed pod means."""
    rules = policy.get("rules") or []
    errors = (
        [too_many(f"{path}.rules", len(rules), _MOST_RULES)]
        if len(rules) > _MOST_RULES
        else []
    )
    template = (spec.get("template") or {}).get("spec") or {}
    names = {
        c.get("name", "")
        for group in ("containers", "initContainers")
        for c in template.get(group) or ()
    }
    for index, rule in enumerate(rules):
        here, action = f"{path}.rules[{index}]", rule.get("action", "")
        if not action:
            errors.append(required(f"{here}.action", _valid_values(_ACTIONS)))
        elif action == "FailIndex":
            if spec.get("backoffLimitPerIndex") is None:
                errors.append(
                    invalid(
                        f"{here}.action",
                        action,
                        "requires the backoffLimitPerIndex to be set",
                    )
                )
        elif action not in _ACTIONS:
            errors.append(not_supported(f"{here}.action", action, _ACTIONS))
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or []
        if codes is not None:
            errors += _validate_exit_codes(codes, names, f"{here}.onExitCodes")
        if conditions:
            errors += _validate_conditions(conditions, f"{here}.onPodConditions")
        if codes is not None and conditions:
            errors.append(
                invalid(
                    here,
                    OMIT,
                    "specifying both OnExitCodes and OnPodConditions is not supported",
                )
            )
        if codes is None and not conditions:
            errors.append(
                invalid(
                    here,
                    OMIT,
                    "specifying one of OnExitCodes and OnPodConditions is required",
                )
            )
    return errors


def _validate_exit_codes(codes: Object, names: set[str], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    values, operator, container = (
        codes.get("values") or [],
        codes.get("operator", ""),
        codes.get("containerName"),
    )
    if not operator:
        errors.append(required(f"{path}.operator", _valid_values(_OPERATORS)))
    elif operator not in _OPERATORS:
        errors.append(not_supported(f"{path}.operator", operator, _OPERATORS))
    if container is not None and container not in names:
        why = "must be one of the container or initContainer names in the pod template"
        errors.append(invalid(f"{path}.containerName", container, why))
    if not values:
        why, given = "at least one value is required", codes.get("values")
        errors.append(invalid(f"{path}.values", given, why))
    elif len(values) > _MOST_CODES:
        errors.append(too_many(f"{path}.values", len(values), _MOST_CODES))
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            errors.append(
                invalid(
                    f"{path}.values[{index}]", 0, "must not be 0 for the In operator"
                )
            )
        if value in values[:index]:
            errors.append(duplicate(f"{path}.values[{index}]", value))
    if values != sorted(values):
        errors.append(invalid(f"{path}.values", values, "must be ordered"))
    return errors


def _validate_conditions(patterns: list[Object], path: str) -> list[FieldError]:
    errors = (
        [too_many(path, len(patterns), _MOST_PATTERNS)]
        if len(patterns) > _MOST_PATTERNS
        else []
    )
    for index, pattern in enumerate(patterns):
        here, type_, status = (
            f"{path}[{index}]",
            pattern.get("type", ""),
            pattern.get("status", ""),
        )
        errors += [
            invalid(f"{here}.type", type_, why) for why in content.qualified_name(type_)
        ]
        if not status:
            errors.append(required(f"{here}.status", _valid_values(_STATUSES)))
        elif status not in _STATUSES:
            errors.append(not_supported(f"{here}.status", status, _STATUSES))
    return errors


def validate_success_policy(
    policy: Object, completions: int, path: str
) -> list[FieldError]:
    """Which indexes, or how many, are enough."""
    rules = policy.get("rules") or []
    errors: list[FieldError] = []
    if not rules:
        why = "at least one rules must be specified when the successPolicy is specified"
        errors.append(required(f"{path}.rules", why))
    if len(rules) > _MOST_RULES:
        errors.append(too_many(f"{path}.rules", len(rules), _MOST_RULES))
    for index, rule in enumerate(rules):
        errors += _validate_success_rule(rule, completions, f"{path}.rules[{index}]")
    return errors


def _validate_success_rule(
    rule: Object, completions: int, path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        errors.append(
            required(
                path,
                "at least one of succeededCount or succeededIndexes must be specified",
            )
        )
    total = 0
    if indexes is not None:
        here = f"{path}.succeededIndexes"
        if len(indexes) > _LONGEST_INDEXES:
            errors.append(too_long(here, _LONGEST_INDEXES))
        total, complaint = count_indexes(indexes, completions)
        if complaint:
            errors.append(
                invalid(here, indexes, f"error parsing succeededIndexes: {complaint}")
            )
    if count is not None:
        here = f"{path}.succeededCount"
        errors += not_negative(rule, "succeededCount", path=path)
        if count > completions:
            why = (
                f"must be less than or equal to {completions} (the number of specified"
                " completions)"
            )
            errors.append(invalid(here, count, why))
        if indexes is not None and count > total:
            what = "the number of indexes in the specified succeededIndexes field"
            errors.append(
                invalid(here, count, f"must be less than or equal to {total} ({what})")
            )
    return errors


def count_indexes(text: str, completions: int) -> tuple[int, str]:
    """How many indexes `1,3-5,7` names, and what is wrong with it, if anything."""
    total, last = 0, None
    for interval in text.split(",") if text else ():
        try:
            first, end = _interval(interval, completions)
        except ValueError as complaint:
            return 0, str(complaint)
        if last is not None and last >= first:
            return 0, f"non-increasing order, previous: {last}, current: {first}"
        total += end - first + 1
        last = end
    return total, ""


def first_overlap(one: str, other: str, completions: int) -> int | None:
    """The lowest index that both texts name, None if there is none. An interval that
    cannot be read is passed over: its own text is complained about elsewhere.
    """
    lower, upper = _readable(one, completions), _readable(other, completions)
    while lower and upper:
        (first, end), (start, last) = lower[0], upper[0]
        if first <= last and start <= end:
            return max(first, start)
        (lower if first <= start else upper).pop(0)
    return None


def _readable(text: str, completions: int) -> list[tuple[int, int]]:
    intervals = []
    for part in text.split(",") if text else ():
        with suppress(ValueError):
            intervals.append(_interval(part, completions))
    return intervals


def _interval(text: str, completions: int) -> tuple[int, int]:
    parts = text.split("-")
    if len(parts) > 2:
        why = (
            "violates the requirement that an index interval can have at most two parts"
            " separated by '-'"
        )
        raise ValueError(f"the fragment {go_quote(text)} {why}")
    ends = []
    for part in parts:
        if not (part.isascii() and part.removeprefix("+").isdigit()):
            raise ValueError(
                f"cannot convert string to integer for index: {go_quote(part)}"
            )
        ends.append(int(part))
        if ends[-1] >= completions:
            raise ValueError(f"too large index: {go_quote(part)}")
    if len(ends) == 2 and ends[0] >= ends[1]:
        raise ValueError(
            f"non-increasing order, previous: {ends[0]}, current: {ends[1]}"
        )
    return ends[0], ends[-1]
