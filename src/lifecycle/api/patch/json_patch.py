"""JSON patch (RFC 6902): a list of operations on paths, all of them or none.

The API server's library is more lenient than the RFC here and there, and clients have
come to rely on it: `replace` of a missing key sets it, a negative index counts from the
end, `move` and `copy` of a missing key give null. A client never learns which operation
failed: the answer is always the same 422.

Upstream: `apiserver/pkg/endpoints/handlers/patch.go` (`jsonPatcher.applyJSPatch`),
`gopkg.in/evanphx/json-patch.v4/patch.go`, v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.patch.merge_patch import in_key_order
from lifecycle.api.status import StatusError, bad_request, failure

MAX_OPERATIONS = 10000


class _Failed(Exception):
    pass


def rejected() -> StatusError:
    """422: a patch that cannot be applied, without saying why."""
    return failure(
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
        {},
    )


def apply_json_patch(doc: Any, ops: Any) -> Any:
    """A new document: `doc` with the operations applied in order. Shares unchanged
    parts with `doc`, changes neither argument.

    Raises StatusError 400 for something that is no patch, 413 for more than 10,000
    operations, 422 for an operation that fails.
    """
    if not isinstance(ops, list) or not all(isinstance(op, dict) for op in ops):
        raise bad_request(
            f"json: cannot unmarshal {_json_kind(ops)} into Go value of type"
            " jsonpatch.Patch"
        )
    if len(ops) > MAX_OPERATIONS:
        message = (
            "Request entity too large: The allowed maximum operations in a JSON patch"
            f" is {MAX_OPERATIONS}, got {len(ops)}"
        )
        raise failure(413, "RequestEntityTooLarge", message)
    try:
        for op in ops:
            apply = _OPERATIONS.get(op.get("op"))
            if apply is None:
                raise _Failed
            doc = apply(doc, op)
    except _Failed:
        raise rejected() from None
    return in_key_order(doc) if isinstance(doc, dict) else doc


def _json_kind(value: Any) -> str:
    if isinstance(value, list):
        value = next(item for item in value if not isinstance(item, dict))
    return {dict: "object", list: "array", str: "string", bool: "bool"}.get(
        type(value), "number"
    )


def _pointer(op: dict[str, Any], name: str = "path") -> list[str]:
    text = op.get(name)
    if not isinstance(text, str):
        raise _Failed
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _index(key: str, size: int) -> int:
    try:
        at = int(key)
    except ValueError:
        raise _Failed from None
    if not -size <= at < size:
        raise _Failed
    return at + size if at < 0 else at


def _get(container: Any, key: str) -> Any:
    if isinstance(container, dict):
        return container.get(key)
    return container[_index(key, len(container))]


def _change(doc: Any, path: list[str], change: Any) -> Any:
    """A copy of `doc` along `path`, its last container changed by `change(copy,
    key)`.
    """
    if not path or not isinstance(doc, (dict, list)):
        raise _Failed
    copy: Any = dict(doc) if isinstance(doc, dict) else list(doc)
    key = path[0]
    if len(path) == 1:
        change(copy, key)
        return in_key_order(copy) if isinstance(copy, dict) else copy
    inner = _get(doc, key)
    if not isinstance(inner, (dict, list)):
        raise _Failed
    copy[key if isinstance(copy, dict) else _index(key, len(copy))] = _change(
        inner, path[1:], change
    )
    return in_key_order(copy) if isinstance(copy, dict) else copy


def _look_up(doc: Any, path: list[str]) -> Any:
    if not path:
        raise _Failed
    for key in path:
        if not isinstance(doc, (dict, list)):
            raise _Failed
        doc = _get(doc, key)
    return doc


def _insert(doc: Any, path: list[str], value: Any) -> Any:
    def change(container: Any, key: str) -> None:
        if isinstance(container, dict):
            container[key] = value
        elif key == "-":
            container.append(value)
        else:
            container.insert(_index(key, len(container) + 1), value)

    return _change(doc, path, change)


def _delete(doc: Any, path: list[str]) -> Any:
    def change(container: Any, key: str) -> None:
        if isinstance(container, list):
            del container[_index(key, len(container))]
        elif key in container:
            del container[key]
        else:
            raise _Failed

    return _change(doc, path, change)


def _add(doc: Any, op: dict[str, Any]) -> Any:
    return _insert(doc, _pointer(op), op.get("value"))


def _remove(doc: Any, op: dict[str, Any]) -> Any:
    return _delete(doc, _pointer(op))


def _replace(doc: Any, op: dict[str, Any]) -> Any:
    path, value = _pointer(op), op.get("value")
    if not path:
        if not isinstance(value, (dict, list)):
            raise _Failed
        return value

    def change(container: Any, key: str) -> None:
        container[
            key if isinstance(container, dict) else _index(key, len(container))
        ] = value

    return _change(doc, path, change)


def _move(doc: Any, op: dict[str, Any]) -> Any:
    source = _pointer(op, "from")
    value = _look_up(doc, source)
    return _insert(_delete(doc, source), _pointer(op), value)


def _copy(doc: Any, op: dict[str, Any]) -> Any:
    return _insert(doc, _pointer(op), _look_up(doc, _pointer(op, "from")))


def _test(doc: Any, op: dict[str, Any]) -> Any:
    path = _pointer(op)
    found = _look_up(doc, path) if path else doc
    if not _same(found, op.get("value")):
        raise _Failed
    return doc


def _same(a: Any, b: Any) -> bool:
    """Equal as JSON: unlike in Python, `true` is not 1 and `1` is not 1.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b)


_OPERATIONS = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}
