"""Hypothesis for a tab: its core is compiled, and its makers compile it for Pyodide, too."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from tab.pyodide_files import cache_folder

ABI = "pyemscripten_2026_0_wasm32"
"""Of the pinned Pyodide; `pyodide-lock.json` says the year."""


def wheel() -> Path:
    """The wheel of the version that is installed here, fetched when first needed. Raises CalledProcessError."""
    name = f"hypothesis-{version('hypothesis')}-cp314-cp314-{ABI}.whl"
    place = cache_folder() / name
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as folder:
            which = ["--platform", ABI, "--python-version", "3.14", "--implementation", "cp", "--abi", "cp314"]
            what = ["--no-deps", "--only-binary=:all:", f"hypothesis=={version('hypothesis')}", "--dest", folder]
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", *which, *what], check=True)
            (Path(folder) / name).replace(place)  # whole, whoever else is fetching
    return place


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Where each of its files belongs, unpacked into a folder."""
    with zipfile.ZipFile(wheel()) as archive:
        archive.extractall(folder)
        yield from ((name, folder / name) for name in archive.namelist() if not name.endswith("/"))
