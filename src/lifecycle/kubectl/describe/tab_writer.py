"""Text in columns: cells end with tabs, and a column is as wide as its widest cell
needs – as far as the lines that have a cell there follow one another.

That is why `Name:` and `Namespace:` stand in one line-up with everything below until a
line without a tab comes. What stands after the last tab of a line belongs to no column.

Upstream: Go's `text/tabwriter` (`Writer.format`, `writeLines`), as
`kubectl/pkg/describe/describe.go` (`tabbedString`) sets it up at v1.36: no least width,
two spaces between columns. Left out: its flags, form feeds, vertical tabs.
"""

from __future__ import annotations

from collections.abc import Sequence

PADDING = 2


def tabulated(text: str) -> str:
    """The text with its tabs turned into spaces."""
    lines = [line.split("\t") for line in text.split("\n")]
    widths: list[list[int]] = [[] for _ in lines]
    _set_widths(lines, widths, 0, len(lines), 0)
    return "\n".join(
        "".join(cell.ljust(width) for cell, width in zip(cells, widths[i])) + cells[-1]
        for i, cells in enumerate(lines)
    )


def _set_widths(
    lines: Sequence[Sequence[str]],
    widths: list[list[int]],
    begin: int,
    end: int,
    column: int,
) -> None:
    """Append the width of a column to the lines that have it, block by block, and then
    what is to the right of each block.
    """
    at = begin
    while at < end:
        if len(lines[at]) - 1 <= column:
            at += 1
            continue
        block = at
        while at < end and len(lines[at]) - 1 > column:
            at += 1
        width = PADDING + max(len(lines[i][column]) for i in range(block, at))
        for i in range(block, at):
            widths[i].append(width)
        _set_widths(lines, widths, block, at, column + 1)
