"""`make pdf`: the built site as one PDF, in the order of the table of contents.

Chromium prints each page with what is folded opened, and the pages are put together
behind a title page and the contents, with an outline. Every sheet bears its number and
the chapter's name. Links between pages, and within one, lead to places in the PDF.

Chromium knows where a place is only if something on the same page leads there. So each
page gets an invisible link to every place of it that another page names; the links are
taken out again, and the places stay.
"""

from __future__ import annotations

import base64
import io
import os
import re
import shutil
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urldefrag, urlparse

import yaml
from bs4 import BeautifulSoup
from pdf_front import Entry, front_matter
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    FloatObject,
    NameObject,
    NullObject,
    TextStringObject,
)
from rich.progress import track
from selenium import webdriver
from title_page import TitlePage, from_configuration

ROOT = Path(__file__).resolve().parent.parent
HTML = Path(os.environ.get("LIFECYCLE_SITE") or ROOT / "_build" / "html").resolve()
PDF = HTML.parent / "what-happens-when-kubernetes.pdf"
PREPARE = """
document.documentElement.dataset.theme = 'light';
const style = document.createElement('style');
const word = JSON.stringify(arguments[1]);
style.textContent = `
  @page {
    size: A4; margin: 17mm 16mm 20mm;
    @top-right { content: ${word}; font: 8pt sans-serif; color: #555; }
    @bottom-center { content: counter(page); font: 9pt sans-serif; color: #555; }
  }
  @page :first { @top-right { content: none; } }
  html { counter-reset: page ${arguments[2]}; }
  *, *::before, *::after { animation: none !important; transition: none !important; }
  #jb-print-docs-body { display: none !important; }
  .bd-main .bd-content .bd-article h1:first-of-type {
    display: block; margin-top: 0; text-align: left;
  }
  details.hide > summary, .toggle-details__summary, .sd-summary-state-marker {
    display: none !important;
  }
  summary { list-style: none; font-weight: 600; }
  .journey-stepper summary { font-weight: inherit; }
  .bd-content a[href^="http"]::after { content: none !important; }
  .bd-content :is(.cell_output, figure) img { max-height: 230mm !important; }
`;
document.head.append(style);
for (const folded of document.querySelectorAll('details')) {
  folded.removeAttribute('name');
  folded.open = true;
}
for (const cell of document.querySelectorAll('.cell')) {
  const rigging = cell.querySelector(':scope > details.above-input');
  if (!rigging || !cell.querySelector(':scope > .cell_output img')) continue;
  const said = cell.nextElementSibling;
  const caption = said?.matches('p') && said.textContent.length <= arguments[4];
  const below = document.createElement('div');
  below.className = 'cell';
  below.append(rigging);
  (caption ? said : cell).after(below);
}
for (const code of document.querySelectorAll('article pre')) {
  if (code.textContent.split('\\n').length <= 14) code.style.breakInside = 'avoid';
}
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const text = texts.currentNode;
  if (text.data.includes('✅')) text.data = text.data.replaceAll('✅', '✓');
}
for (const link of document.querySelectorAll('.indextable a')) {
  const sheet = arguments[3][link.href];
  const said = link.textContent;
  if (sheet) link.textContent = said.startsWith('[') ? sheet : `${said}  ${sheet}`;
}
const marks = document.createElement('div');
marks.style = 'position: absolute; top: 0; left: 0; font-size: 1px; opacity: 0;';
for (const place of arguments[0]) {
  if (!document.getElementById(place)) continue;
  const mark = document.createElement('a');
  mark.href = '#' + place;
  mark.textContent = '.';
  marks.append(mark);
}
document.body.prepend(marks);
"""
"""Opens what is folded, at once: an animation would leave it blank. Summaries that only
say *show* or *hide* are not printed, nor addresses, since a link is alive; nor a list
of what the page holds, since the book has one. Many machines lack letters for emoji.
Code of a few lines stays in one piece. A picture may be so high that a chapter's title
and its first lines still stand above it, on a sheet that is printed at four fifths of
its size. What draws it stands below it and its caption: a picture follows its sentence,
and code can fill what is left of a sheet.
"""
CAPTION = 160
"""Letters: a paragraph below a picture that is no longer than this belongs to it."""
MARK = 2.0
"""Points: nothing that a reader could hit is as small as an invisible link."""
LINK = re.compile(r'href="([^"#:]+\.html)#([^"]+)"')
PAPER = {"printBackground": True, "preferCSSPageSize": True, "paperWidth": 8.27}
PAPER |= {"paperHeight": 11.69, "scale": 0.8, "generateDocumentOutline": True}


def files(entries: list[dict], belong: bool = False) -> list[tuple[str, bool]]:
    """Pages in reading order, each before what belongs to it; and whether it does."""
    return [
        line
        for entry in entries
        for line in (
            (entry["file"], belong),
            *files(entry.get("sections", []), belong=True),
        )
    ]


def table_of_contents() -> list[Entry]:
    """Every page of the book, the site's first page first."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    pages = [("", toc["root"], False)]
    for part in toc["parts"]:
        pages += [(part["caption"], *line) for line in files(part["chapters"])]
    pages.append(("Index", "genindex", False))
    entries = []
    for part, name, belongs in pages:
        page = HTML / f"{name}.html"
        entries.append(Entry(part, title_of(page), page, belongs))
    return entries


def title_of(page: Path) -> str:
    """A page's heading."""
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    heading = soup.select_one("article h1")
    if heading is None:
        sys.exit(f"make pdf: {page} has no heading")
    for link in heading.select(".headerlink"):
        link.extract()
    return " ".join(heading.get_text().split())


def browser() -> webdriver.Chrome:
    """Chromium without a window. Exits with a line that says what is missing."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("make pdf: Chromium prints the pages, and is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(flag)
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    return webdriver.Chrome(options=options, service=service)


def places_named(pages: list[Path]) -> dict[Path, set[str]]:
    """The places of each page that other pages lead to."""
    named: dict[Path, set[str]] = defaultdict(set)
    for page in pages:
        for target, place in LINK.findall(page.read_text(encoding="utf-8")):
            named[(page.parent / unquote(target)).resolve()].add(unquote(place))
    return named


def printed(
    driver: webdriver.Chrome,
    page: Path,
    places: set[str],
    name: str = "",
    before: int = 0,
    numbers: dict[str, int] | None = None,
) -> PdfReader:
    """One page of the site, with `name` above its sheets, and numbers that follow those
    of the sheets `before` it. `places`: those that must be found again. `numbers`: the
    sheets of the addresses that the index leads to.
    """
    driver.get(page.as_uri())
    given = sorted(places), name, before, numbers or {}, CAPTION
    driver.execute_script(PREPARE, *given)
    answer = driver.execute_cdp_cmd("Page.printToPDF", PAPER)
    return PdfReader(io.BytesIO(base64.b64decode(answer["data"])))


def is_mark(annotation: Any) -> bool:
    """Whether it is one of our invisible links."""
    left, bottom, right, top = (float(edge) for edge in annotation["/Rect"])
    return abs(top - bottom) < MARK and abs(right - left) < MARK


def places_in(sheets: PdfReader) -> dict[str, tuple[int, float]]:
    """Where the named places of one page are: the sheet, from 0, and how high on it."""
    found = {}
    for name, place in sheets.named_destinations.items():
        sheet = sheets.get_destination_page_number(place)
        if sheet is not None and sheet >= 0:
            found[name.removeprefix("/")] = (sheet, float(place.top or 0))
    return found


class Places:
    """Where each page of the site, and each named place of it, is in the PDF."""

    def __init__(self, writer: PdfWriter) -> None:
        self._writer = writer
        self.starts: dict[Path, int] = {}
        self._named: dict[tuple[Path, str], tuple[int, float]] = {}

    def append(self, page: Path, sheets: PdfReader) -> None:
        """Add a page's sheets, and remember its places."""
        self.starts[page] = start = len(self._writer.pages)
        for name, (sheet, top) in places_in(sheets).items():
            self._named[page, name] = (start + sheet, top)
        for leaf in sheets.pages:
            self._writer.add_page(leaf)

    def destination(self, page: Path, name: str) -> ArrayObject | None:
        """What a link needs, or None if the page is not in the PDF."""
        if (page, name) in self._named:
            sheet, top = self._named[page, name]
            at = [NameObject("/XYZ"), FloatObject(0), FloatObject(top), NullObject()]
        elif page in self.starts:
            sheet, at = self.starts[page], [NameObject("/Fit")]
        else:
            return None
        return ArrayObject([self._writer.pages[sheet].indirect_reference, *at])


def lead_inside(writer: PdfWriter, places: Places) -> tuple[int, list[str]]:
    """Links to the site, and to names of a page, become places in the PDF; how many,
    and the addresses that lead nowhere: those to files that are not in it are taken
    out, so that nothing leads to the maker's own disk.
    """
    inside, nowhere = 0, []
    for page, start, end in _ranges(places.starts, len(writer.pages)):
        for sheet in writer.pages[start:end]:
            kept = ArrayObject()
            for reference in sheet.get("/Annots") or ():
                annotation = reference.get_object()
                address = str(annotation.get("/A", {}).get("/URI", ""))
                if is_mark(annotation):
                    continue
                if "/Dest" in annotation:
                    name = str(annotation["/Dest"]).removeprefix("/")
                    goal = places.destination(page, name)
                elif address.startswith("file:"):
                    path, name = urldefrag(address)
                    file = Path(unquote(urlparse(path).path)).resolve()
                    goal = places.destination(file, unquote(name))
                else:
                    kept.append(reference)
                    continue
                if goal is None:
                    nowhere.append(address or str(annotation["/Dest"]))
                    continue
                annotation.pop("/A", None)
                annotation[NameObject("/Dest")] = goal
                inside += 1
                kept.append(reference)
            if "/Annots" in sheet:
                sheet[NameObject("/Annots")] = kept
    return inside, nowhere


def _ranges(starts: dict[Path, int], total: int) -> list[tuple[Path, int, int]]:
    ends = [*list(starts.values())[1:], total]
    return [(page, start, end) for (page, start), end in zip(starts.items(), ends)]


def printed_book(
    driver: webdriver.Chrome, title: TitlePage, contents: list[Entry], front: Path
) -> list[tuple[Path, PdfReader]]:
    """The front matter, and then every page of the book. `front`: where to write it."""
    named = places_named([entry.page for entry in contents])

    def front_sheets(numbers: dict[Path, int]) -> PdfReader:
        front.write_text(front_matter(title, contents, numbers), encoding="utf-8")
        return printed(driver, front, set())

    total = len(front_sheets({}).pages)
    begins, addresses, book = {}, dict[str, int](), []
    for entry in track(contents, "printing"):
        page = entry.page
        begins[page] = total + 1
        sheets = printed(driver, page, named[page], entry.title, total, addresses)
        for name, (sheet, _) in places_in(sheets).items():
            addresses[f"{page.as_uri()}#{name}"] = total + sheet + 1
        book.append((page, sheets))
        total += len(sheets.pages)
    return [(front, front_sheets(begins)), *book]


def outline(writer: PdfWriter, contents: list[Entry], starts: dict[Path, int]) -> None:
    """Parts, their chapters, and what belongs to a chapter below it."""
    part_mark = chapter_mark = None
    last_part = ""
    for entry in contents:
        start = starts[entry.page]
        if entry.part != last_part:
            last_part = entry.part
            part_mark = writer.add_outline_item(title=entry.part, page_number=start)
        above = chapter_mark if entry.belongs else part_mark
        mark = writer.add_outline_item(
            title=entry.title, page_number=start, parent=above, is_open=False
        )
        chapter_mark = chapter_mark if entry.belongs else mark


def main() -> None:
    """Print, put together, write."""
    if not (HTML / "index.html").exists():
        sys.exit("make pdf: there is no site to print; run `make book` first")
    contents = table_of_contents()
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    title = from_configuration(config, (HTML / "index.html").stat().st_mtime)
    writer = PdfWriter()
    places = Places(writer)
    driver = browser()
    try:
        with TemporaryDirectory() as folder:
            front = Path(folder).resolve() / "front.html"
            for page, sheets in printed_book(driver, title, contents, front):
                places.append(page, sheets)
    finally:
        driver.quit()
    outline(writer, contents, places.starts)
    links, nowhere = lead_inside(writer, places)
    writer.add_metadata({"/Title": title.title, "/Author": title.author})
    writer.root_object[NameObject("/Lang")] = TextStringObject(title.language)
    writer.page_mode = "/UseOutlines"
    writer.compress_identical_objects()
    writer.write(PDF)
    size = PDF.stat().st_size / 1e6
    print(f"{len(writer.pages)} sheets, {links} links inside, {size:.0f} MB: {PDF}")
    print(f"{len(nowhere)} links to files that are not in it were taken out")


if __name__ == "__main__":
    main()
