"""The standard library for a page, with what it uses compiled.

Runs inside WebAssembly when the archives are made. Pyodide's archive has sources only,
so that each start of a page would compile all that it imports; and all of it compiled
would be twice as much to load. What a tab can do nothing with stays out.
"""

from __future__ import annotations

import py_compile
import sys
import tempfile
import zipfile
from pathlib import Path

NEEDS_A_MACHINE = ("_pyrepl", "ftplib", "imaplib", "multiprocessing", "poplib", "smtplib", "wsgiref", "xmlrpc")
"""Processes, a terminal, connections."""

MODE = py_compile.PycInvalidationMode.UNCHECKED_HASH


def compile_used(archive: str, out: str) -> None:
    """Copy the archive; modules that have been imported from it by now go in compiled. The same input gives the same bytes."""
    used = {getattr(module, "__file__", None) for module in sys.modules.values()}
    with zipfile.ZipFile(archive) as sources, zipfile.ZipFile(out, "w") as target:
        for member in sources.infolist():
            if member.filename.partition("/")[0].removesuffix(".py") in NEEDS_A_MACHINE:
                continue
            place = f"{archive}/{member.filename}"
            name, content = member.filename, sources.read(member)
            if place in used:
                name, content = name + "c", compiled(content, place)
            target.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 9)


def compiled(source: bytes, place: str) -> bytes:
    """A module as Python keeps it, for a module that is at `place`. Raises py_compile.PyCompileError."""
    with tempfile.TemporaryDirectory() as folder:
        draft, done = Path(folder) / "draft.py", Path(folder) / "done.pyc"
        draft.write_bytes(source)
        py_compile.compile(str(draft), str(done), dfile=place, doraise=True, invalidation_mode=MODE)
        return done.read_bytes()
