"""The built site, looked at as a reader would: links, pictures, a phone, the dark, no network.

`make book` builds the site and then runs this file. `LIFECYCLE_SITE` names the folder of a site that was built elsewhere.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest
import selenium_axe_python
from bs4 import BeautifulSoup
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from lifecycle.compare.claims import load_claims
from lifecycle.playground.scenario import parse_scenario
from tests.conftest import ROOT, unavailable

pytestmark = pytest.mark.timeout(900)
"""All pages are opened once, which takes minutes: before the first test."""

HTML = Path(os.environ.get("LIFECYCLE_SITE") or ROOT / "_build" / "html").resolve()


def pages() -> list[Path]:
    """Every page of the book itself, and the teacher's slides (not the theme's own templates, nor search and index)."""
    return sorted(p for part in ("book", "labs", "slides") for p in (HTML / part).rglob("*.html"))


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


def test_each_plan_of_a_teacher_became_a_deck_with_pictures_and_commands() -> None:
    plans = re.findall(r"^## You teach: (.+)$", (ROOT / "book" / "reader-paths.md").read_text(), re.M)
    assert len(plans) == 2
    for plan in plans:
        deck = soup_of(HTML / "slides" / f"{plan.replace(' ', '-')}.html")
        assert len(deck.select(".picture img")) >= 10
        for kind in ("lead", "type", "remember"):
            empty = [slide.get("id") for slide in deck.select(f".{kind}") if not slide.select(".body > *")]
            assert deck.select(f".{kind}"), kind
            assert empty == []


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
            if "play-lesson" in tag.get_attribute_list("class"):
                assert parse_scenario(fragment).steps, "not a place on the page, but what to do there"
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


@contextmanager
def opened(chromium: str, profile: Path, *flags: str) -> Iterator[webdriver.Chrome]:
    """A browser without a window, with these flags too."""
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
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
        *flags,
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    driver.set_script_timeout(120)
    try:
        yield driver
    finally:
        driver.quit()


@contextmanager
def on_paper(browser: webdriver.Chrome) -> Iterator[None]:
    """The page as it is printed, on a sheet that is 720 pixels wide."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**DESKTOP, "width": 720})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.fixture(scope="module")
def browser(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with opened(chromium, tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


PHONES = [375, 390]
PHONE = {"width": PHONES[-1], "height": 812, "deviceScaleFactor": 2, "mobile": True}

DESKTOP = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}

AXE = """
const [mode, rules, done] = arguments;
document.documentElement.dataset.theme = document.documentElement.dataset.mode = mode;
axe.run(document, {resultTypes: ['violations'], preload: false, ...rules}).then(
  found => done(found.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 120)))), error => done([String(error)]));
"""
"""What axe-core finds in a mode with these rules, or all."""

[AXE_CORE] = Path(selenium_axe_python.__file__).parent.rglob("axe.min.js")
CONTRAST = {"runOnly": ["color-contrast"]}
CODE_ELSEWHERE = "axe.configure({rules: [{id: 'color-contrast', selector: '*:not(pre, pre *)'}]});"
"""The colours of code are the same on every page, and thousands of words have one: they are looked at once."""

CUT = """
return [...document.querySelectorAll('article pre')].filter(pre => pre.checkVisibility({contentVisibilityAuto: true})
    && pre.innerText && pre.scrollWidth > pre.clientWidth + 1)
  .map(pre => pre.innerText.split('\\n').sort((a, b) => b.length - a.length)[0].slice(0, 100));
"""
"""The longest line of each block of code or output that a reader has to push sideways."""

CUT_ON_PAPER = """
return [...document.querySelectorAll('article pre, article table, article img, article svg')]
  .filter(one => one.checkVisibility() && (one.scrollWidth > one.clientWidth + 1 || one.getBoundingClientRect().right > innerWidth + 1))
  .map(one => one.outerHTML.slice(0, 100));
"""
"""What does not fit between the edges of a sheet."""

OUT_OF_REACH = """
return [...document.querySelectorAll('a[href], button, summary, input, select, textarea, [onclick]')]
  .filter(one => one.checkVisibility({visibilityProperty: true}) && !one.disabled && one.tabIndex !== 0)
  .filter(one => one.closest('article') && !one.matches('[role=tab], [role=tabpanel], dialog, .headerlink'))
  .map(one => one.outerHTML.slice(0, 100));
"""
"""What a hand can press and Tab leaves out, or takes out of its order."""


@dataclass
class Visit:
    """What a reader saw of one page. `widths`: of its contents, by the window's; `on_paper`: what is cut there."""

    page: str
    complaints: list[str]
    violations: dict[str, list[str]]
    widths: dict[int, int]
    cut: list[str]
    out_of_reach: list[str]
    on_paper: list[str]


def width_in(browser: webdriver.Chrome, window: dict[str, object]) -> int:
    """How wide a page's contents are, in such a window."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", window)
    return int(browser.execute_script("return document.documentElement.scrollWidth"))


def visit(browser: webdriver.Chrome, some: list[Path]) -> list[Visit]:
    """Each page is opened once: on phones and in the light, then at 1280 pixels and in the dark, then on paper."""
    seen = []
    for page in some:
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
        browser.get(page.as_uri())
        WebDriverWait(browser, 20).until(lambda d: d.execute_script("return document.readyState") == "complete")
        browser.execute_script(AXE_CORE.read_text(encoding="utf-8") + CODE_ELSEWHERE)
        widths = {width: width_in(browser, {**PHONE, "width": width}) for width in PHONES}
        violations = {"light": browser.execute_async_script(AXE, "light", {})}
        widths[DESKTOP["width"]] = width_in(browser, DESKTOP)
        violations["dark"] = browser.execute_async_script(AXE, "dark", {})
        cut = browser.execute_script(CUT)
        out_of_reach = browser.execute_script(OUT_OF_REACH)
        with on_paper(browser):
            cut_there = browser.execute_script(CUT_ON_PAPER)
        said = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
        seen.append(Visit(page.name, said, violations, widths, cut, out_of_reach, cut_there))
    return seen


@pytest.fixture(scope="module")
def visits(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> list[Visit]:
    """What was seen of all pages, by one browser for each of the machine's cores."""
    readers = os.cpu_count() or 1
    profiles = [tmp_path_factory.mktemp("reader") for _ in range(readers)]

    def read(number: int) -> list[Visit]:
        with opened(chromium, profiles[number]) as browser:
            return visit(browser, [*pages(), HTML / "search.html", HTML / "genindex.html"][number::readers])

    with ThreadPoolExecutor(readers) as pool:
        return [seen for part in pool.map(read, range(readers)) for seen in part]


@pytest.mark.real
def test_no_page_complains_in_the_console(visits: list[Visit]) -> None:
    assert [(visit.page, visit.complaints) for visit in visits if visit.complaints] == []


@pytest.mark.real
@pytest.mark.parametrize("window", [*PHONES, DESKTOP["width"]])
def test_no_page_scrolls_sideways(visits: list[Visit], window: int) -> None:
    assert len(visits) > len(pages())
    assert [(visit.page, visit.widths[window]) for visit in visits if visit.widths[window] > window] == []


@pytest.mark.real
def test_nothing_is_cut_on_paper(visits: list[Visit]) -> None:
    assert [(visit.page, visit.on_paper) for visit in visits if visit.on_paper] == []


@pytest.mark.real
def test_no_code_or_output_scrolls_sideways_on_a_desk(visits: list[Visit]) -> None:
    assert [(visit.page, visit.cut) for visit in visits if visit.cut] == []


@pytest.mark.real
def test_the_keyboard_reaches_whatever_a_hand_can_press(visits: list[Visit]) -> None:
    assert [(visit.page, visit.out_of_reach) for visit in visits if visit.out_of_reach] == []


WALK = ["book/the-journey.html", "book/kubectl/validation-and-generators.html", "labs/deployments.html"]


@pytest.mark.real
@pytest.mark.parametrize("page", WALK)
def test_tab_leads_through_a_page_to_its_end_and_shows_where_it_is(browser: webdriver.Chrome, page: str) -> None:
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", DESKTOP)
    browser.get((HTML / page).as_uri())
    here = "const one = document.activeElement; return one === document.body ? null : "
    seen, hidden = [], []
    for _ in range(600):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        stop = browser.execute_script(here + "(one.matches('.right-next') ? 'next' : one.outerHTML.slice(0, 120))")
        if stop is None:
            break
        seen.append(stop)
        shows = "[getComputedStyle(one).outlineStyle, getComputedStyle(one).boxShadow].some(how => how !== 'none')"
        if not browser.execute_script(here + shows):
            hidden.append(stop)
    assert "next" in seen  # the link to the next page stands behind the text
    assert hidden == []


@pytest.mark.real
@pytest.mark.parametrize("page", WALK)
def test_nothing_moves_for_those_who_asked_for_that(browser: webdriver.Chrome, page: str) -> None:
    still = {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
    moving = """return [...document.querySelectorAll('*')].filter(one => {
      const style = getComputedStyle(one);
      const seconds = [style.transitionDuration, style.animationDuration].flatMap(all => all.split(',').map(parseFloat));
      return Math.max(...seconds) > 0.01 || style.scrollBehavior === 'smooth';
    }).map(one => one.outerHTML.slice(0, 80))"""
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", still)
    try:
        browser.get((HTML / page).as_uri())
        assert browser.execute_script(moving) == []
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.real
def test_on_paper_a_page_is_its_text(browser: webdriver.Chrome) -> None:
    browser.get((HTML / "book" / "control-loops" / "informers.html").as_uri())
    around = "return [...document.querySelectorAll('.bd-sidebar, .bd-header-article, .prev-next-footer, .copybtn')]"
    around += ".filter(one => one.checkVisibility()).length"
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", DESKTOP)
    assert browser.execute_script(around) > 0
    with on_paper(browser):
        assert browser.execute_script(around) == 0


@pytest.mark.real
def test_on_paper_an_output_that_is_folded_on_the_screen_is_there(browser: webdriver.Chrome) -> None:
    browser.get((HTML / "book" / "wrap-up" / "what-still-holds.html").as_uri())
    seen = "return [...document.querySelectorAll(arguments[0])].map(one => one.checkVisibility())"
    with on_paper(browser):
        assert browser.execute_script(seen, "details.below-input pre") == [True]
        assert browser.execute_script(seen, "details.below-input summary") == [False]
        assert not any(browser.execute_script(seen, "details.above-input pre"))


@pytest.mark.real
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_axe_finds_nothing_to_complain_about(visits: list[Visit], mode: str) -> None:
    assert [(visit.page, visit.violations[mode]) for visit in visits if visit.violations[mode]] == []


@pytest.mark.real
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_code_stands_out_from_its_ground(browser: webdriver.Chrome, mode: str) -> None:
    browser.get((HTML / "book" / "control-loops" / "informers.html").as_uri())
    browser.execute_script(AXE_CORE.read_text(encoding="utf-8"))
    assert browser.execute_async_script(AXE, mode, CONTRAST) == []


def test_every_page_says_to_a_search_engine_what_it_is_about() -> None:
    silent = []
    for page in pages():
        tag = soup_of(page).find("meta", attrs={"name": "description"})
        if tag is None or len(str(tag.get("content", ""))) < 40:
            silent.append(page.name)
    assert silent == []


def test_every_page_has_a_card_with_a_picture_that_is_there() -> None:
    address, wrong = os.environ.get("BOOK_SITE", "").rstrip("/"), []
    for page in pages():
        if "slides" not in page.parts:
            card = {str(tag["property"]): str(tag["content"]) for tag in soup_of(page).select("meta[property^='og:']")}
            picture = card.get("og:image", "").removeprefix(address).lstrip("/")
            if not (card.get("og:title") and card.get("og:description") and picture and (HTML / picture).is_file()):
                wrong.append((page.name, card))
    assert wrong == []


def test_no_page_of_the_book_shows_what_a_claim_is_called_in_the_ledger() -> None:
    names = "|".join(re.escape(claim.id) for claim in load_claims(ROOT / "book" / "claims.yaml"))
    shown = re.compile(rf"(?<![\w-])(?:{names})(?![\w-])")
    found = {page.name: shown.findall(soup_of(page).select_one("article").get_text(" ")) for page in pages()
             if "book" in page.relative_to(HTML).parts}  # fmt: skip
    assert {page: ids for page, ids in found.items() if ids} == {}


def test_the_index_has_terms_and_upstream_symbols() -> None:
    entries = {
        tag.get_text(strip=True) for tag in soup_of(HTML / "genindex.html").select("article td > ul > li, article a")
    }
    assert {"informer", "finalizer", "bindingCycle (upstream)"} <= entries
    assert len(entries) > 500


def test_a_term_is_a_link_where_a_page_uses_it_first_and_only_there() -> None:
    for page in pages():
        if page.stem != "glossary" and "book" in page.parts:
            links = [
                str(tag["href"]).partition("#")[2]
                for tag in soup_of(page).select("article a[href*='glossary.html#term-']")
            ]
            assert len(links) == len(set(links)), page.name
    assert soup_of(HTML / "book" / "control-loops" / "informers.html").select("article a[href*='glossary.html#term-']")


def test_the_site_is_small() -> None:
    assert sum(file.stat().st_size for file in HTML.rglob("*") if file.is_file()) < 60e6


@pytest.mark.real
def test_search_works_without_a_network(browser: webdriver.Chrome) -> None:
    browser.get((HTML / "search.html").as_uri() + "?q=agreement")
    wanted = '#search-results li a[href*="how-the-book-checks-itself"]'
    assert WebDriverWait(browser, 20).until(lambda d: d.find_elements(By.CSS_SELECTOR, wanted))
