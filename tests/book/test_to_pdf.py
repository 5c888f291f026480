"""The PDF: what is folded is printed, and links go to the place that they name."""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from pypdf import PdfReader, PdfWriter
from selenium import webdriver
from title_page import TitlePage

from lifecycle.figures.stepper import Stepper
from lifecycle.trace.writes import Line, Write
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "book"))

from pdf_front import Entry, front_matter
from to_pdf import Places, browser, lead_inside, outline, places_named, printed

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
    inside, nowhere = lead_inside(writer, places)
    assert (inside, [Path(address).name for address in nowhere]) == (3, ["gone.html"])
    first = writer.pages[0]
    text = first.extract_text()
    assert "what was folded" in text
    assert "x = 1" in text
    assert "Show code" not in text
    goals = [link.get_object()["/Dest"] for link in first["/Annots"]]
    assert [writer.get_page_number(goal[0].get_object()) for goal in goals] == [3, 2, 1]
    assert not writer.pages[2].get("/Annots")


@pytest.fixture(scope="module")
def driver(chromium: str) -> Iterator[webdriver.Chrome]:
    driver = browser()
    yield driver
    driver.quit()


@pytest.fixture
def page(tmp_path: Path) -> Callable[[str], Path]:
    """A page of the site, with the book's style, inside the elements that the theme puts around it."""

    def write(article: str) -> Path:
        style = (ROOT / "book" / "_static" / "book.css").read_text()
        path = tmp_path / "page.html"
        path.write_text(
            f"<!doctype html><meta charset=utf-8><style>{style}</style><main class=bd-main><div class=bd-content>"
            f"<div class=bd-article-container><article class=bd-article>{article}</article></div></div></main>"
        )
        return path

    return write


def texts(sheets: PdfReader) -> list[str]:
    return [sheet.extract_text() for sheet in sheets.pages]


@pytest.mark.real
def test_each_sheet_bears_its_number_in_the_book_and_all_but_the_first_the_chapter_s_name(driver, page) -> None:
    long = '<p>one</p><p style="break-before: page">two</p><p style="break-before: page">three</p>'
    shown = [text.split() for text in texts(printed(driver, page(long), set(), 'A "name"', 41))]
    assert shown == [["42", "one"], ["A", '"name"', "43", "two"], ["A", '"name"', "44", "three"]]


@pytest.mark.real
@pytest.mark.parametrize(
    "box",
    [
        '<div class="pst-scrollable-table-container"><table>{}</table></div>',
        '<div class="cell"><div class="cell_output"><div class="output" style="overflow: auto"><table>{}</table></div></div></div>',
    ],
)
def test_a_long_table_begins_below_its_sentence_and_goes_on_over_the_sheets(driver, page, box: str) -> None:
    rows = "".join(f"<tr><td>row {number}</td></tr>" for number in range(120))
    shown = texts(printed(driver, page("<p>The sentence:</p>" + box.format(rows)), set()))
    assert "The sentence:" in shown[0]
    assert "row 0" in shown[0]
    lines = [line for text in shown for line in text.splitlines() if line.startswith("row ")]
    assert lines == [f"row {number}" for number in range(120)]


@pytest.mark.real
@pytest.mark.parametrize("before", range(34, 60, 2))
def test_a_sentence_that_announces_code_has_eight_lines_of_it_below_wherever_the_sheet_ends(
    driver, page, before: int
) -> None:
    filler = "<p>filler</p>" * before
    code = '<div class="highlight-python"><div class="highlight" style="display: flex"><pre>{}</pre></div></div>'
    article = filler + "<p>This is the code:</p>" + code.format("\n".join(f"line {number}" for number in range(12)))
    [sheet] = [text for text in texts(printed(driver, page(article), set())) if "This is the code:" in text]
    assert all(f"line {number}" in sheet for number in range(8))


@pytest.mark.real
def test_a_picture_taller_than_the_paper_is_on_one_sheet(driver, page) -> None:
    picture = "<svg xmlns='http://www.w3.org/2000/svg' width='400' height='3000'><text y='20'>top</text><text y='2990'>foot</text></svg>"
    source = "data:image/svg+xml;base64," + base64.b64encode(picture.encode()).decode()
    shown = texts(printed(driver, page(f'<div class="cell_output"><img alt="x" src="{source}"></div>'), set()))
    assert [("top" in text, "foot" in text) for text in shown] == [(True, True)]


@pytest.mark.real
def test_a_picture_follows_its_sentence_and_what_draws_it_fills_the_rest_of_the_sheet(driver, page) -> None:
    picture = "<svg xmlns='http://www.w3.org/2000/svg' width='400' height='400'><text y='20'>drawn</text></svg>"
    source = "data:image/svg+xml;base64," + base64.b64encode(picture.encode()).decode()
    lines = "\n".join(f"line {number}" for number in range(60))
    code = f'<details class="hide above-input"><summary>Show</summary><div class="cell_input"><pre>{lines}</pre></div></details>'
    output = f'<div class="cell_output"><img alt="x" src="{source}"></div>'
    article = f'<p>Here it is:</p><div class="cell">{code}{output}</div><p>A caption.</p><p>The next idea.</p>'
    first, second = texts(printed(driver, page("<p>filler</p>" * 12 + article), set()))
    places = [first.index(words) for words in ("Here it is:", "drawn", "A caption.", "line 7")]
    assert places == sorted(places)
    assert second.index("line 59") < second.index("The next idea.")
    assert "line 59" in second


@pytest.mark.real
def test_a_journey_is_printed_as_its_steps_with_what_the_first_one_wrote(driver, page) -> None:
    line = Line(0, "kind: Pod", "", "+")
    writes = [Write("kubectl", "create", f"pods/{name}", 0.1, 0.01, (line,)) for name in "ab"]
    [shown] = texts(printed(driver, page(Stepper("Ours", writes)._repr_html_()), set()))
    assert "pods/a" in shown
    assert "pods/b" in shown
    assert shown.count("kind: Pod") == 1
    assert "Open one" not in shown


@pytest.mark.real
def test_the_index_names_sheets(driver, page) -> None:
    path = page(
        '<table class="indextable"><tr><td><a href="a.html#x">term</a>, <a href="a.html#y">[1]</a></td></tr></table>'
    )
    goal = path.with_name("a.html").as_uri()
    [shown] = texts(printed(driver, path, set(), numbers={f"{goal}#x": 7, f"{goal}#y": 12}))
    assert " ".join(shown.split()).startswith("1 term 7, 12")


def test_the_contents_name_the_sheet_of_each_page_below_its_part() -> None:
    title = TitlePage("T & T", "what `x` does", "us", "0.1", "en", datetime(2026, 11, 3, tzinfo=UTC))
    entries = [
        Entry("Part", "A <chapter>", Path("/a.html"), belongs=False),
        Entry("Part", "Lab", Path("/b.html"), belongs=True),
    ]
    page = BeautifulSoup(front_matter(title, entries, {Path("/a.html"): 5, Path("/b.html"): 17}), "html.parser")
    assert [(a.get_text(), a["data-sheet"], a["href"]) for a in page.select("li a")] == [
        ("A <chapter>", "5", "file:///a.html"),
        ("Lab", "17", "file:///b.html"),
    ]
    assert [heading.get_text() for heading in page.select("h3")] == ["Part"]
    assert "The chapters ran on 3 November 2026." in page.get_text()
    assert "CC BY 4.0" in page.get_text()


def test_in_the_outline_a_lab_stands_below_its_chapter() -> None:
    writer = PdfWriter()
    for _ in range(3):
        writer.add_blank_page(100, 100)
    names = (("Part", "Chapter", False), ("Part", "Lab", True), ("Part", "Next", False))
    entries = [Entry(part, title, Path(title), belongs) for part, title, belongs in names]
    outline(writer, entries, {Path("Chapter"): 0, Path("Lab"): 1, Path("Next"): 2})
    kept = io.BytesIO()
    writer.write(kept)
    part, below = PdfReader(kept).outline
    assert part.title == "Part"
    assert [item.title if not isinstance(item, list) else [lab.title for lab in item] for item in below] == [
        "Chapter",
        ["Lab"],
        "Next",
    ]


@pytest.mark.real
def test_on_paper_all_rows_stand_once_and_rigging_is_left_out_where_a_reader_prints(driver, page) -> None:
    def folded(name: str, inside: str) -> str:
        return f'<details class="{name}"><summary>fold</summary>{inside}</details>'

    def table(rows: int) -> str:
        return "<table>" + "".join(f"<tr><td>row {n} of {rows}</td></tr>" for n in range(rows)) + "</table>"

    cell = folded("hide above-input", "rigging") + folded("hide below-input", "what it printed")
    opening, given = (
        "<div>the opening rows</div>",
        folded("", "<p>why</p><div><table><tr><td>given</td></tr></table></div>"),
    )
    tables = "".join(opening + folded("", table(rows)) + given for rows in (1, 20, 61))
    article = f'<div class="cell">{cell}</div><div class="agreement">{tables}</div>'
    driver.get(page(article).as_uri())
    by_reader = PdfReader(io.BytesIO(base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {})["data"])))
    in_the_book = "\n".join(texts(printed(driver, page(article), set())))
    assert "rigging" in in_the_book
    shown = "\n".join(texts(by_reader))
    assert "rigging" not in shown
    assert "what it printed" in shown
    for text in (shown, in_the_book):
        assert "row 19 of 20" in text
        assert "row 60 of 61" in text
        assert "of 1\n" not in text + "\n", "it stands above the fold already"
        assert text.count("given") == 3


@pytest.mark.real
@pytest.mark.parametrize("before", range(26, 62, 3))
def test_what_a_cell_prints_begins_where_the_cell_ends_wherever_the_sheet_ends(driver, page, before: int) -> None:
    output = '<div class="cell_output"><div class="output"><pre>0 of 5\nstill to do: all</pre></div></div>'
    cell = f'<div class="cell"><div class="cell_input"><pre>score()</pre></div>{output}</div>'
    shown = texts(printed(driver, page("<p>filler</p>" * before + cell), set()))
    [sheet] = [text for text in shown if "score()" in text]
    assert "0 of 5" in sheet
    assert "still to do" in sheet


@pytest.mark.real
@pytest.mark.parametrize("last", ["<ul>{}</ul>", "<table><tbody>{}</tbody></table>"])
@pytest.mark.parametrize("before", range(38, 58, 2))
def test_a_list_or_a_table_never_leaves_its_first_or_last_line_alone_on_a_sheet(
    driver, page, last: str, before: int
) -> None:
    line = "<li>entry</li>" if "ul" in last else "<tr><td>entry</td></tr>"
    shown = texts(printed(driver, page("<p>filler</p>" * before + last.format(line * 8)), set()))
    assert 1 not in [text.count("entry") for text in shown]


@pytest.mark.real
def test_a_folded_part_with_a_frame_begins_below_the_text_before_it(driver, page) -> None:
    entries = "".join(f"<li>entry {number}</li>" for number in range(30))
    body = f'<div class="sd-card-body"><ul>{entries}</ul></div>'
    folded = f'<details class="sd-sphinx-override sd-dropdown sd-card"><summary>more</summary>{body}</details>'
    shown = texts(printed(driver, page("<p>filler</p>" * 20 + folded), set()))
    assert "entry 2" in shown[0]
    assert "entry 29" in shown[1]
