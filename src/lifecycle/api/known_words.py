"""What was worked out for an object, found again by the object's words.

The pods of a Deployment are read from ten thousand bodies that differ in a name. What
depends on all the rest alone need be worked out once. To write an object down as JSON
and to take the digest of that takes a fiftieth of the time that it takes to look at
each field; and what is word for word the same has the same digest, nothing else has.

Only the digest is kept: the words may be a secret's, or of something long deleted.

Upstream has no such thing: it decodes, checks and compares each object anew.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Generic, TypeVar

from lifecycle.api.bounded_cache import BoundedCache

ENTRIES = 1024
LONGEST = 16 << 10
"""Bytes of words that are worth it. Large objects are rarely the same."""

Value = TypeVar("Value")


class KnownWords(Generic[Value]):
    """At most `ENTRIES` values, none of which changes."""

    def __init__(self) -> None:
        self._values: BoundedCache[bytes, Value] = BoundedCache(ENTRIES)

    def key(self, words: bytes) -> bytes:
        """By which `get` and `put` know the words; empty for long ones and for none."""
        if not words or len(words) > LONGEST:
            return b""
        return blake2b(words, digest_size=32).digest()

    def get(self, key: bytes) -> Value | None:
        """The value, if one is known."""
        return self._values.get(key)

    def put(self, key: bytes, value: Value) -> None:
        """Remember it."""
        if key:
            self._values.put(key, value)
