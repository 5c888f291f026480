"""Cells run in the page: in a real browser, over a loopback server. `make book` builds what this opens."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))

import live_cells

pytestmark = [pytest.mark.real, pytest.mark.timeout(400)]
CHAPTER = "book/control-loops/deployments.html"
LAB = "labs/deployments.html"
NEEDS_SOCKETS = "book/services/dns.html"
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
    press(browser, live_cells.WORDS["begin"])
    WebDriverWait(browser, PATIENCE, 0.1).until(lambda driver: bar(driver, "data-ready"), state(browser))


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
    press(browser, live_cells.WORDS["run"], place)
    WebDriverWait(browser, PATIENCE, 0.1).until(lambda driver: bar(driver, "data-idle"))
    return said(browser, place)


def said(browser: webdriver.Chrome, place: str) -> str:
    return browser.find_element(By.CSS_SELECTOR, f"{place} .live-output").get_attribute("textContent") or ""


def test_a_chapters_cells_say_what_they_said_when_the_book_was_built(browser: webdriver.Chrome, site: str) -> None:
    begin(browser, site + CHAPTER)
    press(browser, live_cells.WORDS["all"])
    WebDriverWait(browser, PATIENCE, 0.1).until(lambda driver: bar(driver, "data-idle"))
    verdicts = [each.get_attribute("data-same") for each in browser.find_elements(By.CSS_SELECTOR, ".live-verdict")]
    assert set(verdicts) == {"yes"}
    assert len(verdicts) >= 8
    errors = [each.get_attribute("textContent") for each in browser.find_elements(By.CSS_SELECTOR, ".live-error")]
    assert {error for error in errors if error} == {
        "matplotlib has no build for a browser tab: the recorded picture stays"
    }
    away = [name for name in resources(browser) if not name.startswith(site)]
    assert away == [], "nothing comes from another host"


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


def test_a_cell_that_loops_is_stopped_and_the_page_goes_on(browser: webdriver.Chrome, site: str) -> None:
    begin(browser, site + LAB)
    place = replace(browser, 0, "while True:\n    pass")
    press(browser, live_cells.WORDS["run"], place)
    WebDriverWait(browser, PATIENCE, 0.1).until(lambda driver: state(driver) == live_cells.WORDS["running"])
    press(browser, live_cells.WORDS["stop"], place)
    assert live_cells.WORDS["stopped"] in said(browser, place)
    replace(browser, 0, "print(6 * 7)")
    assert "42" in run(browser, place)


def test_a_page_whose_cells_need_a_machine_says_so(browser: webdriver.Chrome, site: str) -> None:
    browser.get(site + NEEDS_SOCKETS)
    assert state(browser) == live_cells.NEEDS_A_MACHINE
    buttons = browser.find_elements(By.CSS_SELECTOR, ".live-bar button")
    assert [button for button in buttons if button.is_displayed()] == []


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


@pytest.mark.parametrize(
    ("source", "can"),
    [
        ("import json", True),
        ("from lifecycle.cluster.rehearsal import rehearse", True),
        ("import subprocess", False),
        ("with lifecycle.up() as cluster: pass", False),
        ("from lifecycle.cni.bridge import plugin", False),
    ],
)
def test_what_needs_a_machine_is_found_by_what_it_names(source: str, can: bool) -> None:
    assert live_cells.can_run([live_cells.Cell(source, False)]) is can


def test_a_page_cannot_end_its_own_description() -> None:
    assert "</script" not in live_cells.described([live_cells.Cell("print('</script>')", False)], "", {})
