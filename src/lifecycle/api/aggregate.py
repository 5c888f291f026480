"""Several errors as one.

Upstream: `apimachinery/pkg/util/errors/errors.go` (`Aggregate`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence


def aggregate(errors: Sequence[str]) -> str:
    """Several errors as one text: each once, in brackets if there are several; empty if
    there are none. Upstream: `Aggregate.Error`.
    """
    unique = list(dict.fromkeys(errors))
    return (
        unique[0]
        if len(unique) == 1
        else "[" + ", ".join(unique) + "]"
        if unique
        else ""
    )
