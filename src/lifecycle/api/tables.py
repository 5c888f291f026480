"""Tables that travel with the package: rows of text, the columns divided by tabs.

Their first line is a comment: what the table is, and from what it was made. The
programs that make them are in the repository's `generators/`.
"""

from __future__ import annotations

from importlib.resources import files


def table_lines(package: str, name: str) -> list[str]:
    """The lines of a table beside a package's modules, without its comments. Raises
    FileNotFoundError.
    """
    text = files(package).joinpath(name).read_text("utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]
