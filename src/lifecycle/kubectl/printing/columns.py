"""Text in columns, as Go's tab writer sets it for kubectl.

Upstream: `cli-runtime/pkg/printers/tabwriter.go` (`GetNewTabWriter`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest


def align(rows: Sequence[Sequence[str]], remembered: list[int] | None = None) -> str:
    """Columns three apart and at least six wide, or as wide as they were before;
    nothing is added after the last.
    """
    widths = (
        [max(6, *(len(row[i]) + 3 for row in rows)) for i in range(len(rows[0]) - 1)]
        if rows
        else []
    )
    if remembered is not None:
        widths = [max(pair) for pair in zip_longest(widths, remembered, fillvalue=0)]
        remembered[:] = widths
    return "".join(
        "".join(cell.ljust(width) for cell, width in zip(row, widths)) + row[-1] + "\n"
        for row in rows
    )
