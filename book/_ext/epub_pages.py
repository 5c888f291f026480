"""Pages for e-readers, which are XML and stand still.

What cells show is HTML as a browser forgives it: `<br>`, attributes without a value, a
tag that is never closed. One of these and a reader shows an error instead of the page.
So each page is written anew, well-formed. Scripts go, since few readers run them;
and code and text that is folded stands open, since many cannot unfold it. A title page
comes first, and the table of contents names each page as the archive does.
"""

from __future__ import annotations

import posixpath
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from sphinx.builders.epub3 import Epub3Builder
from title_page import TitlePage, written

CASE = {"viewbox": "viewBox", "preserveaspectratio": "preserveAspectRatio"}
"""Attributes of drawings, which the parser writes in small letters."""
PAGE = re.compile(r"^(?![a-z]+:)([^#]+)\.html(?=#|$)")
"""A link to a page of the site, as a cell writes it; here pages have another ending."""
CODE = "details.hide"
"""Folded code. Its summary says *show* or *hide*, and nothing else."""
DRAWS = ".cell > details.above-input"
"""Folded code of a cell. What draws a picture comes below it and its caption: the
picture follows the sentence that speaks of it.
"""
CAPTION = 160
"""Letters: a paragraph below a picture that is no longer than this belongs to it."""
FOLDED = "details.sd-dropdown, details.admonition"
"""Folded text. A lab's hints stay folded, where the reader can fold."""
ARROW = ".sd-summary-state-marker"
"""The drawn arrow of folded text, beside the one that readers draw themselves."""
ACTS = "a.play-lesson"
"""A link that starts something on its page, which here does not start."""
LETTERS = {"✅": "✓"}
"""Few readers have letters for emoji."""
WIDGETS = ("mystnb", "copybutton", "togglebutton", "thebe")
"""Styles of what has buttons (and one that is not in the archive)."""
TITLE = "title"
LIVE = ("_static/live", "_static/playground")
"""Folders of what makes pages of the site act. Nothing of it acts in a reader."""


def for_readers(body: str) -> str:
    """The same page, well-formed, without scripts, unfolded, with links that arrive."""
    soup = BeautifulSoup(body, "html.parser")
    for tag in soup.find_all("script"):
        tag.extract()
    for tag in soup.select(DRAWS):
        cell = tag.parent
        if cell and cell.select_one(":scope > .cell_output :is(img, svg)"):
            said = cell.find_next_sibling()
            caption = said and said.name == "p" and len(said.get_text()) <= CAPTION
            (said if caption else cell).insert_after(tag)
    for tag in soup.select(CODE):
        for summary in tag.find_all("summary", recursive=False):
            summary.extract()
        tag.name = "div"
    for tag in soup.select(FOLDED):
        tag["open"] = "open"
    for tag in soup.select("details[name]"):
        tag.attrs.pop("name")  # newer than the format
    for tag in soup.select(ARROW):
        tag.extract()
    for tag in soup.select(ACTS):
        tag.unwrap()
    for tag in soup.find_all("a", href=True):
        tag["href"] = PAGE.sub(r"\1.xhtml", str(tag["href"]))
    for tag in soup.select("svg, svg *"):
        tag.attrs = {CASE.get(name, name): value for name, value in tag.attrs.items()}
    page = str(soup.decode(formatter="minimal"))
    for emoji, letter in LETTERS.items():
        page = page.replace(emoji, letter)
    return page


def write_anew(
    app: Any, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Change the page that the epub builder is about to write."""
    if app.builder.name != "epub":
        return
    if "body" in context:
        context["body"] = for_readers(context["body"])
    context["css_files"] = [
        style
        for style in context.get("css_files", ())
        if not any(word in str(getattr(style, "filename", style)) for word in WIDGETS)
    ]


class BookForReaders(Epub3Builder):
    """Sphinx' own, with the title page first, and for a book whose first page is in a
    folder: there it writes the address of a page beside that folder as `book/../labs/…`
    and does not find it in the archive.
    """

    def get_toc(self) -> None:
        """The pages in reading order."""
        super().get_toc()
        for line in self.refnodes:
            file, hash_sign, place = line["refuri"].partition("#")
            line["refuri"] = posixpath.normpath(file) + hash_sign + place
        address, name = TITLE + self.out_suffix, self.config.project
        self.refnodes.insert(0, {"level": 1, "refuri": address, "text": name})

    def build_content(self) -> None:
        """The list of the archive's files, without those that nothing in it uses."""
        top = Path(self.outdir)
        acting = [file for folder in LIVE for file in (top / folder).rglob("*")]
        names = [file.relative_to(top).as_posix() for file in acting]
        self.config.epub_exclude_files = [*self.config.epub_exclude_files, *names]
        super().build_content()


def title_page(app: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The page before the first."""
    if app.builder.name != "epub":
        return
    pages = getattr(app.env, "nb_metadata", {}).values()
    ran = [page["exec_data"]["mtime"] for page in pages if page.get("exec_data")]
    page = TitlePage(
        app.config.project,
        app.config.epub_description,
        app.config.author,
        app.config.version,
        app.config.language,
        datetime.fromtimestamp(max(ran, default=time.time()), UTC),
    )
    yield TITLE, {"title": page.title, "body": written(page)}, "page.html"


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx; late, so that everybody else has added theirs."""
    app.add_builder(BookForReaders, override=True)
    app.connect("html-collect-pages", title_page)
    app.connect("html-page-context", write_anew, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
