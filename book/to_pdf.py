"""`make pdf`: the built site as one PDF, in the order of the table of contents.

Chromium prints each page with what is folded opened, and the pages are put together
with an outline. Links between pages lead to places in the PDF.
"""

from __future__ import annotations

import base64
import io
import os
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import yaml
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, NameObject
from rich.progress import track
from selenium import webdriver

ROOT = Path(__file__).resolve().parent.parent
HTML = Path(os.environ.get("LIFECYCLE_SITE") or ROOT / "_build" / "html").resolve()
PDF = HTML.parent / "what-happens-when-kubernetes.pdf"
OPEN_ALL = """
document.documentElement.dataset.theme = 'light';
for (const folded of document.querySelectorAll('details')) {
  folded.removeAttribute('name');
  folded.open = true;
}
"""
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


def printed(driver: webdriver.Chrome, page: Path) -> PdfReader:
    """One page of the site."""
    driver.get(page.as_uri())
    driver.execute_script(OPEN_ALL)
    answer = driver.execute_cdp_cmd("Page.printToPDF", PAPER)
    return PdfReader(io.BytesIO(base64.b64decode(answer["data"])))


def lead_inside(writer: PdfWriter, starts: dict[Path, int]) -> int:
    """Links to files of the site become places in the PDF; how many. Those to files
    that are not in it lose their action: nothing leads to the maker's own disk.
    """
    inside = 0
    for sheet in writer.pages:
        for annotation in sheet.get("/Annots") or ():
            action = annotation.get_object().get("/A", {})
            address = str(action.get("/URI", ""))
            if not address.startswith("file:"):
                continue
            file = Path(unquote(urlparse(urldefrag(address)[0]).path))
            place = annotation.get_object()
            del place["/A"]
            if file in starts:
                target = writer.pages[starts[file]].indirect_reference
                place[NameObject("/Dest")] = ArrayObject([target, NameObject("/Fit")])
                inside += 1
    return inside


def main() -> None:
    """Print, put together, write."""
    if not (HTML / "index.html").exists():
        sys.exit("make pdf: there is no site to print; run `make book` first")
    writer, starts = PdfWriter(), {}
    mark, last_part = None, ""
    driver = browser()
    try:
        for part, name in track(table_of_contents(), "printing"):
            page = HTML / f"{name}.html"
            starts[page] = len(writer.pages)
            sheets = printed(driver, page)
            writer.append(sheets, import_outline=False)
            if part != last_part:
                mark, last_part = writer.add_outline_item(part, starts[page]), part
            title = driver.title.partition(" — ")[0]
            writer.add_outline_item(title, starts[page], parent=mark)
    finally:
        driver.quit()
    links = lead_inside(writer, starts)
    writer.add_metadata({"/Title": "What Happens When … Kubernetes"})
    writer.compress_identical_objects()
    writer.write(PDF)
    size = PDF.stat().st_size / 1e6
    print(f"{len(writer.pages)} sheets, {links} links inside, {size:.0f} MB: {PDF}")


if __name__ == "__main__":
    main()
