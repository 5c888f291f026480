"""Text in columns, as Go's tab writer sets it for kubectl.

Upstream: `cli-runtime/pkg/printers/tabwriter.go` (`GetNewTabWriter`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.kubectl.printing.tab_writer import tabulated


def align(rows: Sequence[Sequence[str]], remembered: list[int] | None = None) -> str:
    """Columns three apart and at least six wide, or as wide as they were before;
    nothing is added after the last. What stands in a cell and is a tab itself makes two
    cells of it, as in the real kubectl.
    """
    text = "".join("\t".join(row) + "\n" for row in rows)
    widths = [] if remembered is None else remembered
    return tabulated(text, least=6, padding=3, remembered=widths)
