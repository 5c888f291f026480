"""A plan and its harvest as one HTML file."""

from __future__ import annotations

import html
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt

from slides.harvest import Harvest, harvest
from slides.plan import Plan, Row, Source, read_plans

BOOK = "What Happens When … Kubernetes"
HERE = Path(__file__).parent
MINUTES_FOR_A_PICTURE = 5
MINUTES_FOR_A_SUMMARY = 10
"""A shorter row asks a question, and pictures and summaries would answer it."""


@dataclass(slots=True)
class Slide:
    """One slide. `kind` is its class, `minute` when it may be over, of the lesson."""

    kind: str
    title: str
    body: str
    row: Row | None = None
    notes: tuple[str, ...] = ()
    links: list[tuple[str, str]] = field(default_factory=list)


def inline(text: str) -> str:
    """Markdown of one line."""
    return MarkdownIt().renderInline(text)


def slides_of(plan: Plan, site: Path) -> Iterator[Slide]:
    """The deck's slides, in order. Raises NotBuilt."""
    agenda = "".join(
        f"<li><b>{row.minutes}</b><span>{inline(row.what)}</span></li>"
        for row in plan.rows
    )
    lead = f'<p>{inline(plan.lead)}</p><ol class="agenda">{agenda}</ol>'
    yield Slide("title", plan.title, lead)
    for row in plan.rows:
        links = [(s.title, f"../{s.page}.html") for s in row.sources]
        yield Slide("part", inline(row.what), "", row, links=links)
        for source in row.sources:
            found = harvest(site, source.page, source.anchor)
            yield from _of_source(row, source, found)


def _of_source(row: Row, source: Source, found: Harvest) -> Iterator[Slide]:
    title = html.escape(found.title)
    if source.is_lab:
        steps = "".join(f"<li>{html.escape(name)}</li>" for name in found.headings)
        body = f"{''.join(found.lead)}<ul>{steps}</ul>"
        link = [("the lab", f"../{source.page}.html")]
        yield Slide("lab", title, body, row, links=link)
        return
    brief = row.minutes < MINUTES_FOR_A_SUMMARY
    if not source.anchor:
        yield Slide("lead", title, "".join(found.lead), row, found.more)
        if brief:
            return
    for shown in found.shown[: max(1, row.minutes // MINUTES_FOR_A_PICTURE)]:
        caption = f"<p>{shown.caption}</p>" if shown.caption else ""
        heading = html.escape(shown.title) or title
        body = f"<figure>{shown.html}</figure>{caption}"
        yield Slide("picture", heading, body, row, shown.notes)
    if source.anchor:
        return
    if found.type:
        yield Slide("type", f"{title}: what to type", "".join(found.type), row)
    if found.remember:
        body = f"<ol>{found.remember}</ol>"
        yield Slide("remember", f"{title}: three things to remember", body, row)


def _rendered(slide: Slide, number: int, plan: Plan) -> str:
    row = slide.row
    clock = f"{row.start}–{row.end} of {plan.minutes} min" if row else ""
    links = "".join(
        f' · <a href="{html.escape(to)}">{html.escape(text)}</a>'
        for text, to in slide.links
    )
    notes = "".join(f"<p>{note}</p>" for note in slide.notes)
    aside = f'<aside class="notes" aria-label="Notes">{notes}</aside>' if notes else ""
    return (
        f'<section class="slide {slide.kind}" id="s{number}"'
        f' aria-labelledby="h{number}">'
        f'<h1 id="h{number}">{slide.title}</h1>'
        f'<div class="body">{slide.body}</div>{aside}'
        f'<p class="clock">{clock}{links}</p></section>'
    )


def page_of(plan: Plan, site: Path, stepper_style: str = "") -> str:
    """The deck, whole. Raises NotBuilt."""
    slides = list(slides_of(plan, site))
    style = (HERE / "deck.css").read_text(encoding="utf-8") + stepper_style
    script = (HERE / "deck.js").read_text(encoding="utf-8")
    body = "\n".join(_rendered(s, n, plan) for n, s in enumerate(slides, 1))
    title = html.escape(f"{plan.title} – {BOOK}")
    about = html.escape(f"{len(slides)} slides from the book {BOOK}. {plan.lead}")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="description" content="{about}"><title>{title}</title>'
        f"<style>{style}</style></head><body><main>{body}</main>"
        f"<script>{script}</script></body></html>\n"
    )


def style_of_steppers(root: Path) -> str:
    """The rules of the book's style sheet for what is stepped through."""
    lines = (root / "book" / "_static" / "book.css").read_text().splitlines()
    return "\n".join(line for line in lines if line.startswith(".journey-stepper"))


def written(root: Path, site: Path) -> list[Path]:
    """Write all decks into the site's `slides`. Raises NotBuilt."""
    style = style_of_steppers(root)
    decks = {plan.name: page_of(plan, site, style) for plan in read_plans(root)}
    (site / "slides").mkdir(exist_ok=True)
    files = []
    for name, page in decks.items():
        files.append(site / "slides" / f"{name}.html")
        files[-1].write_text(page, encoding="utf-8")
    return files


def main() -> None:
    """`make slides`."""
    root = HERE.parents[2]
    site = Path(os.environ.get("LIFECYCLE_SITE") or root / "_build" / "html").resolve()
    if not (site / "index.html").exists():
        sys.exit("make slides: there is no site; run `make book`, which makes them too")
    for file in written(root, site):
        print(f"{file.stat().st_size / 1e6:.1f} MB: {file.as_uri()}")
