"""What stands before the first chapter of the PDF: the title page, and the contents.

Both are one page of HTML, printed like all others, so that the contents' links become
places in the PDF in the same way. They are printed twice: the first time only to see
how many sheets they take, since every page number depends on it.
"""

from __future__ import annotations

from html import escape
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from title_page import TitlePage, written

STYLE = """
@page { margin: 20mm; }
@page :first { @bottom-center { content: none; } }
body { font: 14px/1.36 sans-serif; font-variant-ligatures: none; color: #111; }
a { color: inherit; text-decoration: none; }
.title-page { break-after: page; padding-top: 70mm; }
.title-page h1 { font-size: 46px; line-height: 1.15; margin: 0 0 6mm; }
.title-page .about { font-size: 19px; max-width: 150mm; margin: 0 0 40mm; }
.title-page p { margin: 0 0 2mm; }
.title-page p a { text-decoration: underline; }
h2 { font-size: 28px; margin: 0 0 3mm; }
h3 { font-size: 15px; margin: 3mm 0 .5mm; break-after: avoid; }
ol { list-style: none; margin: 0; padding: 0; }
li { break-inside: avoid; }
li a { display: flex; align-items: baseline; }
li a::after { content: attr(data-sheet); order: 3; }
li a i { flex: 1; border-bottom: 1px dotted #999; margin: 0 2mm; }
li.belongs { padding-left: 8mm; font-size: 12px; color: #444; }
"""


class Entry(NamedTuple):
    """A line of the contents. `belongs`: to the chapter before, as a lab does."""

    part: str
    title: str
    page: Path
    belongs: bool


def front_matter(
    title: TitlePage, entries: list[Entry], sheets: dict[Path, int]
) -> str:
    """The HTML of both. `sheets`: the number of each page's first sheet."""
    parts = "".join(
        _part(part, list(lines), sheets)
        for part, lines in groupby(entries, lambda entry: entry.part)
    )
    return f"""<!doctype html>
<html lang="{title.language}"><head><meta charset="utf-8">
<title>{escape(title.title)}</title><style>{STYLE}</style></head>
<body>{written(title)}<h2>Contents</h2>{parts}</body></html>"""


def _part(part: str, lines: list[Entry], sheets: dict[Path, int]) -> str:
    items = "".join(
        f"<li{' class=belongs' if line.belongs else ''}>"
        f'<a href="{line.page.as_uri()}" data-sheet="{sheets.get(line.page, 0)}">'
        f"<span>{escape(line.title)}</span><i></i></a></li>"
        for line in lines
    )
    heading = f"<h3>{escape(part)}</h3>" if part else ""
    return f"{heading}<ol>{items}</ol>"
