"""Cells run in the page: in a real browser, over a loopback server. `make book` builds what this opens."""

from __future__ import annotations

import gzip
import importlib.util
import json
import sys
import types
from pathlib import Path

import pytest
from babel.messages.mofile import write_mo
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from translations.catalogue import read as read_catalogue

from tab import in_page
from tests.book.test_site import HTML, opened
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))

import live_cells
from live_words import ABSENT, KEPT, LIVE, STAYS, translator

pytestmark = [pytest.mark.real, pytest.mark.timeout(400)]
CHAPTER = "book/control-loops/deployments.html"
LAB = "labs/deployments.html"
NEEDS_SOCKETS = "book/services/dns.html"
WORDS = LIVE
PATIENCE = 180


def bar(browser: webdriver.Chrome, attribute: str) -> str | None:
    return browser.find_element(By.CSS_SELECTOR, ".live-bar").get_attribute(attribute)


def state(browser: webdriver.Chrome) -> str:
    return browser.find_element(By.CSS_SELECTOR, ".live-state").text


def press(browser: webdriver.Chrome, words: str, within: str = ".live-bar") -> None:
    """The button with these words."""
    for button in browser.find_elements(By.CSS_SELECTOR, f"{within} button"):
        if button.get_attribute("textContent") == words:
            browser.execute_script("arguments[0].click()", button)
            return
    raise AssertionError(f"no button {words!r}")


def begin(browser: webdriver.Chrome, address: str) -> None:
    """Open a page and load Python."""
    browser.get(address)
    assert not [r for r in resources(browser) if "/tab-" in r], "nothing is loaded before the reader asks"
    press(browser, WORDS["begin"])
    WebDriverWait(browser, PATIENCE, 0.1).until(lambda driver: bar(driver, "data-ready"), state(browser))


LOOK = """
const done = arguments[arguments.length - 1];
const look = async () => {
  for (const name of await caches.keys()) {
    const keys = (await (await caches.open(name)).keys()).map((each) => each.url);
    return done(keys.map((each) => each.split("/").at(-1)));
  }
  done([]);
};
look();
"""

SPOIL = """
const done = arguments[arguments.length - 1];
const spoil = async () => {
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys())
      if (request.url.endsWith("/memory")) await cache.put(request, new Response("spoilt, and more than that"));
  }
  done();
};
spoil();
"""


def keep_until(browser: webdriver.Chrome, *names: str) -> None:
    """Stay on the page until the browser has kept these."""
    WebDriverWait(browser, PATIENCE, 0.1).until(lambda driver: set(names) <= set(driver.execute_async_script(LOOK)))


def resources(browser: webdriver.Chrome) -> list[str]:
    return list(browser.execute_script("return performance.getEntriesByType('resource').map(each => each.name)"))


def replace(browser: webdriver.Chrome, number: int, source: str) -> str:
    """Another text in the cell; a selector of the place where it stands."""
    place = f'[data-live="{number}"]'
    editor = browser.find_element(By.CSS_SELECTOR, f"{place} .live-editor")
    script = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
    browser.execute_script(script, editor, source)
    return place


def run(browser: webdriver.Chrome, place: str) -> str:
    """Run the cell, after those before it; what it says."""
    press(browser, WORDS["run"], place)
    WebDriverWait(browser, PATIENCE, 0.1).until(lambda driver: bar(driver, "data-idle"))
    return said(browser, place)


def said(browser: webdriver.Chrome, place: str) -> str:
    return browser.find_element(By.CSS_SELECTOR, f"{place} .live-output").get_attribute("textContent") or ""


def test_a_chapters_cells_say_what_they_said_when_the_book_was_built(browser: webdriver.Chrome, site: str) -> None:
    begin(browser, site + CHAPTER)
    press(browser, WORDS["all"])
    WebDriverWait(browser, PATIENCE, 0.1).until(lambda driver: bar(driver, "data-idle"))
    verdicts = [each.get_attribute("data-same") for each in browser.find_elements(By.CSS_SELECTOR, ".live-verdict")]
    assert set(verdicts) == {"yes"}
    assert len(verdicts) >= 8
    said_here = browser.find_elements(By.CSS_SELECTOR, ".live-output:not([hidden])")
    assert [each for each in said_here if not each.is_displayed()] == [], "nothing is folded away with a cell's source"
    recorded = browser.find_elements(By.CSS_SELECTOR, ".live-recorded")
    assert {each.text for each in recorded if each.is_displayed()} == {WORDS["recorded"]}
    assert [each.text for each in browser.find_elements(By.CSS_SELECTOR, ".live-error")] == []
    why = {each.get_attribute("textContent") for each in browser.find_elements(By.CSS_SELECTOR, ".live-absent")}
    assert why == {STAYS.format(ABSENT["library"].format("matplotlib"))}
    away = [name for name in resources(browser) if not name.startswith(site)]
    assert away == [], "nothing comes from another host"


def test_what_a_chapter_loads_is_short_enough_for_a_telephone() -> None:
    [folder] = (HTML / "_static").glob("tab-*")
    loaded = [file for file in folder.iterdir() if file.is_file()] + list((HTML / "_static" / "live").glob("*.mjs"))
    assert sum(file.stat().st_size for file in loaded) <= 25e6
    # a server compresses what is text or code; the archives are as short as they get
    short = [min(file.stat().st_size, len(gzip.compress(file.read_bytes(), 6))) for file in loaded]
    assert sum(short) <= 14.5e6, "the goal is 15 MB, and the package grows"


def test_the_next_start_of_any_page_begins_from_kept_memory(browser: webdriver.Chrome, site: str) -> None:
    begin(browser, site + CHAPTER)
    keep_until(browser, "memory", "package.tar", "recordings.tar")
    begin(browser, site + LAB)
    assert bar(browser, "data-warm") == "yes"
    place = replace(
        browser, 0, "import random, sys\nprint(random.random(), 'lifecycle.cluster.cluster' in sys.modules)"
    )
    chance, _, imported = run(browser, place).partition(" ")
    assert imported.startswith("True"), "what most cells need is there before the first one"
    press(browser, WORDS["restart"])
    WebDriverWait(browser, PATIENCE, 0.1).until(lambda driver: state(driver) == WORDS["ready"])
    assert chance not in run(browser, place), "memory is the same each time, chance is not"
    begin(browser, site + CHAPTER)
    press(browser, WORDS["all"])
    WebDriverWait(browser, PATIENCE, 0.1).until(lambda driver: bar(driver, "data-idle"))
    verdicts = [each.get_attribute("data-same") for each in browser.find_elements(By.CSS_SELECTOR, ".live-verdict")]
    assert set(verdicts) == {"yes"}
    assert len(verdicts) >= 8


def test_memory_that_was_spoilt_is_made_again(browser: webdriver.Chrome, site: str) -> None:
    begin(browser, site + LAB)
    keep_until(browser, "memory", "package.tar", "recordings.tar")
    browser.execute_async_script(SPOIL)
    begin(browser, site + LAB)
    assert bar(browser, "data-warm") == "no"
    assert "42" in run(browser, replace(browser, 0, "print(6 * 7)"))
    keep_until(browser, "memory")
    begin(browser, site + LAB)
    assert bar(browser, "data-warm") == "yes"


def test_a_browser_that_keeps_nothing_starts_all_the_same(browser: webdriver.Chrome, site: str) -> None:
    origin = {"origin": site.rstrip("/")}
    browser.execute_cdp_cmd("Storage.clearDataForOrigin", {**origin, "storageTypes": "all"})
    browser.execute_cdp_cmd("Storage.overrideQuotaForOrigin", {**origin, "quotaSize": 1_000_000})
    try:
        begin(browser, site + LAB)
        assert bar(browser, "data-warm") == "no"
        assert "42" in run(browser, replace(browser, 0, "print(6 * 7)"))
        WebDriverWait(browser, PATIENCE, 0.1).until(lambda driver: note(driver) == KEPT["nothingKept"])
        begin(browser, site + LAB)
        assert bar(browser, "data-warm") == "no"
    finally:
        browser.execute_cdp_cmd("Storage.overrideQuotaForOrigin", origin)


def test_a_lab_is_graded_and_a_wrong_cell_hurts_nobody(browser: webdriver.Chrome, site: str) -> None:
    begin(browser, site + LAB)
    cells = live_cells.cells_of(ROOT / "labs" / "deployments.ipynb")
    [gap] = [i for i, cell in enumerate(cells) if cell.source.startswith("def your_template")]
    check = f'[data-live="{gap + 1}"]'
    assert "not answered yet" in run(browser, check)
    replace(browser, gap, "def your_template(template:")
    assert "SyntaxError" in run(browser, f'[data-live="{gap}"]')
    replace(browser, gap, "while True:\n    print('x' * 10_000)")
    assert "stopped after 200,000 characters of output" in run(browser, f'[data-live="{gap}"]')
    solution = "def your_template(template):\n    return template"
    replace(browser, gap, solution)
    assert "not answered yet" not in run(browser, check), "it is asked anew, of what the reader wrote"


GRADED = """
from lifecycle.exercises.catalogue import find_exercise
from lifecycle.exercises.exercise import grade
from lifecycle.controllers.replicaset.slow_start_batch import slow_start_batch
right = grade(find_exercise("slow-start"), slow_start_batch)
wrong = grade(find_exercise("slow-start"), lambda *_: None)
print(right.equal, wrong.equal)
wrong.notes()[0]
"""


def test_a_readers_function_is_graded_as_lifecycle_check_does(browser: webdriver.Chrome, site: str) -> None:
    begin(browser, site + LAB)
    told = run(browser, replace(browser, 0, GRADED))
    assert told.startswith("True False")
    assert "yours does not fit the contract (TypeError" in told


def test_a_cell_that_loops_is_stopped_and_the_page_goes_on(browser: webdriver.Chrome, site: str) -> None:
    begin(browser, site + LAB)
    place = replace(browser, 0, "while True:\n    pass")
    press(browser, WORDS["run"], place)
    WebDriverWait(browser, PATIENCE, 0.1).until(lambda driver: state(driver) == WORDS["running"])
    press(browser, WORDS["stop"], place)
    assert WORDS["stopped"] in said(browser, place)
    replace(browser, 0, "print(6 * 7)")
    assert "42" in run(browser, place)


def test_a_cell_at_which_python_breaks_down_says_so_and_the_next_run_begins_afresh(
    browser: webdriver.Chrome, site: str
) -> None:
    begin(browser, site + LAB)
    place = replace(browser, 0, "def again():\n    return again()\nagain()")
    assert "RecursionError" in run(browser, place)
    assert state(browser).startswith(WORDS["done"]), "this Python goes on"
    replace(browser, 0, "import json\njson.loads('[' * 100_000)")
    broken = WORDS["broken"].format("Maximum call stack size exceeded")
    assert run(browser, place) == broken
    assert state(browser) == broken
    replace(browser, 0, "print(6 * 7)")
    assert "42" in run(browser, place)


def test_what_is_drawn_beyond_what_a_page_can_show_is_refused(browser: webdriver.Chrome, site: str) -> None:
    begin(browser, site + LAB)
    place = replace(browser, 0, "class T:\n    def _repr_html_(self):\n        return 'x ' * 2_000_000\nT()")
    assert "4,000,000 characters of HTML are more than a page can show" in run(browser, place)


def test_a_cell_that_needs_a_machine_says_why_and_the_others_of_its_page_run(
    browser: webdriver.Chrome, site: str
) -> None:
    begin(browser, site + NEEDS_SOCKETS)
    press(browser, WORDS["all"])
    WebDriverWait(browser, PATIENCE, 0.1).until(lambda driver: bar(driver, "data-idle"))
    assert [each.text for each in browser.find_elements(By.CSS_SELECTOR, ".live-error")] == []
    why = [each.get_attribute("textContent") for each in browser.find_elements(By.CSS_SELECTOR, ".live-absent")]
    assert STAYS.format(ABSENT["thread"]) in why
    cells = live_cells.cells_of(ROOT / NEEDS_SOCKETS.replace(".html", ".md"))
    assert bar(browser, "data-done") == str(len(cells)), "each was tried"
    assert len(why) < len(cells) / 2


def note(browser: webdriver.Chrome) -> str:
    """What is said of what the browser keeps."""
    return browser.find_element(By.CSS_SELECTOR, ".live-kept").text


def test_what_is_kept_is_told_and_the_reader_can_let_go_of_it(browser: webdriver.Chrome, site: str) -> None:
    browser.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": site.rstrip("/"), "storageTypes": "all"})
    browser.get(site + LAB)
    assert note(browser) == ""
    older = f"kubernetes-lifecycle {site}_static/tab-of-another-state/"
    browser.execute_async_script("caches.open(arguments[0]).then(arguments[1])", older)
    begin(browser, site + LAB)
    WebDriverWait(browser, PATIENCE, 0.1).until(lambda driver: note(driver))
    told = KEPT["kept"].split("{}")
    said_of_it = note(browser)
    assert said_of_it.startswith(told[0]), said_of_it
    assert 50 < int(said_of_it.removeprefix(told[0]).split()[0]) < 200
    names = browser.execute_async_script("caches.keys().then(arguments[0])")
    assert len(names) == 1, "one state of the book, and no more"
    assert older not in names
    press(browser, KEPT["forget"])
    WebDriverWait(browser, PATIENCE, 0.1).until(lambda driver: note(driver) == KEPT["forgotten"])
    assert browser.execute_async_script("caches.keys().then(arguments[0])") == []
    registered = "navigator.serviceWorker.getRegistrations().then((all) => arguments[0](all.length))"
    assert browser.execute_async_script(registered) == 0, "nobody stays behind when the tab is closed"


def test_a_browser_without_webassembly_is_told_so(browser: webdriver.Chrome, site: str) -> None:
    without = {"source": "delete globalThis.WebAssembly; delete Navigator.prototype.serviceWorker"}
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", without)
    try:
        browser.get(site + CHAPTER)
        press(browser, WORDS["begin"])
        assert state(browser) == WORDS["old"]
        assert "/tab-" not in " ".join(resources(browser))
        assert "Deployment" in browser.find_element(By.CSS_SELECTOR, "article.bd-article").text
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_a_browser_without_service_workers_runs_cells_all_the_same(browser: webdriver.Chrome, site: str) -> None:
    without = {"source": "delete Navigator.prototype.serviceWorker"}
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", without)
    try:
        begin(browser, site + LAB)
        assert browser.execute_script("return 'serviceWorker' in navigator") is False
        assert "42" in run(browser, replace(browser, 0, "print(6 * 7)"))
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_a_private_window_runs_cells(chromium: str, site: str, tmp_path: Path) -> None:
    with opened(chromium, tmp_path, "--incognito") as private:
        begin(private, site + LAB)
        assert "42" in run(private, replace(private, 0, "print(6 * 7)"))
    with opened(chromium, tmp_path, "--incognito") as again:
        again.get(site + LAB)
        assert again.execute_async_script(LOOK) == [], "a private window leaves nothing behind"


def test_a_site_without_https_has_no_service_worker_and_no_cache_and_runs_cells(
    chromium: str, site: str, tmp_path: Path
) -> None:
    """As in a classroom, where a teacher's machine serves the book under its name."""
    with opened(chromium, tmp_path, "--host-resolver-rules=MAP classroom 127.0.0.1") as pupil:
        begin(pupil, site.replace("127.0.0.1", "classroom") + LAB)
        lacks = "return ['serviceWorker' in navigator, 'caches' in window, isSecureContext]"
        assert pupil.execute_script(lacks) == [False, False, False]
        assert "42" in run(pupil, replace(pupil, 0, "print(6 * 7)"))
        WebDriverWait(pupil, PATIENCE, 0.1).until(lambda driver: note(driver) == KEPT["nothingKept"])


def test_a_page_opened_from_a_file_says_why_nothing_runs_and_still_reads(browser: webdriver.Chrome) -> None:
    browser.get((HTML / CHAPTER).as_uri())
    assert state(browser) == WORDS["file"]
    assert browser.find_elements(By.CSS_SELECTOR, ".live-bar button") == []
    assert "Deployment" in browser.find_element(By.CSS_SELECTOR, "article.bd-article").text


def test_cells_are_read_as_the_book_reads_them(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A\n\n```{code-cell} ipython3\n:tags: [remove-cell]\nimport a\n```\n\ntext\n\n"
        "```{code-cell} ipython3\n---\ntags: [hide-input]\nmystnb: {image: {alt: x}}\n---\nprint(1)\n\nprint(2)\n```\n"
        "```{code-cell} ipython3\nx = 1\n```\n"
    )
    assert live_cells.cells_of(page) == [("import a", True), ("print(1)\n\nprint(2)", False), ("x = 1", False)]
    told = json.loads(live_cells.described(live_cells.cells_of(page), "../tab/", {}).replace("<\\/", "</"))
    assert [cell["place"] for cell in told["cells"]] == [None, 0, 1]


def test_a_page_cannot_end_its_own_description() -> None:
    assert "</script" not in live_cells.described([live_cells.Cell("print('</script>')", False)], "", {})


def test_the_words_are_those_of_the_language_that_the_site_is_built_in(tmp_path: Path) -> None:
    compiled = tmp_path / "locale" / "ja" / "LC_MESSAGES" / "live.mo"  # as Sphinx does when a build begins
    compiled.parent.mkdir(parents=True)
    with compiled.open("wb") as file:
        write_mo(file, read_catalogue("ja", "live"))
    app = types.SimpleNamespace(srcdir=tmp_path, config=types.SimpleNamespace(locale_dirs=["locale"], language="ja"))
    told = json.loads(live_cells.described([], "", {}, translator(app)))["words"]
    assert told["begin"] == "このページをここで実行する"
    assert {key for key, word in told.items() if word.isascii()} == set()
    app.config.language = "en"
    assert json.loads(live_cells.described([], "", {}, translator(app)))["words"]["begin"] == WORDS["begin"]


@pytest.mark.parametrize("library", [*in_page.NO_BUILD, *in_page.COMPILED])
def test_what_is_said_to_have_no_build_is_something_the_book_uses(library: str) -> None:
    assert importlib.util.find_spec(library) is not None
