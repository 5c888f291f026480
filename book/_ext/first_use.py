"""A word of the glossary is a link where a page uses it first, and only there.

Headings, code and links stay as they are; so does the glossary itself. A word that a
page uses in another meaning is written `[word]{.plain}` where it comes first; that page
has no link for it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

GLOSSARY = "book/glossary"
LEFT_ALONE = (
    nodes.title,
    nodes.reference,
    nodes.literal,
    nodes.caption,
    nodes.FixedTextElement,
    addnodes.pending_xref,
    nodes.Invisible,
)


def terms_of(source: str) -> list[str]:
    """The words that a glossary explains: its lines without indentation that are not
    the directive's own; the longest first, so that *watch cache* wins over *watch*.
    """
    inside = re.search(
        r"^```\{glossary\}\n(.*?)^```$", source, re.DOTALL | re.MULTILINE
    )
    lines = inside[1].splitlines() if inside else []
    words = [line.strip() for line in lines if line and not line.startswith((" ", ":"))]
    return sorted(words, key=len, reverse=True)


def pattern_of(terms: list[str]) -> re.Pattern[str] | None:
    """Finds a term as a whole word, in the singular or with an s. Japanese sets no
    spaces between words: there a term ends where its Latin letters end.
    """
    if not terms:
        return None
    words = "|".join(map(re.escape, terms))
    return re.compile(rf"(?<![\w-])({words})s?(?![\w-])", re.ASCII)


@cache
def pattern_in(glossary: Path) -> re.Pattern[str] | None:
    """Finds the terms of this glossary, which is read once for all pages."""
    return pattern_of(terms_of(glossary.read_text(encoding="utf-8")))


class FirstUse(SphinxTransform):
    """Links the first use of each term."""

    default_priority = 700

    def apply(self, **kwargs: Any) -> None:
        """Go through the page's sentences once."""
        if self.env.docname == GLOSSARY or not self.env.docname.startswith("book/"):
            return
        self.env.note_dependency(self.env.doc2path(GLOSSARY, base=False))
        pattern = pattern_in(Path(self.env.doc2path(GLOSSARY)))
        if pattern is None:
            return
        link_first_uses(self.document, pattern, self.env.docname)


def link_first_uses(
    document: nodes.document, pattern: re.Pattern[str], page: str
) -> None:
    """Put the links into a page's tree."""
    used: set[str] = set()
    for text in list(document.findall(nodes.Text)):
        if not isinstance(text.parent, nodes.TextElement) or _left_alone(text):
            continue
        if "plain" in text.parent["classes"]:
            used.update(hit[1] for hit in pattern.finditer(str(text)))
        else:
            _link(text, pattern, used, page)


def _left_alone(node: nodes.Node) -> bool:
    up: nodes.Node | None = node
    while up is not None:
        if isinstance(up, LEFT_ALONE) or _is_heading_of_a_card(up):
            return True
        up = up.parent
    return False


def _is_heading_of_a_card(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Element) and "sd-card-title" in node["classes"]


def _link(
    text: nodes.Text, pattern: re.Pattern[str], used: set[str], page: str
) -> None:
    words, parts, end = str(text), [], 0
    for hit in pattern.finditer(words):
        if hit[1] in used:
            continue
        used.add(hit[1])
        parts.append(nodes.Text(words[end : hit.start()]))
        link = addnodes.pending_xref(
            "",
            nodes.inline("", hit[0], classes=["xref", "std", "std-term"]),
            refdomain="std",
            reftype="term",
            reftarget=hit[1],
            refdoc=page,
            refexplicit=True,
            refwarn=True,
        )
        parts.append(link)
        end = hit.end()
    if parts:
        parts.append(nodes.Text(words[end:]))
        text.parent.replace(text, [part for part in parts if part.astext()])


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_transform(FirstUse)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
