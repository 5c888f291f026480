"""The teacher's slides: made from the built pages as the plan says, whole, and usable with keys, finger and paper."""

from __future__ import annotations

import base64
import io
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from pypdf import PdfReader
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.docutils import docutils_namespace, patch_docutils

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))

from slides.deck import page_of, slides_of
from slides.harvest import NotBuilt, harvest
from slides.plan import Plan, Row, Source, plans_of, read_plans

PLAN = """# Reader paths

## You read

Nothing here.

## You teach: half an hour

For *everybody*. {bdg-primary}`30 minutes`

{slides}`Slides <half-an-hour>`.

| minutes | what happens | from |
|---|---|---|
| 5 | Ask: *why?* | [A chapter](chapter.md) |
| 15 | Tell. | [A chapter](chapter.md), [its lab](../labs/chapter.ipynb) |
| 5 | Look at one part. | [the code](#the-place) |
| 5 | Go home. | |
"""
CHAPTER = """<html><body><article><section class="x" id="top"><h1>A chapter<a class="headerlink" href="#top">#</a></h1>
<p>The <a href="g.html">nginx</a> question.</p><p><em>Comes after:</em> Another.</p>
<section id="see"><h2>What you will see happen</h2><p>Once upon a time. Here it is:</p>
<div class="cell"><img alt="A &quot;box&quot;" src="../_images/a.svg"></div><p>So it was.</p></section>
<section id="story"><h2>The story</h2><p><strong>First idea.</strong> It is old.</p><div><img alt="two" src="../_images/a.svg"></div>
<section id="the-part"><h3>The part</h3><p id="the-place">Look.</p><img alt="three" src="../_images/a.svg"></section>
<details><img alt="folded" src="../_images/a.svg"></details><p>More.</p><img alt="four" src="../_images/a.svg"></section>
<section id="code"><h2>The code</h2><img alt="of code" src="../_images/a.svg"></section>
<section id="three"><h2>Three things to remember</h2><ol><li><p><strong>One.</strong> Yes.</p></li><li>Two.</li></ol></section>
<section id="own"><h2>See it on your own cluster</h2><div class="highlight-console notranslate"><div class="highlight">
<pre><span class="gp">$ </span>kubectl get pods &lt;all&gt;</pre></div></div></section></section></article></body></html>"""
LAB = """<html><body><article><section id="lab"><h1>Lab: A chapter</h1><p>Predict.</p>
<section id="one"><h2>1 · Guess</h2></section></section></article></body></html>"""
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 4"><rect width="9" height="4" fill="#888"/></svg>'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    for name, text in {
        "book/chapter.html": CHAPTER,
        "labs/chapter.html": LAB,
        "_images/a.svg": SVG,
        "index.html": "",
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def plan() -> Plan:
    [found] = plans_of(PLAN)
    return found


def test_a_plan_is_read_with_its_minutes_and_its_pages(plan: Plan) -> None:
    chapter, lab = Source("A chapter", "book/chapter"), Source("its lab", "labs/chapter")
    part = Source("the code", "book/chapter", "the-place")
    assert (plan.name, plan.title, plan.lead) == ("half-an-hour", "You teach: half an hour", "For *everybody*.")
    assert plan.rows[:2] == (Row(0, 5, "Ask: *why?*", (chapter,)), Row(5, 15, "Tell.", (chapter, lab)))
    assert plan.rows[2:] == (Row(20, 5, "Look at one part.", (part,)), Row(25, 5, "Go home.", ()))
    assert plan.minutes == 30
    assert [source.is_lab for source in plan.rows[1].sources] == [False, True]


def test_a_page_gives_what_belongs_on_slides_and_nothing_that_leads_away(site: Path) -> None:
    found = harvest(site, "book/chapter")
    assert (found.title, found.lead, found.more) == ("A chapter", ("<p>The nginx question.</p>",), ())
    assert [BeautifulSoup(shown.html, "html.parser").img["alt"] for shown in found.shown] == [
        'A "box"',
        "two",
        "three",
        "four",
    ]
    first = found.shown[0]
    assert (first.title, first.caption) == ("", "Here it is")
    assert [shown.caption for shown in found.shown[1:]] == [""] * 3
    assert first.notes == ("Once upon a time. Here it is:", "So it was.")
    assert base64.b64decode(first.html.partition("base64,")[2].partition('"')[0]).decode() == SVG
    assert [shown.title for shown in found.shown[1:3]] == ["First idea", "The part"]
    assert found.remember == "<li><strong>One.</strong> Yes.</li><li>Two.</li>"
    [typed] = found.type
    assert typed == '<pre tabindex="0"><span class="gp">$ </span>kubectl get pods &lt;all&gt;</pre>'


def test_a_long_lead_goes_on_in_the_notes(site: Path) -> None:
    text = CHAPTER.replace("</p><p><em>", "</p><p>" + "word " * 90 + "</p><p>And so on.</p><p><em>")
    (site / "book" / "long.html").write_text(text)
    found = harvest(site, "book/long")
    assert found.lead == ("<p>The nginx question.</p>",)
    assert [more[:8] for more in found.more] == ["<p>word ", "<p>And s"]


@pytest.mark.parametrize("anchor", ["the-part", "the-place"])
def test_an_anchor_means_one_section(site: Path, anchor: str) -> None:
    [shown] = harvest(site, "book/chapter", anchor).shown
    assert 'alt="three"' in shown.html


@pytest.mark.parametrize(
    ("page", "anchor", "word"), [("book/gone", "", "no page book/gone"), ("book/chapter", "gone", "no section gone")]
)
def test_what_a_plan_names_and_nobody_built_is_an_error(site: Path, page: str, anchor: str, word: str) -> None:
    with pytest.raises(NotBuilt, match=word):
        harvest(site, page, anchor)


def test_a_row_has_a_picture_for_each_five_minutes_and_a_summary_if_there_is_time(plan: Plan, site: Path) -> None:
    kinds = [(slide.kind, slide.row.start if slide.row else None) for slide in slides_of(plan, site)]
    assert kinds == [
        ("title", None),
        *[("part", 0), ("lead", 0)],
        *[("part", 5), ("lead", 5), *[("picture", 5)] * 3, ("type", 5), ("remember", 5), ("lab", 5)],
        *[("part", 20), ("picture", 20)],
        ("part", 25),
    ]


def test_a_deck_is_one_file_that_needs_no_other(plan: Plan, site: Path) -> None:
    soup = BeautifulSoup(page_of(plan, site), "html.parser")
    assert not soup.find_all("link")
    assert [tag["src"][:10] for tag in soup.find_all(src=True)] == ["data:image"] * 4
    assert {str(tag["href"]) for tag in soup.find_all("a")} == {"../book/chapter.html", "../labs/chapter.html"}
    assert "url(" not in page_of(plan, site)
    assert "@import" not in page_of(plan, site)
    headings = [slide.find(["h1", "h2"]).get_text() for slide in soup.select(".slide")]
    assert headings[:3] == ["You teach: half an hour", "Ask: why?", "A chapter"]
    assert "5–20 of 30 min" in soup.get_text()
    assert "kubectl get pods <all>" in soup.get_text()


def test_the_plans_of_the_book_have_decks_and_the_page_leads_to_them() -> None:
    plans = {plan.name: plan for plan in read_plans(ROOT)}
    assert {name: plan.minutes for name, plan in plans.items()} == {"ninety-minutes": 90, "a-day": 360}
    page = (ROOT / "book" / "reader-paths.md").read_text()
    for name, plan in plans.items():
        assert page.partition(f"## {plan.title}\n")[2].partition("\n## ")[0].count(f"<{name}>`") == 1
        assert plan.rows[0].sources
        assert "{" not in plan.lead


def built(folder: Path, builder: str, name: str = "half-an-hour", warning: io.StringIO | None = None) -> str:
    (folder / "book" / "_static").mkdir(parents=True, exist_ok=True)
    (folder / "book" / "_static" / "book.css").write_text(".journey-stepper { margin: 0; }\n")
    (folder / "index.md").write_text("# Home\n\n```{toctree}\nbook/reader-paths\nbook/chapter\n```\n")
    (folder / "book" / "chapter.md").write_text(
        "# A chapter\n\nThe question.\n\n## The part\n\n(the-place)=\nA part.\n"
    )
    text = PLAN.replace("{bdg-primary}", "").replace("<half-an-hour>", f"<{name}>").replace(", [its lab]", ", [it]")
    (folder / "book" / "reader-paths.md").write_text(text.replace("../labs/chapter.ipynb", "chapter.md"))
    settings = {"extensions": ["myst_parser", "slides"], "myst_heading_anchors": 2, "html_theme": "basic"}
    settings |= {"html_sidebars": {}, "html_copy_source": False}
    settings |= {"source_suffix": {".rst": "restructuredtext"}}  # Sphinx writes into its own default otherwise
    out = folder / builder
    with patch_docutils(), docutils_namespace():
        app = Sphinx(folder, None, out, out / "doctrees", builder, settings, status=None, warning=warning)
        app.build(force_all=True)
    return "".join(file.read_text() for file in out.glob("book/reader-paths.*") if file.suffix in (".html", ".txt"))


def test_the_site_carries_the_decks_and_other_formats_only_their_names(tmp_path: Path) -> None:
    with pytest.raises(SphinxError, match="is empty"):
        built(tmp_path, "html")  # a theme without <article>: nothing to harvest, and that is an error
    page = (tmp_path / "html" / "book" / "reader-paths.html").read_text()
    assert '<a class="reference internal" href="../slides/half-an-hour.html">Slides</a>' in page
    assert "Slides." in built(tmp_path, "text")
    assert not (tmp_path / "text" / "slides").exists()


def test_a_link_to_no_deck_is_a_warning(tmp_path: Path) -> None:
    said = io.StringIO()
    built(tmp_path, "text", name="half-a-day", warning=said)
    assert "no plan is called half-a-day" in said.getvalue()


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1280,800",
    ):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    yield driver
    driver.quit()


@pytest.fixture
def deck(browser: webdriver.Chrome, plan: Plan, site: Path) -> webdriver.Chrome:
    file = site / "slides" / "half-an-hour.html"
    file.parent.mkdir(exist_ok=True)
    file.write_text(page_of(plan, site))
    browser.get("about:blank")
    browser.get(file.as_uri())
    return browser


def shown(driver: webdriver.Chrome) -> list[str]:
    return [str(s.get_attribute("id")) for s in driver.find_elements(By.CSS_SELECTOR, ".slide") if s.is_displayed()]


@pytest.mark.real
def test_keys_go_from_slide_to_slide(deck: webdriver.Chrome) -> None:
    seen = [shown(deck)]
    for key in (Keys.ARROW_RIGHT, " ", Keys.PAGE_DOWN, Keys.ARROW_LEFT, Keys.END, Keys.ARROW_RIGHT, Keys.HOME):
        ActionChains(deck).send_keys(key).perform()
        seen.append(shown(deck))
    assert seen == [["s1"], ["s2"], ["s3"], ["s4"], ["s3"], ["s14"], ["s14"], ["s1"]]
    assert deck.current_url.endswith("#s1")
    deck.get(deck.current_url.replace("#s1", "#s6"))
    assert shown(deck) == ["s6"]


@pytest.mark.real
def test_notes_and_the_dark_are_a_key_away(deck: webdriver.Chrome) -> None:
    ActionChains(deck).send_keys(Keys.ARROW_RIGHT * 5).perform()
    notes = deck.find_element(By.CSS_SELECTOR, "#s6 .notes")
    assert not notes.is_displayed()
    ActionChains(deck).send_keys("n").perform()
    assert notes.is_displayed()
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = deck.execute_script(ground)
    ActionChains(deck).send_keys("t").perform()
    assert deck.execute_script(ground) != light


SWIPE = """
const touch = x => new Touch({identifier: 1, target: document.body, clientX: x, clientY: 300});
document.body.dispatchEvent(new TouchEvent('touchstart', {touches: [touch(arguments[0])], bubbles: true}));
document.body.dispatchEvent(new TouchEvent('touchend', {changedTouches: [touch(arguments[1])], bubbles: true}));
"""


@pytest.mark.real
def test_a_finger_turns_the_slides(deck: webdriver.Chrome) -> None:
    seen = []
    for start, end in ((600, 200), (600, 580), (600, 200), (200, 600)):
        deck.execute_script(SWIPE, start, end)
        seen.append(shown(deck))
    assert seen == [["s2"], ["s2"], ["s3"], ["s2"]]


@pytest.mark.real
def test_on_paper_each_slide_has_a_sheet(deck: webdriver.Chrome) -> None:
    answer = deck.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
    sheets = PdfReader(io.BytesIO(base64.b64decode(answer["data"]))).pages
    assert len(sheets) == 14
    assert "three things to remember" in sheets[9].extract_text()
    assert sheets[0].mediabox.width > sheets[0].mediabox.height


@pytest.mark.real
def test_without_a_script_all_slides_stand_below_each_other(deck: webdriver.Chrome) -> None:
    deck.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    deck.refresh()
    deck.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert len(shown(deck)) == 14
