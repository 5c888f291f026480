"""What a built page has for a slide: lead, pictures, what to remember, what to type."""

from __future__ import annotations

import base64
import mimetypes
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag

GENERIC = frozenset({"The story", "What you will see happen", "Run it"})
"""Headings that say nothing about the picture below them."""
SHOWN = "img, .journey-stepper"
NO_PICTURES_BELOW = frozenset({"The code", "The real cluster", "Agreement"})
WORDS_OF_A_LEAD = 80
"""What comes after so many words is for the notes."""
SENTENCE = re.compile(r"(?<=[.:?!])\s+(?=[A-Z*`])")


class NotBuilt(Exception):
    """A page that a plan names is not there, or has nothing to show."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture, or a journey to step through, with what the page says around it."""

    title: str
    html: str
    caption: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Harvest:
    """All of it, as HTML that refers to no other file."""

    title: str
    lead: tuple[str, ...]
    more: tuple[str, ...]
    shown: tuple[Shown, ...]
    remember: str
    type: tuple[str, ...]
    headings: tuple[str, ...]


def harvest(site: Path, page: str, anchor: str = "") -> Harvest:
    """Read `page` of the built `site`. Raises NotBuilt."""
    file = site / f"{page}.html"
    if not file.is_file():
        raise NotBuilt(f"slides: there is no page {page} in {site}")
    soup = BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")
    top = soup.select_one("article section")
    if top is None:
        raise NotBuilt(f"slides: the page {page} is empty")
    for tag in top.select(".headerlink, script, button, .tag_remove-cell"):
        tag.extract()
    sections = {_heading(tag): tag for tag in top.find_all("section", recursive=False)}
    within = top if not anchor else top.find(id=anchor)
    if isinstance(within, Tag) and within.name != "section":
        within = within.find_parent("section", id=True)
    if not isinstance(within, Tag):
        raise NotBuilt(f"slides: the page {page} has no section {anchor}")
    own = next((name for name in sections if name.lower().endswith("own cluster")), "")
    asked = sections.get(own) or next(iter(sections.values()), None)
    return Harvest(
        _heading(top),
        *_lead(top),
        tuple(_shown(within, file)),
        _text(sections.get("Three things to remember"), "ol"),
        tuple(_typed(asked)) if asked is not None else (),
        tuple(sections),
    )


def _heading(section: Tag) -> str:
    heading = section.find(["h1", "h2", "h3", "h4"])
    return heading.get_text(strip=True) if heading is not None else ""


def _lead(top: Tag) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is shown of it, and what is left to be told."""
    shown: list[str] = []
    more: list[str] = []
    words = 0
    for block in top.find_all(recursive=False):
        if block.name == "section":
            break
        text = block.get_text()
        if block.name == "p" and not text.startswith("Comes after"):
            words += len(text.split())
            fits = words <= WORDS_OF_A_LEAD or not shown
            (shown if fits else more).append(f"<p>{_inline(block)}</p>")
        elif "highlight" in " ".join(block.get("class") or ()):
            shown += _typed(block)
    return tuple(shown), tuple(more)


def _shown(within: Tag, file: Path) -> list[Shown]:
    found = []
    for tag in within.select(SHOWN):
        section = tag.find_parent("section", id=True)
        chapter = _above(tag, within)
        if section is None or chapter & NO_PICTURES_BELOW or _ignored(tag):
            continue
        block = tag
        while block.parent is not section and block.parent is not None:
            block = block.parent
        before, after = block.find_previous_sibling(), block.find_next_sibling()
        around = [p for p in (before, after) if p is not None and p.name == "p"]
        leads_in = before in around and before.get_text().rstrip().endswith(":")
        caption = SENTENCE.split(_plain(before))[-1].rstrip(": ") if leads_in else ""
        title, notes = _title(block, section), tuple(_inline(p) for p in around)
        found.append(Shown(title, _embedded(tag, file), caption, notes))
    return found


def _ignored(tag: Tag) -> bool:
    """Inside of something folded, or part of a table."""
    return tag.find_parent(["details", "table"]) is not None


def _above(tag: Tag, within: Tag) -> set[str]:
    return {_heading(s) for s in tag.find_parents("section", id=True) if s != within}


def _title(block: Tag, section: Tag) -> str:
    """The nearest words in bold at a paragraph's beginning, or the heading."""
    for before in block.find_previous_siblings():
        first = before.find(True) if before.name == "p" else None
        starts = first is not None and first.name == "strong"
        if starts and before.get_text().startswith(first.get_text()):
            return first.get_text().rstrip(".: ")
    heading = _heading(section)
    return "" if heading in GENERIC else heading


def _embedded(tag: Tag, file: Path) -> str:
    if tag.name != "img":
        return str(tag)
    source = unquote(str(tag["src"]))
    if not source.startswith("data:"):
        picture = (file.parent / source).resolve()
        kind = mimetypes.guess_type(picture.name)[0] or "image/svg+xml"
        data = base64.b64encode(picture.read_bytes()).decode()
        source = f"data:{kind};base64,{data}"
    alt = str(tag.get("alt", "")).replace("&", "&amp;").replace('"', "&quot;")
    return f'<img src="{source}" alt="{alt}">'


def _typed(section: Tag) -> list[str]:
    return [
        f'<pre tabindex="0">{pre.decode_contents().strip()}</pre>'
        for pre in section.select("div.highlight-console pre")
    ]


def _text(section: Tag | None, selector: str) -> str:
    found = section.select_one(selector) if section is not None else None
    if found is None:
        return ""
    return "".join(f"<li>{_inline(item)}</li>" for item in found.find_all("li"))


def _inline(tag: Tag) -> str:
    """A paragraph's HTML without links and classes: a slide leads nowhere else."""
    copy = BeautifulSoup(tag.decode_contents(), "html.parser")
    for other in copy.find_all(["a", "span", "p"]):
        other.unwrap()
    for other in copy.find_all(True):
        other.attrs = {}
    return str(copy).strip()


def _plain(tag: Tag) -> str:
    return " ".join(_inline(tag).split())
