"""What the playground's page is made of, built by Sphinx without the rest of the book."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from babel.messages.mofile import write_mo
from bs4 import BeautifulSoup
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace
from translations.catalogue import read as read_catalogue

from lifecycle.playground.lessons import LESSONS
from lifecycle.playground.scenario import LONGEST_LINE, MOST_CHARACTERS, parse_scenario
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))

import live_cells
import live_words
import playground_page


def built(folder: Path, language: str = "en") -> BeautifulSoup:
    """A book of one page, and of a title for each chapter that it links to."""
    (folder / "book").mkdir()
    settings = f"exclude_patterns = ['out']\nlanguage = {language!r}\nlocale_dirs = ['locale']\n"
    (folder / "conf.py").write_text("extensions = ['playground_page']\n" + settings)
    (folder / "book" / "playground.rst").write_text("Page\n====\n\n.. playground::\n\n.. lessons::\n")
    for lesson in LESSONS:
        chapter = folder / "book" / f"{lesson.chapter}.rst"
        chapter.parent.mkdir(exist_ok=True)
        chapter.write_text(f":orphan:\n\nTold in {lesson.name}\n{'=' * 40}\n")
    names = "".join(f"   book/{name}\n" for name in ["playground"])
    (folder / "index.rst").write_text(f"Book\n====\n\n.. toctree::\n\n{names}")
    warnings = io.StringIO()
    out = folder / "out"
    with docutils_namespace():  # what one build makes known to docutils is not news to the next
        Sphinx(folder, folder, out, out / "doctrees", "html", status=None, warning=warnings).build()
    assert warnings.getvalue() == ""
    return BeautifulSoup((out / "book" / "playground.html").read_text(), "html.parser")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> BeautifulSoup:
    return built(tmp_path_factory.mktemp("book"))


def test_in_another_language_lessons_are_told_in_it_and_do_the_same(page: BeautifulSoup, tmp_path: Path) -> None:
    compiled = tmp_path / "locale" / "ja" / "LC_MESSAGES" / "live.mo"
    compiled.parent.mkdir(parents=True)
    with compiled.open("wb") as file:
        write_mo(file, read_catalogue("ja", "live"))
    starts = built(tmp_path, "ja").select("a.play-lesson")
    assert [each["href"] for each in starts] == [each["href"] for each in page.select("a.play-lesson")]
    for start, lesson in zip(starts, LESSONS, strict=True):
        line = start.find_parent("li")
        assert line is not None
        assert not start.get_text().isascii()
        assert lesson.look not in line.get_text()
    assert starts[0].get_text() == "旅"


def test_without_a_script_the_place_says_what_it_needs(page: BeautifulSoup) -> None:
    place = page.find(id="playground")
    assert place is not None
    assert place.get_text() == live_words.PLAYGROUND["static"]


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


def test_the_page_tells_the_bounds_that_the_scenario_has() -> None:
    told = (ROOT / "book" / "playground.md").read_text()
    assert f"up to {LONGEST_LINE:,} characters each and {MOST_CHARACTERS:,} characters in all" in told
    assert 0 < playground_page.LONGEST_TEXT < LONGEST_LINE
