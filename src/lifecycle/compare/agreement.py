"""The agreement table: the unit of the book.

It opens with a sentence for somebody who has never seen one, and with the row that
tells most; everything else can be unfolded. One row per question: what was asked, what
we answered, what the cluster answered, and whether that is equal. Below it stand the
freedoms that were granted, with counts; the disagreements that are known, with reasons;
and where both columns come from.

A row whose answer was *given* to our side – planted beforehand, or shipped – is no
evidence. It says so, stands apart, and is in no sum; a difference in it is still one.
`unexplained` is what a command's exit code hangs on.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderResult

from lifecycle.compare import agreement_rendering as rendering
from lifecycle.compare.agreement_row import Row
from lifecycle.compare.compare import Comparison, Difference
from lifecycle.compare.freedoms import why
from lifecycle.compare.known import Known, explain

MAX_ROWS = 60
MAX_DIFFERENCES = 12


class AgreementTable:
    """Rows of agreement between `ours` and `cluster`, both lines of provenance.

    `opening` makes the first sentence of the finished table. `telling` is the question
    of the row that is shown with it where nothing differs; without it, that is the row
    with the most fields. Shows itself in notebooks and terminals, `limit` rows of it.
    """

    def __init__(
        self,
        title: str,
        ours: str,
        cluster: str,
        opening: Callable[[AgreementTable], str] | None = None,
        telling: str = "",
    ) -> None:
        self.title = title
        self.ours = ours
        self.cluster = cluster
        self.opening = opening
        self.telling = telling
        self.rows: list[Row] = []
        self.limit = MAX_ROWS
        self._explained: Counter[Known] = Counter()

    def add(
        self,
        stage: str,
        question: str,
        ours: str,
        cluster: str,
        comparison: Comparison,
        given: str = "",
    ) -> Row:
        """Append a row; known disagreements are looked up by stage (the scenario is its
        first word) and path.
        """
        row = Row(stage, question, ours, cluster, comparison, given=given)
        between = f"{self.ours} ↔ {self.cluster}"
        for index, difference in enumerate(comparison.differences):
            known = explain(
                stage.partition(":")[0],
                f"{question}{difference.path}",
                difference,
                between,
            )
            if known and self._explained[known] < known.at_most:
                self._explained[known] += 1
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
    def computed(self) -> list[Row]:
        """The rows that our side worked out: those that are evidence."""
        return [row for row in self.rows if not row.given]

    @property
    def given(self) -> list[Row]:
        """The rows whose answer our side was given."""
        return [row for row in self.rows if row.given]

    @property
    def total(self) -> int:
        """Fields compared."""
        return sum(row.comparison.total for row in self.computed)

    @property
    def fields_equal(self) -> int:
        """Fields equal, freedoms granted."""
        return sum(row.comparison.equal for row in self.computed)

    @property
    def freedoms(self) -> Counter[str]:
        """How often each freedom was needed."""
        granted: Counter[str] = Counter()
        for row in self.computed:
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
        rows = self.computed
        same = sum(row.equal for row in rows)
        percent = 100 * self.fields_equal / self.total if self.total else 100.0
        apart = f"; {len(self.given)} given and not counted" if self.given else ""
        return (
            f"{same} of {len(rows)} answers equal; {self.fields_equal:,} of"
            f" {self.total:,} fields ({percent:.1f} %); {len(self.unexplained)}"
            f" differences unexplained, {self.known.total()} known{apart}"
        )

    @property
    def headline(self) -> str:
        """The first sentence."""
        if self.opening is not None:
            return self.opening(self)
        return (
            f"{len(self.computed):,} questions, put to ours and to the cluster:"
            f" {self.outcome('answers')}."
        )

    def outcome(self, things: str) -> str:
        """How a headline ends: whether all `things`, which the rows are, came out the
        same.
        """
        rows = self.computed
        different = [row for row in rows if not row.equal]
        if not different:
            return f"all {things} are the same"
        unknown = [row for row in different if row.unexplained]
        known = len(different) - len(unknown)
        parts = [
            f"{len(rows) - len(different):,} of {len(rows):,} {things} are the same"
        ]
        if known:
            parts.append(f"{known:,} differ for a reason that is known")
        if unknown:
            parts.append(
                f"{len(unknown):,} {'differ' if len(unknown) > 1 else 'differs'}"
                " and nobody has explained why"
            )
        return ", ".join(parts)

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
                "given": row.given,
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
            "headline": self.headline,
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

    def opening_rows(self) -> list[Row]:
        """What is shown with the first sentence: what differs unexplained, or else what
        differs, or else the most telling row.
        """
        rows = self.computed
        for candidates in (
            [row for row in self.rows if row.unexplained],
            [row for row in rows if not row.equal],
            [row for row in rows if row.input == self.telling],
        ):
            if candidates:
                return candidates[:MAX_DIFFERENCES]
        return sorted(rows, key=lambda row: -row.comparison.total)[:1]

    def listed_rows(self) -> tuple[list[Row], int]:
        """The rows worth showing, disagreements first in their own order, and how many
        equal ones were left out. Those that were given are not among them.
        """
        rows = self.computed
        different = [row for row in rows if not row.equal]
        room = max(self.limit - len(different), 8)
        equal = [row for row in rows if row.equal]
        kept = {id(row) for row in equal[:room]} | {
            id(row) for row in different[: self.limit]
        }
        return [row for row in rows if id(row) in kept], len(rows) - len(kept)

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
            for question, difference in unexplained[:MAX_DIFFERENCES]
        ]
        if len(unexplained) > MAX_DIFFERENCES:
            lines.append(
                f"… and {len(unexplained) - MAX_DIFFERENCES:,} more unexplained"
                " differences"
            )
        return lines

    def shown(self) -> rendering.Shown:
        """What a reader sees of it, in a terminal as on a page."""
        rows, left_out = self.listed_rows()
        return rendering.Shown(
            title=self.title,
            headline=self.headline,
            opening=self.opening_rows(),
            rows=rows,
            left_out=left_out,
            notes=self.notes(),
            given=self.given,
            summary=self.summary,
            provenance=self.provenance,
        )

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        yield self.__rich__()

    def __rich__(self) -> Group:
        """For a terminal."""
        return rendering.for_a_terminal(self.shown())

    def __str__(self) -> str:
        console = Console(width=120, no_color=True, highlight=False)
        with console.capture() as capture:
            console.print(self.__rich__())
        return capture.get()

    def __repr__(self) -> str:
        return f"<AgreementTable {self.title!r}: {self.summary}>"

    def _repr_html_(self) -> str:
        """For a notebook."""
        return rendering.for_a_page(self.shown())


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 100 else text[:99] + "…"
