"""The playground's page: where the script draws, and the lessons as addresses.

Everything that the script says stands in `live_words`, so that it can be translated;
what a lesson does stands in `lifecycle.playground.lessons`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from typing import Any

import live_cells
from docutils import nodes
from docutils.parsers.rst import Directive
from live_words import BREAKS, KEPT, PLAYGROUND, said, translator
from sphinx import addnodes

from lifecycle.playground.lessons import LESSONS, Lesson
from lifecycle.playground.scenario import LONGEST_LINE, format_scenario

PAGE = "book/playground"
FOLDER = "playground"
ARCHIVES = ("package.tar.zst", "pyodide.asm.wasm", "python_stdlib.zip")
LONGEST_TEXT = LONGEST_LINE - 200
"""Characters of a manifest: the command that reads it needs some, too."""
SPEEDS = [0.1, 1, 10, 60, 600]


class Playground(Directive):
    """`{playground}`: the place that the script fills. Until then it says how."""

    def run(self) -> list[nodes.Node]:
        """The parts of the page."""
        say = translator(self.state.document.settings.env.app)
        static = escape(say(PLAYGROUND["static"]))
        place = f'<div id="playground"><p>{static}</p></div>'
        return [nodes.raw("", place, format="html")]


class Lessons(Directive):
    """`{lessons}`: each as an address that starts it, with what there is to see."""

    def run(self) -> list[nodes.Node]:
        """A list."""
        say = translator(self.state.document.settings.env.app)
        items = (self._item(lesson, say) for lesson in LESSONS)
        return [nodes.bullet_list("", *items)]

    def _item(self, lesson: Lesson, say: Callable[[str], str]) -> nodes.list_item:
        address = escape(format_scenario(lesson.scenario))
        title = escape(say(lesson.title))
        start = f'<a class="play-lesson" href="#{address}">{title}</a>'
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
        words = nodes.Text(f": {say(lesson.look)} (")
        line = nodes.paragraph(
            "", "", nodes.raw("", start, format="html"), words, chapter, nodes.Text(")")
        )
        return nodes.list_item("", line)


def described(base: str, files: dict[str, int], say: Callable[[str], str] = str) -> str:
    """What the script reads, as JSON that may stand in HTML."""
    page = {
        "base": base,
        "files": {name: files[name] for name in ARCHIVES},
        "words": said({**PLAYGROUND, **KEPT}, say),
        "speeds": SPEEDS,
        "longestText": LONGEST_TEXT,
        "breaks": [{"title": say(title), "line": line} for title, line in BREAKS],
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
    body = described(f"../{live_cells.address(folder)}/", files, translator(app))
    app.add_js_file(None, body=body, id="playground-page", type="application/json")
    app.add_js_file(f"{FOLDER}/playground.mjs", type="module")
    app.add_css_file(f"{live_cells.FOLDER}/live.css")  # what is kept
    app.add_css_file(f"{FOLDER}/playground.css")


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("playground", Playground)
    app.add_directive("lessons", Lessons)
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
