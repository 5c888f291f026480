"""Pages for e-readers, which are XML and stand still.

What cells show is HTML as a browser forgives it: `<br>`, attributes without a value, a
tag that is never closed. One of these and a reader shows an error instead of the page.
So each page is written anew, well-formed. Scripts go, since few readers run them;
and code and text that is folded stands open, since many cannot unfold it.
"""

from __future__ import annotations

import re
from typing import Any

from bs4 import BeautifulSoup

CASE = {"viewbox": "viewBox", "preserveaspectratio": "preserveAspectRatio"}
"""Attributes of drawings, which the parser writes in small letters."""
PAGE = re.compile(r"^(?![a-z]+:)([^#]+)\.html(?=#|$)")
"""A link to a page of the site, as a cell writes it; here pages have another ending."""
CODE = "details.hide"
"""Folded code. Its summary says *show* or *hide*, and nothing else."""
FOLDED = "details.sd-dropdown, details.admonition"
"""Folded text. A lab's hints stay folded, where the reader can fold."""


def for_readers(body: str) -> str:
    """The same page, well-formed, without scripts, unfolded, with links that arrive."""
    soup = BeautifulSoup(body, "html.parser")
    for tag in soup.find_all("script"):
        tag.extract()
    for tag in soup.select(CODE):
        for summary in tag.find_all("summary", recursive=False):
            summary.extract()
        tag.name = "div"
    for tag in soup.select(FOLDED):
        tag.attrs.pop("name", None)
        tag["open"] = "open"
    for tag in soup.find_all("a", href=True):
        tag["href"] = PAGE.sub(r"\1.xhtml", str(tag["href"]))
    for tag in soup.select("svg, svg *"):
        tag.attrs = {CASE.get(name, name): value for name, value in tag.attrs.items()}
    return soup.decode(formatter="minimal")


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
        if "mystnb" not in str(getattr(style, "filename", style))  # not in the archive
    ]


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx; late, so that everybody else has added theirs."""
    app.connect("html-page-context", write_anew, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
