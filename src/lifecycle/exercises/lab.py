"""A lab asks, its reader answers: `check` says whether an answer is right, `score` how
many are.

What a lab asks, what is right and what helps after a common mistake stands in
`labs/solutions/<lab>.py`: for a question `order` a right answer `your_order` (a value,
a function, a class) and in `MISTAKES` wrong ones, with a word for each. The notebook
has the same names with a gap: `your_order = ...`, or a function that raises
NotImplementedError. Where something is to be mended, it has it broken.

What a scene prints while a check plays it is shown once the answer is right: nobody
reads an answer before having given one.
"""

from __future__ import annotations

import io
import runpy
import textwrap
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

from lifecycle.exercises.lab_answer import agrees, differing, is_open, parts, spoilt
from lifecycle.inspector.opening import recordings_directory

PREFIX = "your_"
OPEN, RIGHT, WRONG = "not answered yet", "right", "not yet"
WIDTH = 88
MOST = 4
"""So many of the parts to look at again are named."""


@dataclass(slots=True, frozen=True)
class Mistake:
    """A wrong answer that many give, and a word that helps them on.

    `answer` is what they give: a value, or, where the right answer has parts, a dict of
    the parts that go wrong (by key, or by place in a list); for code a function or
    class of the solution's file. `seen` tells by an answer, or by what code came to,
    whether this mistake was made. Without it, the parts that go wrong have to be the
    same.
    """

    question: str
    answer: Any
    word: str
    seen: Callable[[Any], bool] | None = None

    def made_by(self, yours: Any, right: Any) -> bool:
        """Whether `yours`, which is not `right`, makes this mistake."""
        if self.seen is None:
            wrong = spoilt(right, self.answer)
            if wrong is self.answer:  # as a whole, not in parts
                return agrees(yours, wrong)
            mine, theirs = parts(yours), parts(wrong)
            return all(
                key in mine and agrees(mine[key], theirs[key])
                for key in differing(wrong, right)
            )
        try:
            return bool(self.seen(yours))
        except (TypeError, LookupError, AttributeError, ValueError):
            return False  # an answer of another shape makes another mistake


class Lab:
    """One lab's questions, and how its reader stands. Raises FileNotFoundError for a
    lab without a solution, InspectorError outside of the repository.
    """

    def __init__(self, name: str) -> None:
        folder = recordings_directory().parent / "labs" / "solutions"
        solution = runpy.run_path(str(folder / f"{name}.py"))
        self.mistakes: tuple[Mistake, ...] = tuple(solution["MISTAKES"])
        self.verdicts = {
            key.removeprefix(PREFIX): OPEN for key in solution if key.startswith(PREFIX)
        }

    def check(
        self,
        question: str,
        yours: Any,
        right: Any,
        *,
        play: Callable[[Any], Any] | None = None,
        within: float = 0,
    ) -> None:
        """Say whether an answer is right, and a helpful word if not.

        `right` is what is right, or a function that finds it out. With `play`, `yours`
        is code, and `play(yours)` is compared. Numbers may be `within` so much of the
        right ones. Raises KeyError for a question that the lab does not ask.
        """
        if question not in self.verdicts:
            raise KeyError(f"{question!r} is none of {', '.join(self.verdicts)}")
        printed = io.StringIO()
        verdict, word = OPEN, ""
        if not is_open(yours):
            with redirect_stdout(printed):
                try:
                    answer = play(yours) if play else yours
                except NotImplementedError:
                    pass
                except Exception as error:
                    verdict, word = (
                        WRONG,
                        f". It raised {type(error).__name__}: {error}",
                    )
                else:
                    truth = right() if callable(right) else right
                    verdict, word = self._judge(question, answer, truth, within)
        self.verdicts[question] = verdict
        print(_in_lines(f"{question}: {verdict}{word}"))
        if verdict == RIGHT:
            print(printed.getvalue(), end="")

    def _judge(
        self, question: str, answer: Any, truth: Any, within: float
    ) -> tuple[str, str]:
        wrong = differing(answer, truth, within)
        if not wrong:
            return RIGHT, ""
        helpful = (
            mistake.word
            for mistake in self.mistakes
            if mistake.question == question and mistake.made_by(answer, truth)
        )
        return WRONG, f"{_where(wrong, truth)}. {next(helpful, '')}".rstrip()

    def score(self) -> None:
        """Print how many answers are right, and what is still to be done."""
        left = [name for name, verdict in self.verdicts.items() if verdict != RIGHT]
        print(len(self.verdicts) - len(left), "of", len(self.verdicts))
        if left:
            print("still to do:", ", ".join(left))


def _in_lines(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False, break_long_words=False)


def _where(wrong: list[Any], right: Any) -> str:
    """How much of an answer with parts is right, and where to look again."""
    all_parts = parts(right)
    if "" in all_parts or "" in wrong:
        return ""
    names = [
        f"no. {key + 1}"
        if isinstance(key, int)
        else " ".join(str(part) for part in key if part != "")
        if isinstance(key, tuple)
        else str(key)
        for key in wrong
    ]
    right_ones = len(all_parts.keys() - set(wrong))
    more = f" and {len(names) - MOST:,} more" if len(names) > MOST else ""
    where = ", ".join(names[:MOST]) + more
    return f", {right_ones:,} of {len(all_parts):,}; look again at {where}"
