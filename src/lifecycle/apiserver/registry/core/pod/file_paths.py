"""Paths inside volumes.

Upstream: `pkg/apis/core/validation/validation.go` (`validateLocalDescendingPath`,
`ValidateLocalNonReservedPath`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid

FILE_MODE = "must be a number between 0 and 0777 (octal), both inclusive"


def validate_no_backsteps(target: str, path: str) -> list[FieldError]:
    """No `..` among the elements."""
    return (
        [invalid(path, target, "must not contain '..'")]
        if ".." in target.split("/")
        else []
    )


def validate_local_descending_path(target: str, path: str) -> list[FieldError]:
    """Relative, and never upwards."""
    errors = (
        [invalid(path, target, "must be a relative path")]
        if target.startswith("/")
        else []
    )
    return errors + validate_no_backsteps(target, path)


def validate_local_non_reserved_path(target: str, path: str) -> list[FieldError]:
    """And not starting with `..` either: the kubelet keeps such names for itself."""
    errors = validate_local_descending_path(target, path)
    if target.startswith("..") and not target.startswith("../"):
        errors.append(invalid(path, target, "must not start with '..'"))
    return errors


def validate_mode(mode: int | None, path: str) -> list[FieldError]:
    """Permission bits."""
    return (
        [invalid(path, mode, FILE_MODE)]
        if mode is not None and not 0 <= mode <= 0o777
        else []
    )
