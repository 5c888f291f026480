"""The agreement table: the unit of the book.

One row per question: what was asked, what we answered, what the cluster answered, and
whether that is equal. Below it stand the freedoms that were granted, with counts; the
disagreements that are known, with reasons; and where both columns come from.
`unexplained` is what a command's exit code hangs on.
"""

from __future__ import annotations

import html
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Table
from rich.text import Text

from lifecycle.compare.compare import Comparison, Difference
from lifecycle.compare.freedoms import why
from lifecycle.compare.known import Known, explain

SHOWN_ROWS = 60
SHOWN_DIFFERENCES = 12


@dataclass(slots=True)
class Row:
    """One question. `ours` and `cluster` are short renderings of the answers, or of the
    first place where they differ.
    """

    stage: str
    input: str
    ours: str
    cluster: str
    comparison: Comparison
    known: dict[int, Known] = field(default_factory=dict)

    @property
    def equal(self) -> bool:
        """No difference at all, freedoms aside."""
        return self.comparison.agrees

    @property
    def unexplained(self) -> list[Difference]:
        """Differences without a reason."""
        return [
            d for i, d in enumerate(self.comparison.differences) if i not in self.known
        ]


class AgreementTable:
    """Rows of agreement between `ours` and `cluster`, both lines of provenance.

    Shows itself in notebooks and terminals, `limit` rows of it.
    """

    def __init__(self, title: str, ours: str, cluster: str) -> None:
        self.title = title
        self.ours = ours
        self.cluster = cluster
        self.rows: list[Row] = []
        self.limit = SHOWN_ROWS

    def add(
        self, stage: str, question: str, ours: str, cluster: str, comparison: Comparison
    ) -> Row:
        """Append a row; known disagreements are looked up by stage (the scenario is its
        first word) and path.
        """
        row = Row(stage, question, ours, cluster, comparison)
        between = f"{self.ours} ↔ {self.cluster}"
        for index, difference in enumerate(comparison.differences):
            known = explain(
                stage.partition(":")[0], f"{question}{difference.path}", between
            )
            if known:
                row.known[index] = known
        if comparison.differences:
            first = comparison.differences[0]
            row.ours, row.cluster = _cell(first.ours), _cell(first.theirs)
        self.rows.append(row)
        return row

    def extend(self, other: AgreementTable) -> None:
        """Take over another table's rows."""
        self.rows += other.rows

    # -- figures -----------------------------------------------------------------------

    @property
    def total(self) -> int:
        """Fields compared."""
        return sum(row.comparison.total for row in self.rows)

    @property
    def fields_equal(self) -> int:
        """Fields equal, freedoms granted."""
        return sum(row.comparison.equal for row in self.rows)

    @property
    def freedoms(self) -> Counter[str]:
        """How often each freedom was needed."""
        granted: Counter[str] = Counter()
        for row in self.rows:
            granted += row.comparison.freedoms
        return granted

    @property
    def equal(self) -> bool:
        """Everything equal."""
        return all(row.equal for row in self.rows)

    @property
    def unexplained(self) -> list[tuple[str, Difference]]:
        """Every difference nobody has explained, with its question."""
        return [
            (f"{row.stage}: {row.input}", d)
            for row in self.rows
            for d in row.unexplained
        ]

    @property
    def known(self) -> Counter[Known]:
        """The known disagreements that showed up."""
        return Counter(known for row in self.rows for known in row.known.values())

    @property
    def summary(self) -> str:
        """One line."""
        same = sum(row.equal for row in self.rows)
        percent = 100 * self.fields_equal / self.total if self.total else 100.0
        return (
            f"{same} of {len(self.rows)} answers equal; {self.fields_equal:,} of"
            f" {self.total:,} fields ({percent:.1f} %); {len(self.unexplained)}"
            f" differences unexplained, {self.known.total()} known"
        )

    @property
    def provenance(self) -> str:
        """Both sides, one line."""
        return f"ours: {self.ours} · cluster: {self.cluster}"

    # -- renderings --------------------------------------------------------------------

    def to_json(self) -> str:
        """For machines."""
        rows = [
            {
                "stage": row.stage,
                "input": row.input,
                "equal": row.equal,
                "fields": row.comparison.total,
                "fields_equal": row.comparison.equal,
                "differences": [
                    {
                        "path": d.path,
                        "ours": d.ours,
                        "cluster": d.theirs,
                        "known": row.known[i].id if i in row.known else None,
                    }
                    for i, d in enumerate(row.comparison.differences)
                ],
            }
            for row in self.rows
        ]
        document = {
            "title": self.title,
            "ours": self.ours,
            "cluster": self.cluster,
            "equal": self.equal,
            "fields": self.total,
            "fields_equal": self.fields_equal,
            "unexplained": len(self.unexplained),
            "freedoms": dict(sorted(self.freedoms.items())),
            "known": {known.id: count for known, count in self.known.items()},
            "rows": rows,
        }
        return json.dumps(document, indent=1, default=str)

    def shown_rows(self) -> tuple[list[Row], int]:
        """The rows worth showing, disagreements first in their own order, and how many
        equal ones were left out.
        """
        different = [row for row in self.rows if not row.equal]
        room = max(self.limit - len(different), 8)
        equal = [row for row in self.rows if row.equal]
        kept = {id(row) for row in equal[:room]} | {
            id(row) for row in different[: self.limit]
        }
        return [row for row in self.rows if id(row) in kept], len(self.rows) - len(kept)

    def notes(self) -> list[str]:
        """What stands under the table: freedoms, known disagreements, the differences
        one by one.
        """
        lines = [
            f"freedom granted {count:,}×: {name} – {why(name)}"
            for name, count in self.freedoms.most_common()
        ]
        lines += [
            f"known disagreement {count:,}×: {known.id} – {known.reason}"
            for known, count in self.known.items()
        ]
        unexplained = self.unexplained
        lines += [
            f"unexplained: {question}{difference}"
            for question, difference in unexplained[:SHOWN_DIFFERENCES]
        ]
        if len(unexplained) > SHOWN_DIFFERENCES:
            lines.append(
                f"… and {len(unexplained) - SHOWN_DIFFERENCES:,} more unexplained"
                " differences"
            )
        return lines

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        yield self.__rich__()

    def __rich__(self) -> Group:
        """For a terminal."""
        table = Table(title=self.title, title_justify="left", expand=False)
        for column in ("stage", "input", "ours", "cluster", "equal?"):
            table.add_column(column, overflow="fold", justify="left")
        rows, left_out = self.shown_rows()
        for row in rows:
            table.add_row(
                row.stage,
                row.input,
                row.ours,
                row.cluster,
                Text(_verdict(row), style=_STYLE[_state(row)]),
            )
        parts: list[Any] = [table]
        if left_out:
            parts.append(Text(f"… and {left_out:,} more rows"))
        parts += [
            Text(self.summary),
            *(Text(note) for note in self.notes()),
            Text(self.provenance, style="dim"),
        ]
        return Group(*parts)

    def __str__(self) -> str:
        console = Console(width=120, no_color=True, highlight=False)
        with console.capture() as capture:
            console.print(self.__rich__())
        return capture.get()

    def __repr__(self) -> str:
        return f"<AgreementTable {self.title!r}: {self.summary}>"

    def _repr_html_(self) -> str:
        """For a notebook: inherits the page's colours, scrolls sideways on a phone."""
        rows, left_out = self.shown_rows()
        body = "".join(
            "<tr>"
            + "".join(
                f'<td style="{style}">{html.escape(cell)}</td>'
                for style, cell in zip(
                    (_WORDS, _TD, _TD, _TD),
                    (row.stage, row.input, row.ours, row.cluster),
                )
            )
            + f'<td style="{_TD}"><span'
            f' style="{_BADGE};background:{_COLOUR[_state(row)]}">'
            f"{html.escape(_verdict(row))}</span></td></tr>"
            for row in rows
        )
        head = "".join(
            f'<th style="{_WORDS}">{name}</th>'
            for name in ("stage", "input", "ours", "cluster", "equal?")
        )
        more = f"<p>… and {left_out:,} more rows</p>" if left_out else ""
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes())
        return (
            '<div class="agreement" style="color:inherit;background:transparent">'
            '<div style="overflow-x:auto"><table'
            ' style="border-collapse:collapse;font-size:.85em;color:inherit;'
            'background:transparent">'
            "<caption"
            f' style="text-align:left;font-weight:600">{html.escape(self.title)}</'
            "caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}"
            f"<p><strong>{html.escape(self.summary)}</strong></p>"
            "<details><summary>freedoms, known disagreements,"
            f" differences</summary><ul>{notes}</ul></details>"
            f'<p style="opacity:.75;font-size:.85em">{html.escape(self.provenance)}</'
            "p></div>"
        )


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
_COLOUR = {"equal": "#1f7a4d", "known": "#8a5a00", "different": "#b3261e"}
_STYLE = {"equal": "green", "known": "yellow", "different": "red"}


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


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 100 else text[:99] + "…"
