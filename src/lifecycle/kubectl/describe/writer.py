"""What describers write to: lines that are indented by levels, with tabs between
columns.

Upstream: `kubectl/pkg/describe/describe.go` (`PrefixWriter`, `nestedPrefixWriter`,
`tabbedString`), `cli-runtime/pkg/printers/terminal.go` (`WriteEscaped`), v1.36. Left
out: `Flush`, which does nothing there either.
"""

from __future__ import annotations

from lifecycle.api.go.format import go_value
from lifecycle.kubectl.printing.tab_writer import tabulated
from lifecycle.kubectl.printing.terminal import escaped


class PrefixWriter:
    """Takes text piece by piece. `indent`: what is written is so many levels deeper
    than it says.
    """

    def __init__(self, indent: int = 0, parts: list[str] | None = None) -> None:
        self._indent = indent
        self._parts: list[str] = [] if parts is None else parts

    def nested(self, indent: int) -> PrefixWriter:
        """A writer into the same text, some levels deeper."""
        return PrefixWriter(self._indent + indent, self._parts)

    def write(self, level: int, text: str) -> None:
        """Text after two spaces for each level; a line ends where the text ends it."""
        self._parts.append("  " * (level + self._indent) + text)

    def write_line(self, text: str) -> None:
        """Text that ends its line, as deep as this writer is."""
        self.write(0, text + "\n")

    def field(self, level: int, name: str, value: object = "") -> None:
        """A line `NAME:` and a value, as Go's `%v` prints it."""
        self.write(level, f"{name}:\t{go_value(value)}\n")

    def row(self, level: int, *cells: object) -> None:
        """A line of cells, as Go's `%v` prints them."""
        self.write(level, "\t".join(map(go_value, cells)) + "\n")

    def header(self, level: int, *names: str, rules: tuple[int, ...] = ()) -> None:
        """A table's first two lines: names, and a rule below each, as long as the name
        unless `rules` says how long.
        """
        lengths = rules or tuple(map(len, names))
        self.row(level, *names)
        self.row(level, *("-" * length for length in lengths))

    @property
    def plain(self) -> str:
        """What was written, tabs and all."""
        return escaped("".join(self._parts))

    @property
    def tabbed(self) -> str:
        """What was written, in columns."""
        return tabulated(self.plain)
