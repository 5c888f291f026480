"""What the playground's page is made of, built by Sphinx without the rest of the book."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from sphinx.application import Sphinx

from lifecycle.playground.lessons import LESSONS
from lifecycle.playground.scenario import parse_scenario
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))

import live_cells
import playground_page


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> BeautifulSoup:
    """A book of one page, and of a title for each chapter that it links to."""
    folder: Path = tmp_path_factory.mktemp("book")
    (folder / "book").mkdir()
    (folder / "conf.py").write_text("extensions = ['playground_page']\nexclude_patterns = ['out']\n")
    (folder / "book" / "playground.rst").write_text("Page\n====\n\n.. playground::\n\n.. lessons::\n")
    for lesson in LESSONS:
        chapter = folder / "book" / f"{lesson.chapter}.rst"
        chapter.parent.mkdir(exist_ok=True)
        chapter.write_text(f":orphan:\n\nTold in {lesson.name}\n{'=' * 40}\n")
    names = "".join(f"   book/{name}\n" for name in ["playground"])
    (folder / "index.rst").write_text(f"Book\n====\n\n.. toctree::\n\n{names}")
    warnings = io.StringIO()
    out = folder / "out"
    Sphinx(folder, folder, out, out / "doctrees", "html", status=None, warning=warnings).build()
    assert warnings.getvalue() == ""
    return BeautifulSoup((out / "book" / "playground.html").read_text(), "html.parser")


def test_without_a_script_the_place_says_what_it_needs(page: BeautifulSoup) -> None:
    place = page.find(id="playground")
    assert place is not None
    assert place.get_text() == playground_page.WORDS["static"]


def test_each_lesson_is_an_address_and_names_its_chapter(page: BeautifulSoup) -> None:
    starts = page.select("a.play-lesson")
    assert [each.get_text() for each in starts] == [lesson.title for lesson in LESSONS]
    for start, lesson in zip(starts, LESSONS, strict=True):
        assert parse_scenario(str(start["href"]).removeprefix("#")) == lesson.scenario
        line = start.find_parent("li")
        assert line is not None
        assert lesson.look in line.get_text()
        chapter = line.select("a")[1]
        assert chapter["href"] == f"{lesson.chapter}.html"
        assert chapter.get_text().startswith("Told in ")


def test_what_pages_load_replaces_what_an_older_build_left(tmp_path: Path) -> None:
    for name in ("old", "new"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "python.zip").write_text(name)
        live_cells.copy_tab(SimpleNamespace(outdir=tmp_path / "site", live_cells_tab=folder), None)
    assert [path.name for path in (tmp_path / "site" / "_static").iterdir()] == ["tab-new"]
