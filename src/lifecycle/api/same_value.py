"""Whether two JSON values are the same to Go.

Python takes `True` for 1, so `==` does not see when the one becomes the other. That
matters wherever nothing else says what a value is: in the fields of a custom resource
that its schema knows nothing of.

Upstream: `apimachinery/pkg/api/equality` (`Semantic.DeepEqual`),
`structured-merge-diff/value/equals.go`, which takes 1 and 1.0 for the same, v6.
"""

from __future__ import annotations

from typing import Any


def same_value(one: Any, other: Any) -> bool:
    """Equal, and true or false in the same places."""
    return one is other or (one == other and _same_kinds(one, other))


def _same_kinds(one: Any, other: Any) -> bool:
    """Of two values that are equal to Python."""
    if isinstance(one, dict):
        return all(_same_kinds(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return all(map(_same_kinds, one, other))
    return isinstance(one, bool) == isinstance(other, bool)
