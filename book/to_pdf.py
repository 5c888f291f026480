"""`make pdf`: the built site as one PDF, in the order of the table of contents.

Chromium prints each page with what is folded opened, and the pages are put together
with an outline. Links between pages, and within one, lead to places in the PDF.

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
from typing import Any
from urllib.parse import unquote, urldefrag, urlparse

import yaml
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, FloatObject, NameObject, NullObject
from rich.progress import track
from selenium import webdriver

ROOT = Path(__file__).resolve().parent.parent
HTML = Path(os.environ.get("LIFECYCLE_SITE") or ROOT / "_build" / "html").resolve()
PDF = HTML.parent / "what-happens-when-kubernetes.pdf"
PREPARE = """
document.documentElement.dataset.theme = 'light';
const style = document.createElement('style');
style.textContent = `
  *, *::before, *::after { animation: none !important; transition: none !important; }
  details.hide > summary, .toggle-details__summary { display: none !important; }
  .bd-content a[href^="http"]::after { content: none !important; }
`;
document.head.append(style);
for (const folded of document.querySelectorAll('details')) {
  folded.removeAttribute('name');
  folded.open = true;
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
say *show* or *hide* are not printed, nor addresses, since a link is alive.
"""
MARK = 2.0
"""Points: nothing that a reader could hit is as small as an invisible link."""
LINK = re.compile(r'href="([^"#:]+\.html)#([^"]+)"')
PAPER = {"printBackground": True, "preferCSSPageSize": True, "paperWidth": 8.27}
PAPER |= {"paperHeight": 11.69, "scale": 0.8, "generateDocumentOutline": True}


def files(entries: list[dict]) -> list[str]:
    """Pages in reading order: each before what belongs to it."""
    return [
        name
        for entry in entries
        for name in (entry["file"], *files(entry.get("sections", [])))
    ]


def table_of_contents() -> list[tuple[str, str]]:
    """(part, page) of the whole book, the title page first."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    pages = [("", toc["root"])]
    for part in toc["parts"]:
        pages += [(part["caption"], name) for name in files(part["chapters"])]
    return pages


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


def printed(driver: webdriver.Chrome, page: Path, places: set[str]) -> PdfReader:
    """One page of the site. `places`: those that must be found again."""
    driver.get(page.as_uri())
    driver.execute_script(PREPARE, sorted(places))
    answer = driver.execute_cdp_cmd("Page.printToPDF", PAPER)
    return PdfReader(io.BytesIO(base64.b64decode(answer["data"])))


def is_mark(annotation: Any) -> bool:
    """Whether it is one of our invisible links."""
    left, bottom, right, top = (float(edge) for edge in annotation["/Rect"])
    return abs(top - bottom) < MARK and abs(right - left) < MARK


class Places:
    """Where each page of the site, and each named place of it, is in the PDF."""

    def __init__(self, writer: PdfWriter) -> None:
        self._writer = writer
        self.starts: dict[Path, int] = {}
        self._named: dict[tuple[Path, str], tuple[int, float]] = {}

    def append(self, page: Path, sheets: PdfReader) -> None:
        """Add a page's sheets, and remember its places."""
        self.starts[page] = start = len(self._writer.pages)
        for name, place in sheets.named_destinations.items():
            sheet = sheets.get_destination_page_number(place)
            if sheet is not None and sheet >= 0:
                top = float(place.top or 0)
                self._named[page, name.removeprefix("/")] = (start + sheet, top)
        for sheet in sheets.pages:
            self._writer.add_page(sheet)

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


def lead_inside(writer: PdfWriter, places: Places) -> tuple[int, int]:
    """Links to the site, and to names of a page, become places in the PDF; how many,
    and how many lead nowhere: those to files that are not in it are taken out, so that
    nothing leads to the maker's own disk.
    """
    inside = nowhere = 0
    for page, start, end in _ranges(places.starts, len(writer.pages)):
        for sheet in writer.pages[start:end]:
            kept = ArrayObject()
            for reference in sheet.get("/Annots") or ():
                annotation = reference.get_object()
                address = str(annotation.get("/A", {}).get("/URI", ""))
                if is_mark(annotation):
                    continue
                if "/Dest" in annotation:
                    goal = places.destination(page, str(annotation["/Dest"])[1:])
                elif address.startswith("file:"):
                    path, name = urldefrag(address)
                    file = Path(unquote(urlparse(path).path)).resolve()
                    goal = places.destination(file, unquote(name))
                else:
                    kept.append(reference)
                    continue
                if goal is None:
                    nowhere += 1
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


def main() -> None:
    """Print, put together, write."""
    if not (HTML / "index.html").exists():
        sys.exit("make pdf: there is no site to print; run `make book` first")
    contents = [(part, HTML / f"{name}.html") for part, name in table_of_contents()]
    named = places_named([page for _, page in contents])
    writer = PdfWriter()
    places = Places(writer)
    mark, last_part = None, ""
    driver = browser()
    try:
        for part, page in track(contents, "printing"):
            places.append(page, printed(driver, page, named[page]))
            start = places.starts[page]
            if part != last_part:
                last_part = part
                mark = writer.add_outline_item(title=part, page_number=start)
            title = driver.title.partition(" — ")[0]
            writer.add_outline_item(title=title, page_number=start, parent=mark)
    finally:
        driver.quit()
    links, nowhere = lead_inside(writer, places)
    writer.add_metadata({"/Title": "What Happens When … Kubernetes"})
    writer.compress_identical_objects()
    writer.write(PDF)
    size = PDF.stat().st_size / 1e6
    print(f"{len(writer.pages)} sheets, {links} links inside, {size:.0f} MB: {PDF}")
    print(f"{nowhere} links to files that are not in it were taken out")


if __name__ == "__main__":
    main()
