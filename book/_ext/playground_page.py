"""The playground's page: where the script draws, and the lessons as addresses.

Everything that the script says stands here, so that it can be translated; what a lesson
does stands in `lifecycle.playground.lessons`.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any

import live_cells
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx import addnodes

from lifecycle.playground.lessons import LESSONS, Lesson
from lifecycle.playground.scenario import format_scenario

PAGE = "book/playground"
FOLDER = "playground"
ARCHIVES = ("package.tar.xz", "pyodide.asm.wasm", "python_stdlib.zip")
SPEEDS = [0.1, 1, 10, 60, 600]

WORDS = {
    "static": (
        "A cluster can be started here. It needs JavaScript, and a page that is served"
        " (make serve): one that was opened from a file may not load Python."
    ),
    "begin": "Start a cluster here",
    "again": "Start again",
    "loading": "Loading Python and the book's Kubernetes",
    "ready": "The cluster is ready. Type a command, or press a button.",
    "failed": "That did not work:",
    "noWorker": "the worker did not start",
    "old": "This browser has no WebAssembly, so no cluster can run here.",
    "clock": "Time in the cluster",
    "time": "The cluster's time",
    "pause": "Pause",
    "play": "Let time pass",
    "speed": "Speed",
    "next": "To the next change",
    "nextTitle": "Skip the time in which nothing happens",
    "second": "+1 s",
    "minute": "+1 min",
    "share": "Copy the address of this",
    "shared": "The address is copied. Whoever opens it sees the same, step by step.",
    "sharedNoClipboard": "The address of this page now says all that was typed.",
    "afresh": "Start afresh",
    "terminal": "Terminal",
    "output": "What the terminal printed",
    "line": "A command; Tab completes it, the arrow keys bring back earlier ones",
    "run": "Run",
    "stop": "Ctrl-C",
    "breakTitle": "Do something, break something",
    "partsTitle": "Parts of the control plane",
    "breakComponent": "Stop {}",
    "mendComponent": "Start {} again",
    "breakLink": "Cut the line to {}",
    "mendLink": "Mend the line to {}",
    "nodes": "Nodes and their pods",
    "breakNode": "Pull the plug",
    "mendNode": "Plug in again",
    "breakLine": "Cut its line",
    "mendLine": "Mend its line",
    "tree": "Who owns what",
    "timeline": "What became of each pod",
    "timelineSays": "{pods} pods, {ready} of them ready, after {now} seconds",
    "noPods": "No pod has been here yet.",
    "events": "Events",
}

BREAKS = (
    ("A Deployment", "kubectl create deployment nginx --image=nginx --replicas=3"),
    ("A Service for it", "kubectl expose deployment nginx --port=80"),
    (
        "An image that does not exist",
        "kubectl set image deployment/nginx nginx=nginx:no-such",
    ),
    ("A failing probe", "kubectl apply --server-side -f failing-probe.yaml"),
    ("A full quota", "kubectl create quota full --hard=pods=3"),
    ("More than it allows", "kubectl scale deployment/nginx --replicas=6"),
    ("All pods deleted", "kubectl delete pods --all --wait=false"),
    ("Undo the roll-out", "kubectl rollout undo deployment/nginx"),
)
"""Buttons that type a line: what they say, and the line."""


class Playground(Directive):
    """`{playground}`: the place that the script fills. Until then it says how."""

    def run(self) -> list[nodes.Node]:
        """The parts of the page."""
        place = f'<div id="playground"><p>{escape(WORDS["static"])}</p></div>'
        return [nodes.raw("", place, format="html")]


class Lessons(Directive):
    """`{lessons}`: each as an address that starts it, with what there is to see."""

    def run(self) -> list[nodes.Node]:
        """A list."""
        return [nodes.bullet_list("", *map(self._item, LESSONS))]

    def _item(self, lesson: Lesson) -> nodes.list_item:
        address = escape(format_scenario(lesson.scenario))
        start = f'<a class="play-lesson" href="#{address}">{escape(lesson.title)}</a>'
        chapter = addnodes.pending_xref(
            "",
            nodes.inline(),
            refdomain="std",
            reftype="doc",
            reftarget=f"/book/{lesson.chapter}",
            refdoc=self.state.document.settings.env.docname,
            refexplicit=False,
            refwarn=True,
        )
        words = nodes.Text(f": {lesson.look} (")
        line = nodes.paragraph(
            "", "", nodes.raw("", start, format="html"), words, chapter, nodes.Text(")")
        )
        return nodes.list_item("", line)


def described(base: str, files: dict[str, int]) -> str:
    """What the script reads, as JSON that may stand in HTML."""
    page = {
        "base": base,
        "files": {name: files[name] for name in ARCHIVES},
        "words": WORDS,
        "speeds": SPEEDS,
        "breaks": [{"title": title, "line": line} for title, line in BREAKS],
    }
    return json.dumps(page).replace("</", "<\\/")


def add_script(
    app: Any, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Give the page its script."""
    folder = getattr(app, "live_cells_tab", None)
    if page != PAGE or folder is None:
        return
    files = {file.name: file.stat().st_size for file in folder.iterdir()}
    body = described(f"../{live_cells.address(folder)}/", files)
    app.add_js_file(None, body=body, id="playground-page", type="application/json")
    app.add_js_file(f"{FOLDER}/playground.mjs", type="module")
    app.add_css_file(f"{FOLDER}/playground.css")


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("playground", Playground)
    app.add_directive("lessons", Lessons)
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
