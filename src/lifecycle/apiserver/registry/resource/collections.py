"""Lists, sets and maps of the group's kinds: how many items, each sound, none twice.

Upstream: `pkg/apis/resource/validation/validation.go` (`validateSlice`, `validateSet`,
`validateMap`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from lifecycle.api.field_errors import FieldError, duplicate, too_many

ValidateItem = Callable[[Any, str], list[FieldError]]


def validate_slice(
    items: Sequence[Any] | None, limit: int | None, validate: ValidateItem, path: str
) -> list[FieldError]:
    """Too many are not looked at one by one."""
    items = items or ()
    if limit is not None and len(items) > limit:
        return [too_many(path, len(items), limit)]
    return [
        error
        for index, item in enumerate(items)
        for error in validate(item, f"{path}[{index}]")
    ]


def itself(item: Any) -> Any:
    """The key of a text in a set of texts."""
    return item


def by_name(item: Any) -> str:
    """The key of what has a name."""
    return str(item.get("name", ""))


def validate_set(
    items: Sequence[Any] | None,
    limit: int | None,
    validate: ValidateItem,
    key: Callable[[Any], Hashable],
    path: str,
    shown: Callable[[Any], Any] = itself,
) -> list[FieldError]:
    """Duplicates are reported after everything else."""
    items = items or ()
    errors = validate_slice(items, limit, validate, path)
    if limit is not None and len(items) > limit:
        return errors
    seen: set[Hashable] = set()
    for index, item in enumerate(items):
        name = key(item)
        if name in seen:
            errors.append(duplicate(f"{path}[{index}]", shown(name)))
        seen.add(name)
    return errors


def validate_map(
    items: Mapping[str, Any],
    limit: int | None,
    key_length: int,
    validate_key: ValidateItem,
    validate: ValidateItem,
    path: str,
) -> list[FieldError]:
    """`key_length`: longer keys are shortened in paths."""
    if limit is not None and len(items) > limit:
        return [too_many(path, len(items), limit)]
    errors: list[FieldError] = []
    for key, item in items.items():
        errors += validate_key(key, path)
        errors += validate(item, f"{path}[{_shortened(key, key_length)}]")
    return errors


_ELLIPSIS = "..."


def _shortened(text: str, limit: int) -> str:
    limit = max(limit, 16)
    if len(text) <= limit:
        return text
    remaining = limit - len(_ELLIPSIS)
    return text[: (remaining + 1) // 2] + _ELLIPSIS + text[len(text) - remaining // 2 :]
