"""Pages for e-readers: well-formed whatever a cell has shown, without scripts, unfolded."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

import pytest

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
