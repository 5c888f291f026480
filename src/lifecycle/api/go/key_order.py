"""Maps in the order of their keys, as Go's `encoding/json` and its protobuf write them.

A client chooses how many keys there are and in which order they come. To sort two
hundred thousand of them in one go takes a tenth of a second, for which nobody else has
the interpreter; so many are sorted in portions, which are then merged one key after the
other.

Upstream: Go's `encoding/json` (`mapEncoder.encode`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from heapq import merge
from itertools import islice
from typing import TypeVar

T = TypeVar("T")

AT_ONCE = 10_000
"""Keys that are sorted in one go: a few milliseconds."""


def in_key_order(mapping: dict[str, T]) -> dict[str, T]:
    """The same map, its keys sorted."""
    return {key: mapping[key] for key in sorted_keys(mapping)}


def sorted_keys(keys: Collection[str]) -> Iterable[str]:
    """What `sorted` gives."""
    if len(keys) <= AT_ONCE:
        return sorted(keys)
    rest = iter(keys)
    return merge(*iter(lambda: sorted(islice(rest, AT_ONCE)), []))
