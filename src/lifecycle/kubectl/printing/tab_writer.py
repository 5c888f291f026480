"""Text in columns: cells end with tabs, and a column is as wide as its widest cell
needs – as far as the lines that have a cell there follow one another.

That is why `Name:` and `Namespace:` stand in one line-up with everything below until a
line without a tab comes. What stands after the last tab of a line belongs to no column.

A vertical tab ends a cell as a tab does. A form feed ends the line and the line-up.

Upstream: Go's `text/tabwriter` (`Writer.format`, `writeLines`), as
`kubectl/pkg/describe/describe.go` (`tabbedString`) sets it up: no least width, two
spaces between columns; and `cli-runtime/pkg/printers/tabwriter.go` (`GetNewTabWriter`),
whose columns remember how wide they were. v1.36. Left out: other flags.
"""

from __future__ import annotations

import re

_cell_ends = re.compile(r"[\t\v]")


def tabulated(
    text: str, *, least: int = 0, padding: int = 2, remembered: list[int] | None = None
) -> str:
    """The text with its tabs turned into spaces: columns at least so wide, so far
    apart. `remembered`: how wide each was before, which is noted there.
    """
    return "\n".join(
        _section(section, least, padding, remembered) for section in text.split("\f")
    )


def _section(text: str, least: int, padding: int, remembered: list[int] | None) -> str:
    lines = [_cell_ends.split(line) for line in text.split("\n")]
    widths: list[list[int]] = [[] for _ in lines]

    def set_widths(begin: int, end: int, column: int) -> None:
        """Append the width of a column to the lines that have it, block by block, and
        then what is to the right of each block.
        """
        at = begin
        while at < end:
            if len(lines[at]) - 1 <= column:
                at += 1
                continue
            block = at
            while at < end and len(lines[at]) - 1 > column:
                at += 1
            longest = max(len(lines[i][column]) for i in range(block, at))
            width = max(least, padding + longest)
            if remembered is not None:
                remembered.extend([0] * (column + 1 - len(remembered)))
                remembered[column] = width = max(width, remembered[column])
            for i in range(block, at):
                widths[i].append(width)
            set_widths(block, at, column + 1)

    set_widths(0, len(lines), 0)
    return "\n".join(
        "".join(cell.ljust(width) for cell, width in zip(cells, widths[i])) + cells[-1]
        for i, cells in enumerate(lines)
    )
