"""The PDF: what is folded is printed, and links go to the place that they name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pypdf import PdfWriter

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "book"))

from to_pdf import Places, browser, lead_inside, places_named, printed

ONE = """<body><a href="two.html#far">far</a> <a href="two.html">two</a> <a href="gone.html">gone</a> <a href="#own">own</a>
<details><summary>More</summary>what was folded</details><details class="hide"><summary>Show code</summary>x = 1</details>
<p id="own" style="break-before: page">my own place</p></body>"""
TWO = '<body>the beginning<p id="far" style="break-before: page">the far place</p></body>'


@pytest.mark.real
@pytest.mark.usefixtures("chromium")
def test_two_pages_are_put_together(tmp_path: Path) -> None:
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    for page, text in zip(pages, (ONE, TWO)):
        page.write_text(text)
    named = places_named(pages)
    assert named == {pages[1]: {"far"}}
    writer = PdfWriter()
    places = Places(writer)
    driver = browser()
    try:
        for page in pages:
            places.append(page, printed(driver, page, named[page]))
    finally:
        driver.quit()
    assert lead_inside(writer, places) == (3, 1)
    first = writer.pages[0]
    text = first.extract_text()
    assert "what was folded" in text
    assert "x = 1" in text
    assert "Show code" not in text
    goals = [link.get_object()["/Dest"] for link in first["/Annots"]]
    assert [writer.get_page_number(goal[0].get_object()) for goal in goals] == [3, 2, 1]
    assert not writer.pages[2].get("/Annots")
