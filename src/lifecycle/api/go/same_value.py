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
    if one is other or one != other:
        return one is other
    pending = [(one, other)]
    while pending:
        mine, theirs = pending.pop()
        if isinstance(mine, dict):
            pending += [(value, theirs[key]) for key, value in mine.items()]
        elif isinstance(mine, list):
            pending += zip(mine, theirs, strict=True)
        elif isinstance(mine, bool) != isinstance(theirs, bool):
            return False
    return True
