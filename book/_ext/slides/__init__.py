"""Slides for the teacher's plans, made from the built chapters with every build.

`reader-paths` says which chapters a lesson goes through, and how long each may take.
A deck is that plan, with each chapter's own lead, pictures, *three things to remember*
and *what to type*: nothing is written for it alone, so it cannot say what the book
does not say any more. One file for each deck, which needs no other file.

`plan` reads the tables, `harvest` the built pages, `deck` writes the HTML.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst.states import Inliner
from sphinx.errors import SphinxError
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from slides.deck import written
from slides.harvest import NotBuilt
from slides.plan import PLANS, read_plans

logger = logging.getLogger(__name__)


class SlidesLink(nodes.Inline, nodes.TextElement):
    """A link to a deck, where there will be one; its text elsewhere."""


class Slides(SphinxRole):
    """``{slides}`the slides <ninety-minutes>` ``."""

    inliner: Inliner

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Leave a mark: which builder will come is not known yet."""
        text, _, name = self.text.removesuffix(">").partition(" <")
        return [SlidesLink(self.rawtext, text, deck=name)], []


def has_decks(app: Any) -> bool:
    """Decks go with the site, in the language that the plans are written in."""
    return app.builder.name == "html" and app.config.language == "en"


def lead_to_decks(app: Any, doctree: nodes.document, docname: str) -> None:
    """Turn each mark into a link, or into plain text."""
    for mark in list(doctree.findall(SlidesLink)):
        known = {plan.name for plan in read_plans(Path(app.srcdir))}
        if mark["deck"] not in known:
            logger.warning("no plan is called %s", mark["deck"], location=docname)
        elif has_decks(app):
            uri = f"{'../' * docname.count('/')}slides/{mark['deck']}.html"
            link = nodes.reference("", mark.astext(), refuri=uri, internal=True)
            mark.replace_self(link)
            continue
        mark.replace_self(nodes.Text(mark.astext()))


def write_decks(app: Any, exception: Exception | None) -> None:
    """Called when all pages are there."""
    if exception or not has_decks(app) or PLANS not in app.env.found_docs:
        return
    try:
        for file in written(Path(app.srcdir), Path(app.outdir)):
            logger.info("slides: %s", file)
    except NotBuilt as error:
        raise SphinxError(str(error)) from None


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_node(SlidesLink)
    app.add_role("slides", Slides())
    app.connect("doctree-resolved", lead_to_decks)
    app.connect("build-finished", write_decks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
