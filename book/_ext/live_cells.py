"""Cells that run in the page: a button, and what it loads.

Each page with code gets a description of its cells and a script that does nothing until
its reader presses *Run this page here*. When the site is written, Python for
WebAssembly, the package and the recordings are put beside it (`tab/`), in a folder
named after its content, so that a browser may keep it for ever.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

import nbformat

CHECKOUT = Path(__file__).resolve().parents[2]
FOLDER = "live"
KEPT = CHECKOUT / "_build" / "tab"
"""Made once, and again when one of its sources has changed."""

WORDS = {
    "region": "Run this page",
    "begin": "Run this page here",
    "again": "Try again",
    "loading": "Loading Python and the book's Kubernetes",
    "ready": "Ready. Every cell has a Run button now; it runs those before it first.",
    "running": "Running …",
    "done": "Done in",
    "all": "Run all cells",
    "restart": "Start afresh",
    "run": "Run",
    "edit": "Edit",
    "editor": "The cell's code; Shift+Enter runs it",
    "stop": "Stop",
    "stopped": "Stopped. What the cells had made is gone; the next run begins afresh.",
    "failed": "That did not work:",
    "same": "The same as recorded.",
    "other": "Not the same as recorded: the lines that differ are marked.",
    "file": (
        "A page opened from a file may not load Python. Serve the site (make serve) and"
        " open it there; to read it needs nothing."
    ),
    "old": "This browser has no WebAssembly, so cells cannot run here; all else reads.",
}

NEEDS_A_MACHINE = (
    "This page's cells need a machine (sockets, processes or compiled libraries), so"
    " they cannot run in a browser; run them from a checkout."
)

_FENCE = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_OPTIONS = re.compile(r"\A(?:---\n(.*?)^---\n|((?::[^\n]*\n)+)\n?)", re.DOTALL | re.M)
_NEEDS_A_MACHINE = re.compile(
    r"^\s*(?:from|import) (?:subprocess|socket|kubernetes|aiohttp|cryptography)\b"
    r"|lifecycle\.cluster\.(?:linux|packet_laboratory|one_node)"
    r"|lifecycle\.up\(|lifecycle\.cni\b|webhook_server|outside_services|lookup_server",
    re.MULTILINE,
)


class Cell(NamedTuple):
    """`removed`: not shown on the page. `place`: among those that are."""

    source: str
    removed: bool


def cells_of(path: Path) -> list[Cell]:
    """The code of a page or of a lab, in order."""
    if path.suffix == ".ipynb":
        notebook = nbformat.read(path, as_version=4)
        return [
            Cell(cell.source, "remove-cell" in cell.metadata.get("tags", ()))
            for cell in notebook.cells
            if cell.cell_type == "code"
        ]
    cells = []
    for body in _FENCE.findall(path.read_text()):
        options = _OPTIONS.match(body)
        said = options[0] if options else ""
        cells.append(Cell(body[len(said) :].rstrip("\n"), "remove-cell" in said))
    return cells


def can_run(cells: list[Cell]) -> bool:
    """Whether a page's cells ask for nothing that a tab lacks: no machine, no socket.
    Pictures are drawn by a library that has no build for it; such a cell says so, and
    its recorded picture stays.
    """
    return bool(cells) and not any(
        _NEEDS_A_MACHINE.search(cell.source) for cell in cells
    )


def described(cells: list[Cell], base: str, files: dict[str, int]) -> str:
    """What the script of a page reads, as JSON that may stand in HTML."""
    shown = 0
    told = []
    for cell in cells:
        told.append({"source": cell.source, "place": None if cell.removed else shown})
        shown += not cell.removed
    why = "" if can_run(cells) else NEEDS_A_MACHINE
    page = {"cells": told, "base": base, "files": files, "words": WORDS, "why": why}
    return json.dumps(page).replace("</", "<\\/")


def tab_folder() -> Path:
    """The folder that pages load from, made if its sources have changed."""
    sys.path.insert(0, str(CHECKOUT))
    from tab.bundle import fill, sources_digest

    folder = KEPT / sources_digest()
    if not (folder / "complete").exists():
        shutil.rmtree(KEPT, ignore_errors=True)
        fill(folder)
        (folder / "complete").touch()
    return folder


def make_tab(app: Any) -> None:
    """Before pages are written, which several processes do at once."""
    if app.builder.name == "html":
        app.live_cells_tab = tab_folder()


def address(folder: Path) -> str:
    """The name of its copy in the site."""
    return f"tab-{folder.name}"


def add_live_cells(
    app: Any, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Give a page its description and the script, if its cells can run."""
    folder: Path | None = getattr(app, "live_cells_tab", None)
    if folder is None or doctree is None:
        return
    cells = cells_of(Path(app.env.doc2path(page)))
    if not cells:
        return
    files = {
        file.name: file.stat().st_size
        for file in sorted(folder.iterdir())
        if file.suffix in (".xz", ".wasm", ".zip")
    }
    body = described(cells, f"../{address(folder)}/", files)
    app.add_js_file(None, body=body, id="live-page", type="application/json")
    app.add_js_file(f"{FOLDER}/live.mjs", type="module")
    app.add_css_file(f"{FOLDER}/live.css")


def copy_tab(app: Any, exception: Exception | None) -> None:
    """Put what pages load beside them."""
    folder: Path | None = getattr(app, "live_cells_tab", None)
    if exception is not None or folder is None:
        return
    static = Path(app.outdir) / "_static"
    for older in static.glob("tab-*"):  # of a build before the sources changed
        if older.name != address(folder):
            shutil.rmtree(older)
    shutil.copytree(
        folder,
        static / address(folder),
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("complete"),
    )


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", make_tab)
    app.connect("html-page-context", add_live_cells)
    app.connect("build-finished", copy_tab)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
