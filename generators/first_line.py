"""The first line of a generated table: what it is, and from what it was made."""

from __future__ import annotations


def provenance(what: str, sources: str, command: str) -> str:
    """One sentence for each, for a table's first line or an archive's comment."""
    return f"{what}. Made from {sources} by `python -m generators {command}`."


def first_line(what: str, sources: str, command: str) -> str:
    """A comment for the top of a table. Readers of tables skip it."""
    return f"# {provenance(what, sources, command)}\n"
