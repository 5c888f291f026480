"""Chapters quote the package and import it: what they name exists. (The build says so too, minutes later.)"""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest
from mutants.quoted import lines_of

from tests.conftest import ROOT

QUOTATION = re.compile(r"^```\{literalinclude\} (\S+)\n((?::.*\n)*)", re.M)
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", re.M | re.S)
CHAPTERS = sorted((ROOT / "book").rglob("*.md"))
LABS = sorted((ROOT / "labs").glob("*.ipynb"))


def defined(file: Path) -> set[str]:
    """Functions, classes and methods, as Sphinx names them."""
    found = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            if isinstance(node, ast.ClassDef):
                inner = (n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef))
                found |= {f"{node.name}.{each.name}" for each in inner}
    return found


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_what_a_chapter_quotes_is_there(chapter: Path) -> None:
    lost = []
    for target, options in QUOTATION.findall(chapter.read_text()):
        file = (chapter.parent / target).resolve()
        wanted = re.search(r"^:pyobject: (\S+)$", options, re.M)
        if not file.is_file() or (wanted and wanted[1] not in defined(file)):
            lost.append((target, wanted and wanted[1]))
    assert lost == []


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_what_a_chapter_imports_is_there(chapter: Path) -> None:
    lost = []
    for cell in CELL.findall(chapter.read_text()):
        code = re.sub(r"\A(---\n.*?^---\n|(:.*\n)+)", "", cell, flags=re.M | re.S)  # the cell's own settings
        for node in ast.walk(ast.parse(re.sub(r"^[%!].*$", "", code, flags=re.M))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "lifecycle":
                module = importlib.import_module(str(node.module))
                lost += [
                    f"{node.module}.{a.name}"
                    for a in node.names
                    if not hasattr(module, a.name) and not _module(node, a)
                ]
    assert lost == []


@pytest.mark.parametrize("page", [*CHAPTERS, *LABS], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_page_draws_for_itself(page: Path) -> None:
    """Each picture is a function of `lifecycle.figures`, with a test; a page gives it data."""
    assert re.findall(r"import matplotlib|from matplotlib|empty_axes|\bax(?:es)?\.\w+\(", page.read_text()) == []


def _module(node: ast.ImportFrom, alias: ast.alias) -> bool:
    return importlib.util.find_spec(f"{node.module}.{alias.name}") is not None


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_no_quotation_is_a_wall(chapter: Path) -> None:
    """Thirty lines fill a screen; for the rest the name leads into the source."""
    walls = []
    for target, options in QUOTATION.findall(chapter.read_text()):
        file = (chapter.parent / target).resolve()
        lines = lines_of(file, options) if file.suffix == ".py" else range(0)
        if len(lines) > 30:
            walls.append((options.split()[1], len(lines)))
    assert walls == []


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_after_a_quotation_stands_what_to_notice(chapter: Path) -> None:
    """Two that stand together are walked through together."""
    text = chapter.read_text()
    quotes = list(re.finditer(QUOTATION.pattern + r"```\n\s*", text, re.M))
    silent = [
        quote[2].split()[1:2]
        for quote in quotes
        if not text.startswith("```{literalinclude}", quote.end()) and re.match(r"```|#|:::|\Z", text[quote.end() :])
    ]
    assert len(quotes) == len(QUOTATION.findall(text))
    assert silent == []
