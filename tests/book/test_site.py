"""The built site, looked at as a reader would: links, pictures, a phone, the dark, no network.

`make book` builds the site and then runs this file. `LIFECYCLE_SITE` names the folder of a site that was built elsewhere.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest
from bs4 import BeautifulSoup
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.conftest import ROOT, unavailable

HTML = Path(os.environ.get("LIFECYCLE_SITE") or ROOT / "_build" / "html").resolve()


def pages() -> list[Path]:
    """Every page of the book itself (not the theme's own templates, nor search and index)."""
    return sorted(p for part in ("book", "labs") for p in (HTML / part).rglob("*.html"))


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    if not (HTML / "index.html").exists():
        unavailable("the site is not built yet: run `make book`")


@cache
def soup_of(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


def test_every_chapter_of_the_table_of_contents_became_a_page() -> None:
    listed = [
        line.split("file:")[1].strip() for line in (ROOT / "_toc.yml").read_text().splitlines() if "file:" in line
    ]
    assert listed
    assert [name for name in listed if not (HTML / f"{name}.html").exists()] == []


def test_no_link_inside_the_book_is_broken() -> None:
    ids: dict[Path, set[str]] = {}

    def anchors(page: Path) -> set[str]:
        if page not in ids:
            ids[page] = {str(tag["id"]) for tag in soup_of(page).find_all(id=True)}
        return ids[page]

    broken = []
    for page in pages():
        for tag in soup_of(page).find_all("a", href=True):
            target, fragment = urldefrag(str(tag["href"]))
            if urlparse(target).scheme or target.startswith("//"):
                continue
            file = (page.parent / unquote(target)).resolve() if target else page
            if not file.exists() or (fragment and file.suffix == ".html" and fragment not in anchors(file)):
                broken.append((page.name, tag["href"]))
    assert broken == []


def test_every_picture_is_there_and_has_alternative_text() -> None:
    bad = []
    for page in pages():
        for tag in soup_of(page).select("article img"):
            source = str(tag.get("src", ""))
            if not source.startswith("data:") and not (page.parent / unquote(source)).exists():
                bad.append((page.name, source, "missing"))
            if not str(tag.get("alt", "")).strip() or str(tag.get("alt")).endswith((".png", ".svg")):
                bad.append((page.name, source, "no alternative text"))
    assert bad == []


def test_nothing_is_loaded_from_elsewhere() -> None:
    outside = []
    for page in HTML.rglob("*.html"):
        soup = soup_of(page)
        for tag in [*soup.find_all(src=True), *soup.find_all("link", href=True)]:
            if tag.get("rel") and "canonical" in tag["rel"]:
                continue
            address = str(tag.get("src") or tag.get("href"))
            if address.startswith(("http:", "https:", "//")):
                outside.append((page.name, address))
    assert outside == []


def test_executed_chapters_show_their_outputs() -> None:
    empty = []
    for page in pages():
        soup = soup_of(page)
        if soup.select("div.cell") and not soup.select("div.cell_output"):
            empty.append(page.name)
    assert empty == []


@pytest.fixture(scope="module")
def browser(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    profile = tmp_path_factory.mktemp("chromium")
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--allow-file-access-from-files",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    yield driver
    driver.quit()


PHONE = {"width": 375, "height": 812, "deviceScaleFactor": 2, "mobile": True}

CONTRAST = """
const lum = c => { const [r,g,b] = c.map(v => { v/=255; return v<=.03928 ? v/12.92 : Math.pow((v+.055)/1.055, 2.4) });
                   return .2126*r + .7152*g + .0722*b };
const rgb = s => (s.match(/[\\d.]+/g) || []).map(Number);
const ground = el => { for (; el; el = el.parentElement) { const c = rgb(getComputedStyle(el).backgroundColor);
                       if (c.length === 3 || (c.length === 4 && c[3] > .5)) return c.slice(0, 3) } return [255, 255, 255] };
const bad = [];
document.documentElement.dataset.theme = arguments[0];
for (const el of document.querySelectorAll('article p, article li, article h1, article h2, article td, article th, article pre')) {
  if (!el.innerText || !el.offsetParent) continue;
  const a = lum(rgb(getComputedStyle(el).color).slice(0, 3)), b = lum(ground(el));
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) bad.push(el.tagName + ' ' + ratio.toFixed(1) + ' ' + el.innerText.slice(0, 40));
}
return bad;
"""
"""Text that is too pale on its ground in the mode that is handed in: less than 4.5 to 1."""


@dataclass
class Visit:
    """What a reader saw of one page."""

    page: str
    complaints: list[str]
    pale: dict[str, list[str]]
    width: int


@pytest.fixture(scope="module")
def visits(browser: webdriver.Chrome) -> list[Visit]:
    """Each page is opened once, on a phone, and looked at in both modes."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    seen = []
    for page in pages():
        browser.get(page.as_uri())
        WebDriverWait(browser, 20).until(lambda d: d.execute_script("return document.readyState") == "complete")
        width = browser.execute_script("return document.documentElement.scrollWidth")
        pale = {mode: browser.execute_script(CONTRAST, mode) for mode in ("light", "dark")}
        said = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
        seen.append(Visit(page.name, said, pale, width))
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return seen


@pytest.mark.real
def test_no_page_complains_in_the_console(visits: list[Visit]) -> None:
    assert [(visit.page, visit.complaints) for visit in visits if visit.complaints] == []


@pytest.mark.real
def test_no_page_scrolls_sideways_on_a_phone(visits: list[Visit]) -> None:
    assert [(visit.page, visit.width) for visit in visits if visit.width > PHONE["width"]] == []


@pytest.mark.real
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_stands_out_from_its_ground(visits: list[Visit], mode: str) -> None:
    assert [(visit.page, visit.pale[mode]) for visit in visits if visit.pale[mode]] == []


@pytest.mark.real
def test_search_works_without_a_network(browser: webdriver.Chrome) -> None:
    browser.get((HTML / "search.html").as_uri() + "?q=agreement")
    wanted = '#search-results li a[href*="how-the-book-checks-itself"]'
    assert WebDriverWait(browser, 20).until(lambda d: d.find_elements(By.CSS_SELECTOR, wanted))
