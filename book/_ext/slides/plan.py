"""The teacher's plans, as the tables of `reader-paths` have them."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from pathlib import Path

PLANS = "book/reader-paths"
"""The page with the plans. A section *You teach: ninety minutes* becomes the deck
`ninety-minutes`.
"""
SECTION = re.compile(r"^## You teach: (.+?)\n(.*?)(?=^## |\Z)", re.M | re.S)
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.*?) ?\|$", re.M)
LINK = re.compile(r"\[([^\]]+)\]\(([^)#]*)(?:#([^)]+))?\)")
BADGE = re.compile(r"\s*\{bdg-primary\}`[^`]*`")


@dataclass(frozen=True, slots=True)
class Source:
    """A page that a row draws on; with an anchor, that section of it alone. A link to a
    label, `(#label)`, means a place in the chapter that was named last.
    """

    title: str
    page: str
    anchor: str = ""

    @property
    def is_lab(self) -> bool:
        """Whether people work there rather than listen."""
        return self.page.startswith("labs/")


@dataclass(frozen=True, slots=True)
class Row:
    """One stretch of a lesson. `what` is Markdown."""

    start: int
    minutes: int
    what: str
    sources: tuple[Source, ...]

    @property
    def end(self) -> int:
        """The minute in which it should be over."""
        return self.start + self.minutes


@dataclass(frozen=True, slots=True)
class Plan:
    """One lesson. `lead` is Markdown."""

    name: str
    title: str
    lead: str
    rows: tuple[Row, ...]

    @property
    def minutes(self) -> int:
        """How long it takes."""
        return self.rows[-1].end


def plans_of(text: str) -> list[Plan]:
    """The plans in the page's source."""
    found = []
    for title, body in SECTION.findall(text):
        paragraphs = BADGE.sub("", body.partition("\n|")[0]).strip().split("\n\n")
        lead = " ".join(text for text in paragraphs if "{slides}" not in text).strip()
        rows: list[Row] = []
        named: list[Source] = []
        for minutes, what, links in ROW.findall(body):
            start, before = rows[-1].end if rows else 0, len(named)
            for link in LINK.findall(links):
                chapters = [source.page for source in named if not source.is_lab]
                named.append(_source(*link, chapters[-1] if chapters else ""))
            sources = tuple(named[before:])
            rows.append(Row(start, int(minutes), what.strip(), sources))
        name = title.lower().replace(" ", "-")
        found.append(Plan(name, f"You teach: {title}", lead, tuple(rows)))
    return found


def _source(title: str, target: str, anchor: str, last: str) -> Source:
    path = posixpath.normpath(posixpath.join(posixpath.dirname(PLANS), target))
    return Source(title, posixpath.splitext(path)[0] if target else last, anchor)


def read_plans(root: Path) -> list[Plan]:
    """The plans of a checkout."""
    return plans_of((root / f"{PLANS}.md").read_text(encoding="utf-8"))
