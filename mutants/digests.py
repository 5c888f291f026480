"""Whether a test file asks what it asked when it was measured.

What a table asks does not stand in its test, but in the agreement that the test calls; and what a claim's check asks, in
the check; and how it is asked, often in what tests share. So these count as parts of the test.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

HELPERS = "tests"
"""The package of what tests share; its folder stands beside the source."""


def digest(file: Path, source: Path, asking: str = "") -> str:
    """Of a test file with the `conftest.py` files beside and above it. If `asking` is a package below `source`, also with its
    modules that the file imports, with what tests share of which it makes use, and with whatever of both these import.
    """
    above = [folder / "conftest.py" for folder in file.parents]
    parts = [file, *above, *(_closure(file, source, asking) if asking else ())]
    return hashlib.sha256(b"".join(part.read_bytes() for part in parts if part.exists())).hexdigest()


def _closure(file: Path, source: Path, asking: str) -> list[Path]:
    """In order of their names."""
    found: set[Path] = set()
    left = [file]
    while left:
        new = set(_imported(left.pop(), source, asking)) - found
        found |= new
        left += new
    return sorted(found)


@cache
def _imported(file: Path, source: Path, asking: str) -> tuple[Path, ...]:
    names = list(_names(ast.parse(file.read_text())))
    below = {asking: source, HELPERS: source.parent}
    places = [
        root.joinpath(*name.split("."))
        for package, root in below.items()
        for name in names
        if name == package or name.startswith(f"{package}.")
    ]
    return tuple(dict.fromkeys(module for place in places for module in _modules(place)))


def _names(tree: ast.Module) -> Iterator[str]:
    """What is imported, whether it is a module or stands in one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


def _modules(path: Path) -> Iterable[Path]:
    """A module; or all of a package, as far as it holds no other ones: somebody imports it to look for what is in it."""
    if path.with_suffix(".py").exists():
        return [path.with_suffix(".py")]
    nested = any((each / "__init__.py").exists() for each in path.glob("*/"))
    return [] if nested else sorted(path.glob("*.py"))
