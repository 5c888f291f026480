"""JSON patch (RFC 6902): a list of operations on paths, all of them or none.

The API server's library is more lenient than the RFC here and there, and clients have
come to rely on it: `replace` of a missing key sets it, a negative index counts from the
end, `move` and `copy` of a missing key give null. A client never learns which operation
failed: the answer is always the same 422. `test` is stricter than the RFC: it compares
texts, `<` is `\\u003c` to it, and a null in a list is more than it can bear.

Whoever may patch may write a short patch that takes long: each `copy` can double the
document, and a document copied for each operation costs the product of both. So the
bytes that a patch copies are limited, and all operations work on one private copy.

Upstream: `apiserver/pkg/endpoints/handlers/patch.go` (`jsonPatcher.applyJSPatch`),
`gopkg.in/evanphx/json-patch.v4/patch.go` (`AccumulatedCopySizeLimit`),
`apiserver/pkg/server/config.go` (`JSONPatchMaxCopyBytes`), v1.36.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.go.json.as_sent import as_sent, is_as_sent, same_text, text_of
from lifecycle.api.go.json.decode import wrong_type
from lifecycle.api.go.json.encode import html_escape
from lifecycle.api.go.key_order import in_key_order
from lifecycle.api.status import PanicError, StatusError, bad_request, failure

MAX_OPERATIONS = 10000
MAX_COPIED = 3 << 20
"""Bytes of JSON that all `copy` operations of a patch together may add."""


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
    """A new document: `doc` with the operations applied in order. Changes neither
    argument, but may share parts with both. Operations that were read by `as_sent` are
    compared as they were sent.

    Raises StatusError 400 for something that is no patch, 413 for more than 10,000
    operations, 422 for an operation that fails and for more than 3 MiB of copies;
    PanicError where upstream panics.
    """
    if not isinstance(ops, list):
        raise bad_request(wrong_type(ops, "jsonpatch.Patch"))
    for op in ops:
        if not isinstance(op, dict):
            raise bad_request(wrong_type(op, "jsonpatch.Operation"))
    if len(ops) > MAX_OPERATIONS:
        message = (
            "Request entity too large: The allowed maximum operations in a JSON patch"
            f" is {MAX_OPERATIONS}, got {len(ops)}"
        )
        raise failure(413, "RequestEntityTooLarge", message)
    patching = _Patching(doc, sent=is_as_sent(ops))
    for op in ops:
        try:
            _OPERATIONS.get(op.get("op"), _unknown)(patching, op)
        except _Failed:
            raise rejected() from None
    return patching.result()


def _pointer(op: dict[str, Any], name: str = "path") -> list[str]:
    text = op.get(name)
    if not isinstance(text, str):
        raise _Failed
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


_INT = re.compile(r"[+-]?0*[0-9]{1,19}")


def _index(key: str, size: int) -> int:
    """A place in a list, as `strconv.Atoi` reads it. Raises `_Failed`."""
    if not _INT.fullmatch(key):
        raise _Failed
    at = int(key)
    if not -size <= at < size:
        raise _Failed
    return at + size if at < 0 else at


def _get(container: Any, key: str) -> Any:
    if isinstance(container, dict):
        return container.get(key)
    return container[_index(key, len(container))]


class _Patching:
    """A document on its way through the operations: each container is copied when it is
    first changed, and then changed in place.
    """

    def __init__(self, doc: Any, sent: bool = False) -> None:
        self._doc = doc
        self._sent = sent
        self._own: dict[int, Any] = {}
        """Containers that nobody else has, by `id`; the value keeps the id taken."""
        self._copied = 0

    def result(self) -> Any:
        """The document. A Go map is written in the order of its keys, and what has been
        looked into is one.
        """
        for container in self._own.values():
            if isinstance(container, dict):
                in_order = in_key_order(container)
                container.clear()
                container.update(in_order)
        doc = self._doc
        return in_key_order(doc) if isinstance(doc, dict) else doc

    def _as_printed(self, value: Any) -> Any:
        if is_as_sent(value):
            return value
        if isinstance(value, dict):
            keys = sorted(value) if id(value) in self._own else value
            return {key: self._as_printed(value[key]) for key in keys}
        return list(map(self._as_printed, value)) if isinstance(value, list) else value

    def replace_all(self, doc: Any) -> None:
        """Another document instead."""
        self._doc = doc

    def container(self, path: list[str]) -> Any:
        """The container that holds the last key of a path, to be changed in place.
        Raises `_Failed` if there is none.
        """
        if not path:
            raise _Failed
        inner = self._doc = self._owned(self._doc)
        for key in path[:-1]:
            outer, inner = inner, self._owned(_get(inner, key))
            outer[key if isinstance(outer, dict) else _index(key, len(outer))] = inner
        return inner

    def _owned(self, container: Any) -> Any:
        if not isinstance(container, (dict, list)):
            raise _Failed
        if id(container) in self._own:
            return container
        copy: Any = container.copy()
        self._own[id(copy)] = copy
        return copy

    def look_up(self, path: list[str]) -> Any:
        """What is at a path, which is not empty. To look is to take apart, which shows
        in the order of the keys.
        """
        return _get(self.container(path), path[-1])

    def take_apart(self, path: list[str]) -> Any:
        """What is at a path (the document for the empty one), all of it looked into."""
        if not path:
            self._doc = self._taken_apart(self._doc)
            return self._doc
        container = self.container(path)
        value = self._taken_apart(_get(container, path[-1]))
        if value is not None:
            key: Any = path[-1]
            if isinstance(container, list):
                key = _index(key, len(container))
            container[key] = value
        return value

    def _taken_apart(self, value: Any) -> Any:
        if isinstance(value, dict):
            value = self._owned(value)
            for key, item in value.items():
                value[key] = self._taken_apart(item)
        elif isinstance(value, list):
            value = self._owned(value)
            value[:] = map(self._taken_apart, value)
        return value

    def copy_of(self, value: Any) -> Any:
        """A value once more, counted. A copy of null costs nothing. Raises `_Failed` if
        that was too much.
        """
        if value is None:
            return None
        try:
            if self._sent:
                sent = text_of(self._as_printed(value))
                self._count(sent)
                return as_sent(sent)
            text = fast_json.dumps(self._as_printed(value))
        except fast_json.JSONEncodeError:  # deeper than any object may be
            raise _Failed from None
        self._count(html_escape(text.decode()))
        return fast_json.loads(text)

    def _count(self, text: str) -> None:
        self._copied += len(text.encode())
        if self._copied > MAX_COPIED:
            raise _Failed


def _insert(patching: _Patching, path: list[str], value: Any) -> None:
    container = patching.container(path)
    key = path[-1]
    if isinstance(container, dict):
        container[key] = value
    elif key == "-":
        container.append(value)
    else:
        container.insert(_index(key, len(container) + 1), value)


def _delete(patching: _Patching, path: list[str]) -> None:
    container = patching.container(path)
    key = path[-1]
    if isinstance(container, list):
        del container[_index(key, len(container))]
    elif key in container:
        del container[key]
    else:
        raise _Failed


def _add(patching: _Patching, op: dict[str, Any]) -> None:
    _insert(patching, _pointer(op), op.get("value"))


def _remove(patching: _Patching, op: dict[str, Any]) -> None:
    _delete(patching, _pointer(op))


def _replace(patching: _Patching, op: dict[str, Any]) -> None:
    path, value = _pointer(op), op.get("value")
    if not path:
        if not isinstance(value, (dict, list)):
            raise _Failed
        patching.replace_all(value)
        return
    container = patching.container(path)
    container[
        path[-1] if isinstance(container, dict) else _index(path[-1], len(container))
    ] = value


def _move(patching: _Patching, op: dict[str, Any]) -> None:
    source = _pointer(op, "from")
    value = patching.look_up(source)
    _delete(patching, source)
    _insert(patching, _pointer(op), value)


def _copy(patching: _Patching, op: dict[str, Any]) -> None:
    source, target = _pointer(op, "from"), _pointer(op)
    patching.look_up(source)
    patching.container(target)  # looked into as well before the copy is made
    _insert(patching, target, patching.copy_of(patching.look_up(source)))


def _unknown(patching: _Patching, op: dict[str, Any]) -> None:
    raise _Failed


def _test(patching: _Patching, op: dict[str, Any]) -> None:
    if not _same(patching.take_apart(_pointer(op)), op.get("value")):
        raise _Failed


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
