"""The title page of the book as one file: who wrote it, which version it is, when its
chapters ran, what they were checked against, and what one may do with it. In the PDF
and in the book for e-readers it is the same.
"""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from typing import Any, NamedTuple

from evidence import LICENCES

from lifecycle.api.version import KUBERNETES_VERSION
from lifecycle.inspector import open_recording


class TitlePage(NamedTuple):
    """What it says; `about` may hold `code`. `built`: when the chapters ran."""

    title: str
    about: str
    author: str
    version: str
    language: str
    built: datetime


def from_configuration(config: dict[str, Any], seconds: float) -> TitlePage:
    """As `_config.yml` has it. `seconds`: since 1970."""
    own = config["sphinx"]["config"]
    return TitlePage(
        config["title"],
        own["epub_description"],
        config["author"],
        own["version"],
        own["language"],
        datetime.fromtimestamp(seconds, UTC),
    )


def written(page: TitlePage) -> str:
    """The page as HTML that is XML, too: a section."""
    day = f"{page.built.day} {page.built:%B %Y}"
    return f"""<section class="title-page"><h1>{escape(page.title)}</h1>
<p class="about">{_with_code(page.about)}</p>
<p>By {escape(page.author)}</p>
<p>Version {escape(page.version)}. The chapters ran on {day}.</p>
<p>Checked against Kubernetes {KUBERNETES_VERSION};
evidence: {escape(str(open_recording().provenance))}.</p>
<p>{LICENCES}</p></section>"""


def _with_code(text: str) -> str:
    parts = escape(text).split("`")
    return "".join(
        f"<code>{part}</code>" if number % 2 else part
        for number, part in enumerate(parts)
    )
