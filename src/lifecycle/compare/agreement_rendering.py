"""How an agreement table looks, in a terminal and on a page.

First the sentence, then the row that tells most – or every row that differs and nobody
has explained – and then the rest: on a page folded, in a terminal as plain text below.
Rows whose answer was given come last, apart from those that were worked out.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from lifecycle.compare.agreement_row import Row
from lifecycle.compare.html_text import html_text

COLUMNS = ("stage", "input", "ours", "cluster", "equal?")

_TD = (
    "text-align:left;vertical-align:top;padding:.2em .6em;border-bottom:1px solid"
    " rgba(128,128,128,.4);overflow-wrap:anywhere"
)
# white on these reads on any page: no single ink is dark enough for a light page and
# light enough for a dark one
_BADGE = (
    "color:#fff;padding:.1em .5em;border-radius:.6em;white-space:nowrap;font-weight:600"
)
_WORDS = f"{_TD};overflow-wrap:normal"
ROOM = 64
"""Letters beside each other in a page's column of text, without the verdict."""
ANSWER = 14
"""Letters that an answer's column has at least: a page keeps so much free for it."""
_SMALL = "opacity:.75;font-size:.85em"
_COLOUR = {"equal": "#1f7a4d", "known": "#8a5a00", "different": "#b3261e"}
_STYLE = {"equal": "green", "known": "yellow", "different": "red"}


@dataclass(frozen=True, slots=True)
class Shown:
    """A table as it is shown: its first sentence with the `opening` rows, then all
    `rows` but those `left_out` for length, then the `notes`. The `given` ones come
    last.
    """

    title: str
    headline: str
    opening: list[Row]
    rows: list[Row]
    left_out: int
    notes: list[str]
    given: list[Row]
    summary: str
    provenance: str

    @property
    def more(self) -> str:
        """What is said of the rows that were left out."""
        return f"… and {self.left_out:,} more rows" if self.left_out else ""


# -- a terminal ------------------------------------------------------------------------


def for_a_terminal(table: Shown) -> Group:
    """The sentence, the rows that tell most, all rows, the notes."""
    parts: list[Any] = [Text(table.headline, style="bold")]
    if len(table.opening) < len(table.rows):
        parts += [_grid(table.opening, table.title), Text("")]
    parts.append(_grid(table.rows, "all rows" if len(parts) > 1 else table.title))
    if table.more:
        parts.append(Text(table.more))
    parts += [Text(table.summary), *(Text(note) for note in table.notes)]
    for reason, given in _by_reason(table.given):
        parts.append(Text(f"given, not counted: {reason}"))
        parts += [Text(f"  {row.stage} {row.input}: {_verdict(row)}") for row in given]
    parts.append(Text(table.provenance, style="dim"))
    return Group(*parts)


def _grid(rows: Iterable[Row], title: str) -> Table:
    grid = Table(title=title, title_justify="left", expand=False)
    for column in COLUMNS:
        grid.add_column(column, overflow="fold", justify="left")
    for row in rows:
        verdict = Text(_verdict(row), style=_STYLE[_state(row)])
        grid.add_row(row.stage, row.input, row.ours, row.cluster, verdict)
    return grid


# -- a page ----------------------------------------------------------------------------


def for_a_page(table: Shown) -> str:
    """HTML that inherits the page's colours and scrolls sideways on a phone."""
    more = f"<p>{table.more}</p>" if table.more else ""
    notes = "".join(f"<li>{html_text(note)}</li>" for note in table.notes)
    count = len(table.rows) + table.left_out
    parts = [
        f"<p><strong>{html_text(table.headline)}</strong></p>",
        _page_grid(table.opening, table.title),
        _folded(
            f"{'the row' if count == 1 else f'all {count:,} rows'}",
            _page_grid(table.rows, "") + more,
        ),
        _folded("freedoms, known disagreements, differences", f"<ul>{notes}</ul>")
        if notes
        else "",
        *(
            _folded(
                f"given, not counted: {len(given):,} row{'s'[: len(given) > 1]}",
                f"<p>{html_text(reason)}</p>{_page_grid(given, '')}",
            )
            for reason, given in _by_reason(table.given)
        ),
        f'<p style="{_SMALL}">{html.escape(table.summary)}<br>'
        f"{html.escape(table.provenance)}</p>",
    ]
    return (
        '<div class="agreement" style="color:inherit;background:transparent">'
        f"{''.join(parts)}</div>"
    )


def _folded(summary: str, inside: str) -> str:
    return f"<details><summary>{html.escape(summary)}</summary>{inside}</details>"


def _page_grid(rows: Iterable[Row], title: str) -> str:
    caption = (
        f'<caption style="text-align:left;font-weight:600">{html.escape(title)}'
        "</caption>"
        if title
        else ""
    )
    head = "".join(f'<th style="{_WORDS}">{name}</th>' for name in COLUMNS)
    rows = list(rows)
    styles = _column_styles(rows)
    body = "".join(f"<tr>{_page_row(row, styles)}</tr>" for row in rows)
    return (
        '<div style="overflow-x:auto" tabindex="0">'
        '<table style="border-collapse:collapse;'
        'font-size:.85em;color:inherit;background:transparent">'
        f"{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _texts(row: Row) -> tuple[str, ...]:
    return row.stage.removesuffix(":"), row.input, row.ours, row.cluster


def _column_styles(rows: Iterable[Row]) -> list[str]:
    """Columns whose words stay whole, as long as there is room for the longest word of
    each; in the others a word may be broken anywhere. The two answers are read beside
    each other, so they are treated alike.
    """
    columns = zip(*(_texts(row) for row in rows), strict=True)
    longest = [
        max((len(word) for text in column for word in text.split()), default=0)
        for column in columns
    ]
    longest[2:] = [max(ANSWER, length) for length in longest[2:]]
    styles, room = [_TD] * len(longest), ROOM
    stage, given, ours, cluster = range(len(longest))
    alike = [(stage,), (given,), (ours, cluster)]
    for places in sorted(alike, key=lambda places: max(longest[p] for p in places)):
        room -= sum(longest[place] for place in places)
        if room >= 0:
            for place in places:
                styles[place] = _WORDS
    return styles


def _page_row(row: Row, styles: list[str]) -> str:
    cells = zip(styles, _texts(row), strict=True)
    return (
        "".join(
            f'<td style="{style}">{html.escape(text)}</td>' for style, text in cells
        )
        + f'<td style="{_TD}"><span style="{_BADGE};background:{_COLOUR[_state(row)]}">'
        f"{html.escape(_verdict(row))}</span></td>"
    )


# -- both ------------------------------------------------------------------------------


def _by_reason(given: list[Row]) -> Iterable[tuple[str, list[Row]]]:
    by_reason = sorted(given, key=lambda row: row.given)
    for reason, rows in groupby(by_reason, key=lambda row: row.given):
        yield reason, list(rows)


def _state(row: Row) -> str:
    if row.equal:
        return "equal"
    return "different" if row.unexplained else "known"


def _verdict(row: Row) -> str:
    figures = f"{row.comparison.equal}/{row.comparison.total}"
    return {
        "equal": f"✓ {figures}",
        "known": f"≈ {figures} known",
        "different": f"✗ {figures}",
    }[_state(row)]
