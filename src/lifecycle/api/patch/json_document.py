"""A document that a JSON patch changes, operation by operation.

A document copied for each operation would cost the product of both, so all operations
work on one private copy, of which only what is changed is copied. And each `copy` can
double the document, so the bytes of copies are counted.

Upstream: `gopkg.in/evanphx/json-patch.v4/patch.go` (`partialDoc`, `partialArray`,
`findObject`, `AccumulatedCopySizeLimit`), `apiserver/pkg/server/config.go`
(`JSONPatchMaxCopyBytes`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.go.json.as_sent import as_sent, is_as_sent, text_of
from lifecycle.api.go.json.encode import html_escape
from lifecycle.api.go.key_order import in_key_order
from lifecycle.api.go.strconv import atoi

MAX_COPIED = 3 << 20
"""Bytes of JSON that all `copy` operations of a patch together may add."""


class JSONPatchError(Exception):
    """An operation that cannot be done; the text says which, and why."""


class FailedTestError(JSONPatchError):
    """A `test` found another value. Upstream: `ErrTestFailed`."""


class MissingPathError(Exception):
    """There is nothing that could hold the last key of a path."""


def index_of(key: str, size: int) -> int:
    """A place in a list. Raises ValueError."""
    return place(atoi(key), size)


def place(at: int, size: int) -> int:
    """The same of a number. Raises ValueError."""
    if not -size <= at < size:
        raise ValueError(
            f"Unable to access invalid index: {at}: invalid index referenced"
        )
    return at + size if at < 0 else at


def _get(container: Any, key: str) -> Any:
    if isinstance(container, dict):
        return container.get(key)
    return container[index_of(key, len(container))]


class PatchedDocument:
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
        Raises `MissingPathError` if there is none.
        """
        if not path:
            raise MissingPathError
        inner = self._doc = self._owned(self._doc)
        for key in path[:-1]:
            outer = inner
            try:
                inner = self._owned(_get(outer, key))
            except ValueError:  # no place in a list
                raise MissingPathError from None
            outer[key if isinstance(outer, dict) else index_of(key, len(outer))] = inner
        return inner

    def _owned(self, container: Any) -> Any:
        if not isinstance(container, (dict, list)):
            raise MissingPathError
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

    def take_apart(self, path: list[str] | None) -> Any:
        """What is at a path (the document for none), all of it looked into."""
        if path is None:
            self._doc = self._taken_apart(self._doc)
            return self._doc
        container = self.container(path)
        value = self._taken_apart(_get(container, path[-1]))
        if value is not None:
            key: Any = path[-1]
            if isinstance(container, list):
                key = index_of(key, len(container))
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
        """A value once more, counted. A copy of null costs nothing. Raises
        JSONPatchError if that was too much.
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
            why = "error while performing deep copy: exceeded max depth"
            raise JSONPatchError(why) from None
        self._count(html_escape(text.decode()))
        return fast_json.loads(text)

    def _count(self, text: str) -> None:
        self._copied += len(text.encode())
        if self._copied > MAX_COPIED:
            raise JSONPatchError(
                "Unable to complete the copy, the accumulated size increase of copy is"
                f" {self._copied}, exceeding the limit {MAX_COPIED}"
            )
