"""The playground in a real browser: every button, the keyboard, an address that was handed on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.book.test_site import HTML, opened
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))

import playground_page
from live_words import BREAKS, KEPT, PLAYGROUND

pytestmark = [pytest.mark.real, pytest.mark.timeout(400)]
WORDS = PLAYGROUND
PATIENCE = 120


class Page:
    """The page, and what a reader does with it."""

    def __init__(self, browser: webdriver.Chrome, address: str) -> None:
        self.browser = browser
        self.address = address

    def open(self, hash: str = "") -> None:
        """The page afresh, with its cluster started."""
        self.browser.get("about:blank")
        self.browser.get(self.address + hash)
        names = self.browser.execute_script("return performance.getEntriesByType('resource').map(each => each.name)")
        assert not [name for name in names if "/tab-" in name], "nothing is loaded before the reader asks"
        self.until(lambda: WORDS["begin"] in self.buttons())
        self.press(WORDS["begin"])
        self.until(lambda: self.root.get_attribute("data-ready"))

    @property
    def root(self) -> WebElement:
        return self.browser.find_element(By.ID, "playground")

    def until(self, true: object) -> None:
        WebDriverWait(self.browser, PATIENCE, 0.1).until(lambda _: true(), self.text("#playground"))  # type: ignore[operator]

    def buttons(self) -> dict[str, WebElement]:
        return {
            each.get_attribute("aria-label") or each.get_attribute("textContent") or "": each
            for each in self.root.find_elements(By.CSS_SELECTOR, "button")
        }

    def press(self, words: str) -> None:
        self.browser.execute_script("arguments[0].click()", self.buttons()[words])

    def text(self, selector: str) -> str:
        return self.browser.find_element(By.CSS_SELECTOR, selector).get_attribute("textContent") or ""

    @property
    def line(self) -> WebElement:
        return self.browser.find_element(By.CSS_SELECTOR, ".play-line")

    def enter(self, line: str) -> None:
        self.line.send_keys(line + Keys.ENTER)

    @property
    def now(self) -> float:
        return float(self.root.get_attribute("data-now") or 0)

    def pods(self, looks: str) -> int:
        return len(self.root.find_elements(By.CSS_SELECTOR, f'.play-tree [data-looks="{looks}"]'))


@pytest.fixture(scope="module")
def page(browser: webdriver.Chrome, site: str) -> Page:
    return Page(browser, site + playground_page.PAGE + ".html")


def test_a_command_makes_pods_and_each_view_shows_them(page: Page) -> None:
    page.open()
    page.enter("kubectl create deployment nginx --image=nginx --replicas=3")
    page.until(lambda: page.pods("ready") == 3)
    assert "deployment.apps/nginx created" in page.text(".play-screen")
    assert page.text(".play-tree").count("Pod") == 3
    assert page.text(".play-nodes").count("Running 1/1") == 3
    assert len(page.root.find_elements(By.CSS_SELECTOR, ".play-timeline .play-bar-ready")) == 3
    assert "ScalingReplicaSet" in page.text(".play-events")
    links = {each.get_attribute("href") for each in page.root.find_elements(By.CSS_SELECTOR, "a")}
    assert all((HTML / "book" / str(link).partition("/book/")[2]).exists() for link in links)
    assert len(links) >= 8


def test_the_keyboard_completes_remembers_and_interrupts(page: Page) -> None:
    page.open()
    page.line.send_keys("kubectl get nod" + Keys.TAB)
    page.until(lambda: page.line.get_attribute("value") == "kubectl get nodes ")
    page.line.send_keys("-w" + Keys.ENTER)
    page.until(lambda: "lifecycle-worker2" in page.text(".play-screen"))
    page.until(lambda: page.text(".play-form") and page.buttons()[WORDS["stop"]].is_enabled())
    page.line.send_keys(Keys.CONTROL + "c")
    page.until(lambda: not page.buttons()[WORDS["stop"]].is_enabled())
    assert "^C" in page.text(".play-screen")
    page.line.send_keys(Keys.ARROW_UP)
    assert page.line.get_attribute("value") == "kubectl get nodes -w"
    page.line.send_keys(Keys.ARROW_DOWN)
    assert page.line.get_attribute("value") == ""
    page.line.send_keys(Keys.CONTROL + "l")
    assert page.text(".play-screen") == ""


def test_the_clock_stands_still_steps_and_runs(page: Page) -> None:
    page.open()
    page.press(WORDS["pause"])
    page.until(lambda: page.buttons()[WORDS["play"]].get_attribute("aria-pressed") == "true")
    stood = page.now
    page.press(WORDS["second"])
    page.until(lambda: page.now > stood)
    assert page.now == pytest.approx(stood + 1, abs=0.3)
    page.press(WORDS["minute"])
    page.until(lambda: page.now > stood + 60)
    page.enter("kubectl create deployment nginx --image=nginx --replicas=1")
    page.until(lambda: page.pods("creating") == 1)
    for _ in range(20):
        before = page.now
        page.press(WORDS["next"])
        page.until(lambda before=before: page.now > before)
        if page.pods("ready"):
            break
    assert page.pods("ready") == 1
    assert page.now < stood + 70, "it took the nearest changes, one by one"
    page.press(WORDS["play"])
    page.browser.find_element(By.CSS_SELECTOR, '.play-select option[value="60"]').click()
    fast = page.now
    page.until(lambda: page.now > fast + 30)


def test_every_button_that_breaks_something_types_what_it_does(page: Page) -> None:
    page.open()
    page.press(WORDS["pause"])
    for title, line in BREAKS:
        page.press(title)
        page.until(lambda line=line: f"$ {line}" in page.text(".play-screen"))
    clients = ("kube-scheduler", "kube-controller-manager")
    for say, mend, names in (
        ("breakComponent", "mendComponent", (*clients, "etcd")),
        ("breakLink", "mendLink", clients),
    ):
        for name in names:
            page.press(WORDS[say].format(name))
            page.until(lambda mend=mend, name=name: WORDS[mend].format(name) in page.buttons())
            page.press(WORDS[mend].format(name))
            page.until(lambda say=say, name=name: WORDS[say].format(name) in page.buttons())
    for say, mend in (("breakNode", "mendNode"), ("breakLine", "mendLine")):
        page.press(f"{WORDS[say]}: lifecycle-worker")
        page.until(lambda mend=mend: f"{WORDS[mend]}: lifecycle-worker" in page.buttons())
        page.press(f"{WORDS[mend]}: lifecycle-worker")
        page.until(lambda say=say: f"{WORDS[say]}: lifecycle-worker" in page.buttons())
    assert "Traceback" not in page.text("#playground")
    assert page.text(".play-state") == WORDS["ready"]


def test_an_address_plays_what_it_says_and_is_made_of_what_was_typed(page: Page) -> None:
    page.open(
        "#speed=60&do=0+kubectl+create+deployment+web+--image=nginx&do=20+kubectl+scale+deployment/web+--replicas=4"
    )
    page.until(lambda: page.pods("ready") == 4)
    page.press(WORDS["share"])
    page.until(lambda: "scale" in page.browser.current_url and "nodes=3" in page.browser.current_url)
    assert page.text(".play-state") in (WORDS["shared"], WORDS["sharedNoClipboard"])


MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: mine\ndata:\n  key: 'a \"value\"'\n"


def test_a_manifest_is_written_applied_and_handed_on(page: Page) -> None:
    page.open()
    page.press(WORDS["edit"])
    manifest = page.browser.switch_to.active_element
    assert (manifest.tag_name, manifest.accessible_name) == ("textarea", WORDS["manifest"])
    page.press(WORDS["apply"])
    assert page.text(".play-editor [role=status]") == WORDS["nothingWritten"]
    manifest.send_keys(MANIFEST)
    page.press(WORDS["apply"])
    page.until(lambda: "configmap/mine created" in page.text(".play-screen"))
    assert page.browser.switch_to.active_element == page.line
    page.press(WORDS["share"])
    page.until(lambda: "nodes=3" in page.browser.current_url)
    page.open("#" + page.browser.current_url.partition("#")[2])
    page.until(lambda: "configmap/mine created" in page.text(".play-screen"))
    page.enter("kubectl get configmap mine -o jsonpath={.data.key}")
    page.until(lambda: 'a "value"' in page.text(".play-screen").rpartition("jsonpath")[2])


def test_the_editor_is_used_with_the_keyboard_alone(page: Page) -> None:
    page.open()
    page.enter("edit")
    assert page.browser.switch_to.active_element.tag_name == "textarea"
    page.browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    page.until(lambda: page.browser.switch_to.active_element == page.line)
    page.enter("edit")
    page.browser.switch_to.active_element.send_keys(MANIFEST + Keys.TAB + Keys.TAB)
    name = page.browser.switch_to.active_element
    assert name.accessible_name == WORDS["fileName"]
    name.send_keys(Keys.ENTER)
    page.until(lambda: "cat > mine.yaml" in page.text(".play-screen"))
    page.enter("kubectl apply -f mine.yaml")
    page.until(lambda: "configmap/mine created" in page.text(".play-screen"))
    page.enter("edit")
    page.browser.switch_to.active_element.send_keys(Keys.CONTROL + Keys.ENTER)
    page.until(lambda: "configmap/mine unchanged" in page.text(".play-screen"))


def test_several_lines_that_are_pasted_open_the_editor_unless_they_are_a_command(page: Page) -> None:
    page.open()
    paste = """
        const data = new DataTransfer();
        data.setData("text", arguments[1]);
        arguments[0].dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    """
    page.browser.execute_script(paste, page.line, MANIFEST)
    assert page.browser.switch_to.active_element.get_attribute("value") == MANIFEST.strip()
    page.press(WORDS["close"])
    page.browser.execute_script(paste, page.line, f"kubectl apply -f - <<EOF\n{MANIFEST}EOF")
    page.until(lambda: "configmap/mine created" in page.text(".play-screen"))


def test_a_log_is_followed_until_ctrl_c(page: Page) -> None:
    page.open()
    page.enter("kubectl run talks --image=busybox -- sh -c 'while true; do echo tick; sleep 1; done'")
    page.until(lambda: page.pods("ready") == 1)
    page.enter("kubectl logs -f talks")
    page.until(lambda: page.text(".play-screen").count("tick\n") > 3)
    page.line.send_keys(Keys.CONTROL + "c")
    page.until(lambda: "^C" in page.text(".play-screen"))
    assert not page.buttons()[WORDS["stop"]].is_enabled()


def test_a_lesson_starts_with_a_click(page: Page) -> None:
    page.browser.get("about:blank")
    page.browser.get(page.address)
    lessons = page.browser.find_elements(By.CSS_SELECTOR, "a.play-lesson")
    assert len(lessons) >= 8
    page.browser.execute_script("arguments[0].click()", lessons[0])
    page.until(lambda: page.root.get_attribute("data-ready"))
    page.until(lambda: page.pods("ready") == 3)
    page.press(WORDS["afresh"])
    page.until(lambda: page.pods("ready") == 0)


def test_what_is_no_scenario_is_said_and_can_be_tried_again(page: Page) -> None:
    page.browser.get("about:blank")
    page.browser.get(page.address + "#nodes=9000")
    page.press(WORDS["begin"])
    page.until(lambda: "nodes: 9000 is not between 1 and 50" in page.text(".play-state"))
    assert WORDS["again"] in page.buttons()


def test_nothing_comes_from_elsewhere_and_the_phone_scrolls_one_way(page: Page, site: str) -> None:
    page.open()
    names = page.browser.execute_script("return performance.getEntriesByType('resource').map(each => each.name)")
    assert [name for name in names if not name.startswith(site)] == []
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    page.enter("kubectl create deployment nginx --image=nginx --replicas=3")
    page.until(lambda: page.pods("ready") == 3)
    wide = page.browser.execute_script("return document.documentElement.scrollWidth")
    drawn, asked = page.browser.execute_script(
        "const svg = document.querySelector('.play-timeline svg');"
        "return [svg.getBoundingClientRect().width, svg.viewBox.baseVal.width]"
    )
    assert drawn == pytest.approx(asked, rel=0.03), "letters in the timeline are as large as they are elsewhere"
    page.press(WORDS["edit"])
    editor = page.browser.find_element(By.CSS_SELECTOR, ".play-editor").rect
    assert 0 <= editor["x"] <= editor["x"] + editor["width"] <= 390
    page.press(WORDS["close"])
    page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide <= 390


def test_a_browser_without_webassembly_is_told_so(page: Page) -> None:
    without = {"source": "delete globalThis.WebAssembly"}
    script = page.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", without)
    try:
        page.browser.get("about:blank")
        page.browser.get(page.address)
        page.press(WORDS["begin"])
        assert page.text(".play-state") == WORDS["old"]
    finally:
        page.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_a_site_without_https_has_no_service_worker_no_cache_and_no_clipboard_and_runs_a_cluster(
    chromium: str, site: str, tmp_path: Path
) -> None:
    with opened(chromium, tmp_path, "--host-resolver-rules=MAP classroom 127.0.0.1") as pupil:
        page = Page(pupil, site.replace("127.0.0.1", "classroom") + playground_page.PAGE + ".html")
        page.open()
        lacks = "return ['serviceWorker' in navigator, 'caches' in window, 'clipboard' in navigator]"
        assert pupil.execute_script(lacks) == [False, False, False]
        page.enter("kubectl create deployment nginx --image=nginx --replicas=3")
        page.until(lambda: page.pods("ready") == 3)
        page.press(WORDS["share"])
        page.until(lambda: page.text(".play-state") == WORDS["sharedNoClipboard"])
        page.until(lambda: KEPT["nothingKept"] in page.text(".live-kept"))


def test_opened_from_a_file_the_page_says_what_it_needs(page: Page) -> None:
    page.browser.get((HTML / (playground_page.PAGE + ".html")).as_uri())
    assert page.text("#playground") == WORDS["static"]


def test_what_the_playground_keeps_is_told_and_let_go_of(page: Page) -> None:
    page.open()
    page.until(lambda: page.text(".live-kept").startswith(KEPT["kept"].split("{}")[0]))
    page.press(KEPT["forget"])
    page.until(lambda: KEPT["forgotten"] in page.text(".live-kept"))
    assert page.browser.execute_async_script("caches.keys().then(arguments[0])") == []
