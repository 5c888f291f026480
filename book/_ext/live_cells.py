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
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from live_words import ABSENT, KEPT, LIVE, STAYS, said, translator

CHECKOUT = Path(__file__).resolve().parents[2]
FOLDER = "live"
MADE = CHECKOUT / "_build" / "tab"
"""Made once, and again when one of its sources has changed."""


_FENCE = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_OPTIONS = re.compile(r"\A(?:---\n(.*?)^---\n|((?::[^\n]*\n)+)\n?)", re.DOTALL | re.M)


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


def described(
    cells: list[Cell],
    base: str,
    files: dict[str, int],
    say: Callable[[str], str] = str,
) -> str:
    """What the script of a page reads, as JSON that may stand in HTML; words are
    translated by `say`.
    """
    shown = 0
    told = []
    for cell in cells:
        told.append({"source": cell.source, "place": None if cell.removed else shown})
        shown += not cell.removed
    words = said({**LIVE, **KEPT, **ABSENT, "stays": STAYS}, say)
    page = {"cells": told, "base": base, "files": files, "words": words}
    return json.dumps(page).replace("</", "<\\/")


def tab_folder() -> Path:
    """The folder that pages load from, made if its sources have changed."""
    sys.path.insert(0, str(CHECKOUT))
    from tab.bundle import fill, sources_digest

    folder = MADE / sources_digest()
    if not (folder / "complete").exists():
        shutil.rmtree(MADE, ignore_errors=True)
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
    """Give a page its description and the scripts, if it has cells."""
    folder: Path | None = getattr(app, "live_cells_tab", None)
    if folder is None or doctree is None:
        return
    cells = cells_of(Path(app.env.doc2path(page)))
    if not cells:
        return
    files = {
        file.name: file.stat().st_size
        for file in sorted(folder.iterdir())
        if file.suffix in (".zst", ".wasm", ".zip")
    }
    body = described(cells, f"../{address(folder)}/", files, translator(app))
    app.add_js_file(None, body=body, id="live-page", type="application/json")
    app.add_js_file(f"{FOLDER}/from-a-file.js", loading_method="defer")
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
