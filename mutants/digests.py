"""Whether a test file asks what it asked when it was measured.

What a table asks does not stand in its test, but in the agreement that the test calls; and what a claim's check asks, in
the check. So these count as parts of the test.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path


def digest(file: Path, source: Path, asking: str = "") -> str:
    """Of a test file with the `conftest.py` files beside and above it, and with the modules of the package `asking` (below
    `source`) that it imports, or that these import.
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
    names = _names(ast.parse(file.read_text()))
    wanted = (name for name in names if name == asking or name.startswith(f"{asking}."))
    return tuple(dict.fromkeys(module for name in wanted for module in _modules(source.joinpath(*name.split(".")))))


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
