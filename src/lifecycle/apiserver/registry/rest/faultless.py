"""What was found without fault is not looked through again.

What is word for word the same has the same faults. So who says again in which nothing
was found is believed. Only that is remembered: whoever made a mistake, and makes it
again, is told anew, with all paths and values.

Upstream has no such thing: `pkg/apis/core/validation/validation.go` looks at each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from lifecycle.api.known_words import KnownWords

T = TypeVar("T")


class Faultless:
    """The words in which one question found nothing. The question must depend on the
    words alone.
    """

    def __init__(self) -> None:
        self._known: KnownWords[bool] = KnownWords()

    def find(self, words: bytes, look: Callable[[], list[T]]) -> list[T]:
        """What `look` finds; nothing, without looking, if it found nothing before. No
        words: it has to look.
        """
        key = self._known.key(words)
        if self._known.get(key):
            return []
        found = look()
        if not found:
            self._known.put(key, True)
        return found
