"""Caches that no caller can fill with what it likes.

A server remembers what it worked out for a path, a header or a text, because they
repeat. Whoever may ask chooses them, and may choose a new one of a megabyte each time:
a limit on the number of entries alone is none on memory. Long keys are therefore worked
out anew each time; they are rare, and honest clients have none. What all keys of one
cache take is at most `entries` times `MAX_KEY` characters.

Upstream has no such caches: `apiserver/pkg/endpoints/request/requestinfo.go` parses
each path anew. The one that is like it limits both as well:
`plugin/pkg/authorizer/webhook/webhook.go` (`maxControlledAttrCacheSize`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import Concatenate, Generic, ParamSpec, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Text = TypeVar("Text", str, bytes)
Params = ParamSpec("Params")

MAX_KEY = 512
"""Characters (or bytes) of a key that is remembered, all its parts together."""


class BoundedCache(Generic[Key, Value]):
    """At most `entries` values under short keys: of at most `longest` characters. A
    full cache starts afresh.
    """

    def __init__(self, entries: int, longest: int = MAX_KEY) -> None:
        self._entries, self._longest = entries, longest
        self._values: dict[Key, Value] = {}
        self.get = self._values.get
        self.clear = self._values.clear

    def put(self, key: Key, value: Value) -> None:
        """Remember the value, unless the key is long."""
        if not is_short(key, self._longest):
            return
        if len(self._values) >= self._entries:
            self._values.clear()
        self._values[key] = value


def short_lru_cache(
    entries: int, longest: int = MAX_KEY
) -> Callable[[Callable[[Text], Value]], Callable[[Text], Value]]:
    """`functools.lru_cache` for a function of a text (or bytes): a long one is not
    remembered. `cache_clear` forgets all.

    A single request asks some hundred times whether a name or a label is well formed,
    so what stands between the caller and the answer is one comparison.
    """

    def decorate(function: Callable[[Text], Value]) -> Callable[[Text], Value]:
        remembered = lru_cache(entries)(function)

        @wraps(function)
        def short(text: Text) -> Value:
            return remembered(text) if len(text) <= longest else function(text)

        vars(short)["cache_clear"] = remembered.cache_clear
        return short

    return decorate


def short_first_cache(
    entries: int, longest: int = MAX_KEY
) -> Callable[
    [Callable[Concatenate[Text, Params], Value]],
    Callable[Concatenate[Text, Params], Value],
]:
    """The same for a function that takes more than the text. Callers do not choose the
    rest.
    """

    def decorate(
        function: Callable[Concatenate[Text, Params], Value],
    ) -> Callable[Concatenate[Text, Params], Value]:
        remembered = lru_cache(entries)(function)

        @wraps(function)
        def short(text: Text, *args: Params.args, **named: Params.kwargs) -> Value:
            if len(text) <= longest:
                return remembered(text, *args, **named)  # type: ignore[arg-type]
            return function(text, *args, **named)

        vars(short)["cache_clear"] = remembered.cache_clear
        return short

    return decorate


def short_pair_cache(
    entries: int,
) -> Callable[[Callable[[str, str], Value]], Callable[[str, str], Value]]:
    """The same for a function of two texts, such as an `apiVersion` and a kind."""

    def decorate(
        function: Callable[[str, str], Value],
    ) -> Callable[[str, str], Value]:
        remembered = lru_cache(entries)(function)

        @wraps(function)
        def short(first: str, second: str) -> Value:
            if len(first) + len(second) <= MAX_KEY:
                return remembered(first, second)
            return function(first, second)

        vars(short)["cache_clear"] = remembered.cache_clear
        return short

    return decorate


def is_short(key: object, longest: int = MAX_KEY) -> bool:
    """Whether a text, or a tuple with texts in it, has at most so many characters."""
    return _length(key) <= longest


def _length(key: object) -> int:
    if isinstance(key, str | bytes):
        return len(key)
    return sum(map(_length, key)) + len(key) if isinstance(key, tuple) else 0
