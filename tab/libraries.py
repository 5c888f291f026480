"""The libraries that go along: those of which the Python part is enough.

What is compiled stays behind. `yaml` does in Python what it would do faster in C; `jwt`
signs with a keyed hash and leaves the rest to `cryptography`, which a page does not
have.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

LIBRARIES = ("click", "dns", "jwt", "rich", "yaml")
TESTING = ("_pytest", "iniconfig", "packaging", "pluggy", "py", "pygments", "pytest")
"""For the tests alone, which run the rooms with the same files."""

LEFT_OUT = {"__pycache__", "tests"}
"""Folders that nobody asks for in a page."""

_COMPILED = {".so", ".pyd", ".dylib"}


def files_of(library: str) -> Iterator[tuple[str, Path]]:
    """Where each file of a library belongs, and where it is. Raises ModuleNotFoundError."""
    spec = importlib.util.find_spec(library)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"the library {library} is not installed")
    origin = Path(spec.origin)
    if not spec.submodule_search_locations:
        yield origin.name, origin
        return
    top = Path(*library.split("."))
    yield from tree(origin.parent, top)


def tree(folder: Path, top: Path) -> Iterator[tuple[str, Path]]:
    """The files of a package's folder that can be used without a compiler's work."""
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder)
        if file.is_file() and file.suffix not in {*_COMPILED, ".pyc", ".pyi"} and not LEFT_OUT & set(inside.parts):
            yield str(top / inside), file
