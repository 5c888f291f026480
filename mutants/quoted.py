"""Which lines of `src` the book shows: every `literalinclude` of a chapter."""

from __future__ import annotations

import ast
import re
from pathlib import Path

QUOTE = re.compile(r"```\{literalinclude\} (?P<file>\S+)\n(?P<options>(?::[^\n]*\n)*)")


def quoted_lines(book: Path, source: Path) -> dict[Path, frozenset[int] | None]:
    """Per quoted module of `source` the quoted lines.

    Raises:
        LookupError: a chapter quotes a name or a line that its module does not have.
    """
    lines: dict[Path, set[int]] = {}
    for page in sorted(book.rglob("*.md")):
        for quote in QUOTE.finditer(page.read_text()):
            module = (page.parent / quote["file"]).resolve()
            if module.suffix == ".py" and module.is_relative_to(source):
                lines.setdefault(module, set()).update(lines_of(module, quote["options"]))
    return {module: frozenset(numbers) for module, numbers in lines.items()}


def lines_of(module: Path, options: str) -> range:
    """The lines that one quotation shows, as Sphinx picks them. Raises LookupError as `quoted_lines` does."""
    text = module.read_text().splitlines()
    first, last = 1, len(text)
    if name := _option(options, "pyobject"):
        definition = _definition(module, name)
        first = min([definition.lineno, *(each.lineno for each in definition.decorator_list)])
        last = definition.end_lineno or definition.lineno
    if span := re.fullmatch(r"(\d+)-(\d+)", _option(options, "lines")):
        first, last = first + int(span[1]) - 1, first + int(span[2]) - 1
    if start := _option(options, "start-at"):
        first = _line_with(start, range(first, last + 1), text)
    if end := _option(options, "end-before"):
        last = _line_with(end, range(first + 1, last + 1), text) - 1
    return range(first, last + 1)


def _option(options: str, name: str) -> str:
    """An option's value without its quotes; empty if it is not set."""
    value = re.search(rf"^:{name}: (.*)$", options, re.MULTILINE)
    return value[1].strip().strip("'") if value else ""


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _definition(module: Path, name: str) -> Definition:
    body: list[ast.stmt] = ast.parse(module.read_text()).body
    definition: Definition | None = None
    for part in name.split("."):
        definition = next((node for node in body if isinstance(node, Definition) and node.name == part), None)
        if definition is None:
            raise LookupError(f"{module} has no {name}")
        body = definition.body
    assert definition is not None
    return definition


def _line_with(part: str, numbers: range, text: list[str]) -> int:
    line = next((number for number in numbers if part in text[number - 1]), None)
    if line is None:
        raise LookupError(f"no line from {numbers.start} to {numbers.stop - 1} has {part!r}")
    return line
