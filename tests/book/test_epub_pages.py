"""Pages for e-readers: well-formed whatever a cell has shown, without scripts, unfolded."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))

from epub_pages import for_readers


def parsed(body: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<body>{for_readers(body)}</body>")


@pytest.mark.parametrize(
    "body",
    [
        "one<br>two<hr>",
        "<table><tr><td>a<tr><td nowrap>b</table>",
        "<p>never closed <b>bold",
        "<p>a &lt; b &amp;&amp; c&nbsp;d</p>",
        "<p>a < b & c</p>",
        '<img src="a.svg" alt="1 &lt; 2">',
        '<details><summary>Why?</summary><input type="checkbox" checked>x</details>',
    ],
)
def test_what_a_browser_forgives_is_mended(body: str) -> None:
    assert "".join(parsed(body).itertext()).strip() or parsed(body).find("img") is not None


def test_scripts_go_and_text_stays() -> None:
    page = parsed("<p>before</p><script>if (a < b && c) x('</p>');</script><p>after</p>")
    assert [p.text for p in page.findall("p")] == ["before", "after"]
    assert page.find("script") is None


def test_folded_code_and_text_stands_open_and_labels_that_only_fold_go() -> None:
    page = parsed(
        '<details class="admonition hide above-input"><summary>Show code</summary><pre>x</pre></details>'
        '<details class="sd-dropdown" name="a"><summary>The other sentences</summary>y</details>'
    )
    [code] = page.findall("div")
    [told] = page.findall("details")
    assert [part.tag for part in code] == ["pre"]
    assert (told.get("open"), told.get("name"), told.findtext("summary")) == ("open", None, "The other sentences")


@pytest.mark.parametrize(
    "body",
    [
        '<section class="journey-stepper"><details name="a"><summary>0 ms</summary>z</details></section>',
        "<details><summary>Hint</summary>Look again.</details>",
    ],
)
def test_a_journey_and_a_hint_stay_folded_where_they_can_be(body: str) -> None:
    step = parsed(body).find(".//details")
    assert step is not None
    assert step.get("open") is None


@pytest.mark.parametrize(
    ("shown", "order"),
    [
        ('<img src="a.svg" alt="a"/><p>Its caption.</p>', ["a.svg", "caption", "code()"]),
        (f'<img src="a.svg" alt="a"/><p>Another idea, {"which takes a while, " * 9}</p>', ["a.svg", "code()", "idea"]),
        ("<pre>1</pre><p>Its caption.</p>", ["code()", "<pre>1", "caption"]),
    ],
)
def test_a_picture_and_its_caption_stand_above_the_code_that_draws_it(shown: str, order: list[str]) -> None:
    code = '<details class="hide above-input"><summary>Show</summary><pre>code()</pre></details>'
    output, said = shown.split("<p>")
    page = for_readers(f'<div class="cell">{code}<div class="cell_output">{output}</div></div><p>{said}')
    places = [page.index(words) for words in order]
    assert places == sorted(places)


def test_drawings_keep_their_measure() -> None:
    page = parsed('<svg viewBox="0 0 9 4"><path d="M0 0"></path></svg>')
    drawing = page.find("svg")
    assert drawing is not None
    assert drawing.get("viewBox") == "0 0 9 4"


@pytest.mark.parametrize(
    ("link", "place"),
    [
        ("../a/page.html#x", "../a/page.xhtml#x"),
        ("page.html", "page.xhtml"),
        ("https://example.com/page.html", "https://example.com/page.html"),
        ("#x.html", "#x.html"),
    ],
)
def test_a_link_that_a_cell_has_written_arrives(link: str, place: str) -> None:
    [found] = parsed(f'<a href="{link}">x</a>').iter("a")
    assert found.get("href") == place


def test_no_fold_has_a_name_and_no_arrow_is_drawn_beside_the_reader_s_own() -> None:
    page = parsed(
        '<details name="a"><summary>0 ms</summary>x</details><details class="sd-dropdown"><summary>More'
        '<span class="sd-summary-state-marker"><svg><path></path></svg></span></summary>y</details>'
    )
    assert [fold.get("name") for fold in page.findall("details")] == [None, None]
    assert page.find(".//svg") is None
    assert [summary.text for summary in page.iter("summary")] == ["0 ms", "More"]


def test_an_emoji_becomes_a_letter_that_readers_have() -> None:
    assert "".join(parsed("<td>✅</td>").itertext()) == "✓"


def test_what_would_start_something_on_its_page_is_only_text() -> None:
    page = parsed('<p><a class="play-lesson" href="#do=1">The journey</a>: look.</p>')
    assert "".join(page.itertext()) == "The journey: look."
    assert page.find(".//a") is None


def test_a_book_whose_first_page_is_in_a_folder_names_every_page_as_the_archive_does(tmp_path: Path) -> None:
    (tmp_path / "book").mkdir()
    (tmp_path / "labs").mkdir()
    (tmp_path / "book" / "index.rst").write_text("First\n=====\n\n.. toctree::\n\n   chapter\n   ../labs/lab\n")
    (tmp_path / "book" / "chapter.rst").write_text("Chapter\n=======\n")
    (tmp_path / "labs" / "lab.rst").write_text("Lab\n===\n")
    (tmp_path / "static" / "playground").mkdir(parents=True)
    (tmp_path / "static" / "playground" / "worker.mjs").write_text("")
    (tmp_path / "static" / "playground" / "playground.css").write_text("")
    warnings = io.StringIO()
    settings = {
        "extensions": ["epub_pages"],
        "root_doc": "book/index",
        "project": "A & B",
        "author": "us",
        "version": "0.1",
        "epub_basename": "b",
        "epub_description": "what `x` does",
        "epub_tocscope": "includehidden",
        "html_static_path": ["static"],
    }
    with docutils_namespace():
        Sphinx(
            tmp_path, None, tmp_path / "out", tmp_path / "trees", "epub", settings, status=None, warning=warnings
        ).build()
    assert "mimetype" not in warnings.getvalue()
    with zipfile.ZipFile(tmp_path / "out" / "b.epub") as archive:
        package = ElementTree.fromstring(archive.read("content.opf"))
        title = ElementTree.fromstring(archive.read("title.xhtml"))
    files = {item.get("id"): item.get("href") for item in package.iter("{http://www.idpf.org/2007/opf}item")}
    assert [name for name in files.values() if "playground" in str(name)] == []
    spine = [files[reference.get("idref")] for reference in package.iter("{http://www.idpf.org/2007/opf}itemref")]
    assert spine[:4] == ["title.xhtml", "book/index.xhtml", "book/chapter.xhtml", "labs/lab.xhtml"]
    said = " ".join("".join(title.itertext()).split())
    for words in ("A & B", "what x does", "By us", "Version 0.1", "CC BY 4.0"):
        assert words in said
