"""What goes wrong in a strategic merge patch, in upstream's words, and where upstream
itself goes wrong.

Go compares values of unknown type at its peril: two maps compared, or a map used as a
key, end the request in a panic. A client sees that its connection is closed.

Upstream: `apimachinery/pkg/util/mergepatch/errors.go`,
`apiserver/pkg/endpoints/handlers/patch.go` (`interpretStrategicMergePatchError`),
v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.go.format import go_json_type, go_value
from lifecycle.api.status import PanicError, StatusError, failure

DIRECTIVE = "$patch"
SET_ORDER = "$setElementOrder"


def unexpected(message: str) -> StatusError:
    """500: errors of the algorithm that upstream does not classify."""
    return failure(500, "", message)


def bad_type(expected: str, value: Any) -> StatusError:
    """A value of another type than the algorithm needs. Upstream: `ErrBadArgType`."""
    actual = "%!s(<nil>)" if value is None else go_json_type(value)
    return unexpected(f"expected a {expected}, but received a {actual}")


def no_merge_key(item: dict[str, Any], key: str) -> StatusError:
    """An item that cannot be told from others. Upstream: `ErrNoMergeKey`."""
    return unexpected(
        f"map: {go_value(item)} does not contain declared merge key: {key}"
    )


def unknown_directive(directive: Any, item: dict[str, Any]) -> StatusError:
    """A `$patch` that says nothing known. Upstream: `ErrBadPatchType`."""
    return unexpected(
        f"unknown patch type: {_as_string(directive)} in map: {go_value(item)}"
    )


def _as_string(value: Any) -> str:
    """A value as Go's `%s` prints it."""
    if value is None:
        return "%!s(<nil>)"
    if isinstance(value, dict):
        parts = (f"{key}:{_as_string(value[key])}" for key in sorted(value))
        return f"map[{' '.join(parts)}]"
    if isinstance(value, list):
        return f"[{' '.join(map(_as_string, value))}]"
    if isinstance(value, str):
        return value
    return f"%!s({go_json_type(value)}={go_value(value)})"


def hashable(value: Any) -> tuple[str, Any]:
    """A value as the key of a Go map: told apart by type, too. Raises PanicError."""
    if isinstance(value, (dict, list)):
        raise PanicError(
            f"runtime error: hash of unhashable type {go_json_type(value)}"
        )
    return go_json_type(value), value


def equal(left: Any, right: Any) -> bool:
    """Whether two values are equal to Go's `==`. Raises PanicError."""
    if go_json_type(left) != go_json_type(right):
        return False
    if isinstance(left, (dict, list)):
        raise PanicError(
            f"runtime error: comparing uncomparable type {go_json_type(left)}"
        )
    return bool(left == right)
