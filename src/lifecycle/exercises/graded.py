"""What a reader is told about an attempt: how many answers are right in each group of
questions, and the first that are wrong.

An agreement table underneath, in a learner's words: *yours* and *right* instead of
*ours* and *cluster*. A wrong answer takes one line, and the lines shown come from as
many groups as possible: twelve times the same mistake would hide the others.
"""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from lifecycle.api import fast_json
from lifecycle.compare import AgreementTable
from lifecycle.compare.agreement import MAX_DIFFERENCES
from lifecycle.compare.compare import Comparison, Difference
from lifecycle.compare.masked import ABSENT

LONGEST = 90
NO_ANSWER = (
    "raised ",
    "gave no answer",
    "was not tried",
    "was a coroutine",
    "does not fit ",
)
"""How the sentence goes on where an attempt has not answered."""


class GradedTable(AgreementTable):
    """Rows are groups of questions; `right` and `questions` count answers, not
    fields.
    """

    def __init__(self, title: str, name: str, source: str) -> None:
        super().__init__(title, name, source)
        self.questions: list[int] = []
        self.right: list[int] = []

    def add_group(self, group: str, count: int, comparison: Comparison) -> None:
        """Append a group's row."""
        row = self.add("exercise", group, "", "", comparison)
        self.questions.append(count)
        self.right.append(count - len(_first_of_each(row.comparison.differences)))
        row.ours, row.cluster = (
            f"{self.right[-1]:,} of {count:,} right",
            f"{count:,} questions",
        )

    @property
    def summary(self) -> str:
        """One line."""
        right, questions = sum(self.right), sum(self.questions)
        return (
            f"{right:,} of {questions:,} answers right"
            f" ({100 * right / max(questions, 1):.1f} %)"
        )

    @property
    def provenance(self) -> str:
        """Whose answers, and who says what is right."""
        return f"yours: {self.ours} · the right answers: {self.cluster}"

    def notes(self) -> list[str]:
        """The wrong answers, a line each: the first of every group, then the second of
        every group, …
        """
        groups = [
            [(row.input, d) for d in _first_of_each(row.comparison.differences)]
            for row in self.rows
        ]
        wrong = [
            each
            for each in chain.from_iterable(zip_longest(*groups))
            if each is not None
        ]
        lines = [
            f"wrong: {_describe(group, difference)}"
            for group, difference in wrong[:MAX_DIFFERENCES]
        ]
        if len(wrong) > MAX_DIFFERENCES:
            lines.append(f"… and {len(wrong) - MAX_DIFFERENCES:,} more")
        return lines

    def __rich__(self) -> Group:
        table = Table(title=self.title, title_justify="left", expand=False)
        for column in ("questions", "right", ""):
            table.add_column(column, overflow="fold", justify="left")
        for row, right, questions in zip(
            self.rows, self.right, self.questions, strict=True
        ):
            mark = Text("✓", style="green") if row.equal else Text("✗", style="red")
            table.add_row(row.input, f"{right:,} of {questions:,}", mark)
        notes = (
            Text(note, no_wrap=True, overflow="ignore") for note in self.notes()
        )  # a line each, however long
        return Group(
            table, Text(self.summary), *notes, Text(self.provenance, style="dim")
        )


def _first_of_each(differences: list[Difference]) -> list[Difference]:
    """The first difference of each case: a case's label is the first part of the
    path.
    """
    return list({_label(d): d for d in reversed(differences)}.values())[::-1]


def _label(difference: Difference) -> str:
    return (
        difference.path.split("/", 2)[1] if "/" in difference.path else difference.path
    )


def case_title(group: str, label: str) -> str:
    """How people are told of a case. (A label writes its slashes otherwise, being one
    part of a path.)
    """
    return f"{group} · {label}".replace("∕", "/")


def _describe(group: str, difference: Difference) -> str:
    label, _, inside = difference.path.removeprefix("/").partition("/")
    where = f", at {inside}" if inside else ""
    ours, right = _shorten(difference.ours), _shorten(difference.theirs)
    yours = f"yours {ours}" if ours.startswith(NO_ANSWER) else f"yours is {ours}"
    return f"{case_title(group, label)}{where}: {yours}, right is {right}"


def _shorten(value: Any) -> str:
    if value is ABSENT:
        return "nothing there"
    text = value if isinstance(value, str) and value else _written(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _written(value: Any) -> str:
    """As JSON, if that is possible; a stranger's answer may be anything."""
    try:
        return fast_json.dumps(
            value, default=repr, option=fast_json.OPT_NON_STR_KEYS
        ).decode()
    except Exception:
        return f"a {type(value).__name__} that cannot be shown"
