"""JSON patch (RFC 6902): a list of operations on paths, all of them or none.

The API server's library is more lenient than the RFC here and there, and clients have
come to rely on it: `replace` of a missing key sets it, a negative index counts from the
end, `copy` of a missing key gives null. A client never learns which operation failed:
the answer is always the same 422; of the patches of webhooks and policies it is said.
`test` is stricter than the RFC: it compares texts, `<` is `\\u003c` to it, and a null
in a list is more than it can bear.

Upstream: `apiserver/pkg/endpoints/handlers/patch.go` (`jsonPatcher.applyJSPatch`),
`gopkg.in/evanphx/json-patch.v4/patch.go` (`Patch.Apply`), v1.36.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lifecycle.api.go.json.as_sent import is_as_sent, same_text
from lifecycle.api.go.json.decode import wrong_type
from lifecycle.api.go.strconv import atoi
from lifecycle.api.patch.json_document import (
    FailedTestError,
    JSONPatchError,
    MissingPathError,
    PatchedDocument,
    index_of,
    place,
)
from lifecycle.api.status import PanicError, StatusError, bad_request, failure

MAX_OPERATIONS = 10000


def rejected() -> StatusError:
    """422: a patch that cannot be applied, without saying why."""
    return failure(
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
        {},
    )


def apply_json_patch(doc: Any, ops: Any) -> Any:
    """A new document: `doc` with the operations applied in order. Changes neither
    argument, but may share parts with both. Operations that were read by `as_sent` are
    compared as they were sent.

    Raises StatusError 400 for something that is no patch, 413 for more than 10,000
    operations, 422 for an operation that fails and for more than 3 MiB of copies;
    PanicError where upstream panics.
    """
    check_operations(ops)
    if len(ops) > MAX_OPERATIONS:
        message = (
            "Request entity too large: The allowed maximum operations in a JSON patch"
            f" is {MAX_OPERATIONS}, got {len(ops)}"
        )
        raise failure(413, "RequestEntityTooLarge", message)
    try:
        return apply_operations(doc, ops)
    except JSONPatchError:
        raise rejected() from None


def check_operations(ops: Any) -> None:
    """Raises StatusError 400 for what is no list of operations."""
    if not isinstance(ops, list):
        raise bad_request(wrong_type(ops, "jsonpatch.Patch"))
    for op in ops:
        if not isinstance(op, dict):
            raise bad_request(wrong_type(op, "jsonpatch.Operation"))


def apply_operations(doc: Any, ops: list[dict[str, Any]]) -> Any:
    """As `apply_json_patch`, but says which operation failed. Raises JSONPatchError.
    Upstream: `jsonpatch.Patch.Apply`.
    """
    patching = PatchedDocument(doc, sent=is_as_sent(ops))
    for op in ops:
        kind = op.get("op")
        kind = kind if isinstance(kind, str) else "unknown"
        if kind not in _OPERATIONS:
            raise JSONPatchError(f"Unexpected kind: {kind}")
        _OPERATIONS[kind](patching, op)
    return patching.result()


def _path(op: dict[str, Any], *, told: bool = True) -> str:
    """Where. Raises JSONPatchError, which says why if it is `told`."""
    path = op.get("path")
    if isinstance(path, str):
        return path
    why = "missing value"
    if told and path is None:
        why = "operation missing path field: missing value"
    elif told:
        why = wrong_type(path, "string")
    raise JSONPatchError(f"{op['op']} operation failed to decode path: {why}")


def _from(op: dict[str, Any]) -> str:
    source = op.get("from")
    if isinstance(source, str):
        return source
    why = "operation, missing from field: missing value"
    if source is not None:
        why = wrong_type(source, "string")
    raise JSONPatchError(f"{op['op']} operation failed to decode from: {why}")


def _keys(path: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


@contextmanager
def _told(beginning: str, missing: str = "") -> Iterator[None]:
    """What goes wrong here is said after these words, and that there is no such place
    after those.
    """
    try:
        yield
    except ValueError as error:
        raise JSONPatchError(f"{beginning}: {error}") from None
    except MissingPathError:
        raise JSONPatchError(f"{missing}: missing value") from None


def _insert(patching: PatchedDocument, path: list[str], value: Any) -> None:
    container = patching.container(path)
    key = path[-1]
    if isinstance(container, dict):
        container[key] = value
    elif key == "-":
        container.append(value)
    else:
        try:
            at = atoi(key)
        except ValueError as error:
            why = f"value was not a proper array index: '{key}': {error}"
            raise ValueError(why) from None
        container.insert(place(at, len(container) + 1), value)


def _delete(patching: PatchedDocument, path: list[str]) -> None:
    container = patching.container(path)
    key = path[-1]
    if isinstance(container, list):
        del container[index_of(key, len(container))]
    elif key in container:
        del container[key]
    else:
        raise ValueError(f"Unable to remove nonexistent key: {key}: missing value")


def _add(patching: PatchedDocument, op: dict[str, Any]) -> None:
    path = _path(op, told=False)
    with _told(
        f"error in add for path: '{path}'",
        f'add operation does not apply: doc is missing path: "{path}"',
    ):
        _insert(patching, _keys(path), op.get("value"))


def _remove(patching: PatchedDocument, op: dict[str, Any]) -> None:
    path = _path(op, told=False)
    with _told(
        f"error in remove for path: '{path}'",
        f'remove operation does not apply: doc is missing path: "{path}"',
    ):
        _delete(patching, _keys(path))


def _replace(patching: PatchedDocument, op: dict[str, Any]) -> None:
    path, value = _path(op), op.get("value")
    if not path:
        if not isinstance(value, (dict, list)):
            why = "replace operation value must be object or array: %!w(<nil>)"
            raise JSONPatchError(why)
        patching.replace_all(value)
        return
    keys = _keys(path)
    try:
        container = patching.container(keys)
        at = keys[-1]
        container[
            at if isinstance(container, dict) else index_of(at, len(container))
        ] = value
    except (MissingPathError, ValueError) as error:
        missing = "key" if isinstance(error, ValueError) else "path"
        raise JSONPatchError(
            f"replace operation does not apply: doc is missing {missing}: {path}:"
            " missing value"
        ) from None


def _move(patching: PatchedDocument, op: dict[str, Any]) -> None:
    source = _from(op)
    keys = _keys(source)
    with _told(
        f"error in move for path: '{keys[-1] if keys else ''}'",
        f"move operation does not apply: doc is missing from path: {source}",
    ):
        value = patching.look_up(keys)
        _delete(patching, keys)
    path = _path(op)
    with _told(
        f"error in move for path: '{path}'",
        f"move operation does not apply: doc is missing destination path: {path}",
    ):
        _insert(patching, _keys(path), value)


def _copy(patching: PatchedDocument, op: dict[str, Any]) -> None:
    source = _from(op)
    with _told(
        f"error in copy for from: '{source}'",
        f"copy operation does not apply: doc is missing from path: {source}",
    ):
        patching.look_up(_keys(source))
    path = _path(op, told=False)
    with _told(
        "error while adding value during copy",
        f"copy operation does not apply: doc is missing destination path: {path}",
    ):
        patching.container(_keys(path))  # looked into before the copy is made
        copy = patching.copy_of(patching.look_up(_keys(source)))
        _insert(patching, _keys(path), copy)


def _test(patching: PatchedDocument, op: dict[str, Any]) -> None:
    path = _path(op)
    with _told(
        f"error in test for path: '{path}'",
        f"test operation does not apply: is missing path: {path}",
    ):
        found = patching.take_apart(_keys(path) if path else None)
    if not _same(found, op.get("value")):
        raise FailedTestError(f"testing value {path} failed: test failed")


def _same(a: Any, b: Any) -> bool:
    """Equal as JSON: unlike in Python, `true` is not 1 and `1` is not 1.0. Raises
    PanicError for a null in a list that gets as far as being compared.
    """
    if isinstance(a, dict):
        if not isinstance(b, dict) or a.keys() != b.keys():
            return False
        return all(
            b[key] is None if item is None else _same(item, b[key])
            for key, item in a.items()
        )
    if isinstance(a, list):
        if not isinstance(b, list) or len(a) != len(b):
            return False
        return all(itertools.starmap(_same_items, zip(a, b, strict=True)))
    if is_as_sent(a) or is_as_sent(b):
        return same_text(a, b)
    return type(a) is type(b) and bool(a == b)


def _same_items(a: Any, b: Any) -> bool:
    if a is None or b is None:
        raise PanicError("invalid memory address or nil pointer dereference")
    return _same(a, b)


_OPERATIONS = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}
