"""Which lines of `src` the book shows: every `literalinclude` of a chapter."""

from __future__ import annotations

import ast
import re
from pathlib import Path

QUOTE = re.compile(r"```\{literalinclude\} (?P<file>\S+)\n(?P<options>(?::[^\n]*\n)*)")


def quoted_lines(book: Path, source: Path) -> dict[Path, frozenset[int] | None]:
    """Per quoted module of `source` the quoted lines.

    Raises:
        LookupError: a chapter quotes a name that its module does not have.
    """
    lines: dict[Path, set[int]] = {}
    for page in sorted(book.rglob("*.md")):
        for quote in QUOTE.finditer(page.read_text()):
            module = (page.parent / quote["file"]).resolve()
            if module.suffix == ".py" and module.is_relative_to(source):
                lines.setdefault(module, set()).update(_lines_of(module, quote["options"]))
    return {module: frozenset(numbers) for module, numbers in lines.items()}


def _lines_of(module: Path, options: str) -> range:
    text = module.read_text()
    name = re.search(r"^:pyobject: (\S+)$", options, re.MULTILINE)
    if name is None:
        return range(1, len(text.splitlines()) + 1)
    body: list[ast.stmt] = ast.parse(text).body
    for part in name[1].split("."):
        definition = next((node for node in body if getattr(node, "name", None) == part), None)
        if definition is None:
            raise LookupError(f"{module} has no {name[1]}")
        body = getattr(definition, "body", [])
    assert definition is not None
    return range(definition.lineno, (definition.end_lineno or definition.lineno) + 1)
