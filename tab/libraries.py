"""The libraries that go along: those of which the Python part is enough.

What is compiled stays behind. `yaml` does in Python what it would do faster in C; `jwt`
signs with a keyed hash and leaves the rest to `cryptography`, which a page does not
have. `tzdata` says what time it is in the zone of a CronJob: a page has no machine that
would know.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

LIBRARIES = ("click", "dns", "jwt", "rich", "tzdata", "yaml")
TESTING = ("_pytest", "iniconfig", "packaging", "pluggy", "py", "pygments", "pytest", "sortedcontainers")
"""For the tests alone, which run the rooms with the same files."""

LICENCES = {
    "click": "click",
    "dns": "dnspython",
    "jwt": "pyjwt",
    "rich": "rich",
    "tzdata": "tzdata",
    "yaml": "pyyaml",
    "python": "typing_extensions",
    "pyodide": "hypothesis",
}
"""What a page is handed, and the distribution that has its licence's text. Python's and Pyodide's come without theirs: the
same texts (Python Software Foundation, Mozilla 2.0) are those of two distributions that are here."""

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


def licence_files() -> Iterator[tuple[str, Path]]:
    """The licence of each thing that is handed on, and where its text is. Raises LookupError if a distribution has none."""
    for what, name in LICENCES.items():
        ours = distribution(name)
        texts = [
            file for file in ours.files or () if file.parent.name == "licenses" and file.stem.startswith("LICENSE")
        ]
        if not texts:
            raise LookupError(f"the distribution {name} comes without its licence")
        yield f"licenses/{what}.txt", Path(str(ours.locate_file(texts[0])))
