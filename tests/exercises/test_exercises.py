"""Every exercise: the book's own version passes, the starter does not, and bad attempts are told what is wrong with them."""

from __future__ import annotations

import json
import time
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lifecycle.cli import main
from lifecycle.exercises import exercise as grading
from lifecycle.exercises.catalogue import EXERCISES, find_exercise
from lifecycle.exercises.exercise import Case, Exercise, grade


def attempt_in(source: str) -> Any:
    """The last function or class that a starter defines."""
    names: dict[str, Any] = {"__name__": "mine"}
    exec(source, names)
    return [value for value in names.values() if getattr(value, "__module__", "") == "mine"][-1]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.stage)
def test_the_books_own_version_passes(exercise: Exercise) -> None:
    table = grade(exercise, exercise.ours())
    assert table.equal, table.summary
    assert sum(row.comparison.total for row in table.rows) >= 50


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.stage)
def test_the_starter_runs_and_is_not_enough(exercise: Exercise) -> None:
    table = grade(exercise, attempt_in(exercise.starter))
    wrong = [d for row in table.rows for d in row.comparison.differences]
    assert wrong
    assert not [d for d in wrong if str(d.ours).startswith("raised TypeError")]


def exercise_of(*cases: Case) -> Exercise:
    return Exercise("s", "t", "c", "", "here", lambda: iter(cases), lambda: lambda x: x)


def test_an_attempt_that_raises_is_wrong_there_and_graded_on() -> None:
    def attempt(x: int) -> int:
        return 10 // x

    cases = [Case("g", f"case {n}", 10 // n if n else None, lambda a, n=n: a(n)) for n in (0, 1, 2)]
    table = grade(exercise_of(*cases), attempt)
    assert table.rows[0].comparison.equal == 2
    assert "ZeroDivisionError" in str(table.rows[0].comparison.differences[0].ours)
    assert table.rows[0].input == "g"


def test_an_attempt_that_hangs_is_stopped_and_after_three_times_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "SECONDS_PER_CASE", 0.02)

    def attempt(_: int) -> None:
        while True:
            pass

    cases = [Case("g", f"case {n}", n, lambda a, n=n: a(n)) for n in range(100)]
    begun = time.monotonic()
    table = grade(exercise_of(*cases), attempt)
    assert time.monotonic() - begun < 40  # three are stopped, and 97 not tried
    assert len(table.rows[0].comparison.differences) == 100


def test_where_there_is_no_alarm_an_attempt_is_graded_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a browser tab, which has the signal and nobody who would send it."""
    monkeypatch.delattr("signal.setitimer", raising=False)
    assert grade(exercise_of(Case("g", "one", 2, lambda a: a(1))), lambda n: n + 1).equal


def test_an_attempt_that_changes_its_input_is_told_so() -> None:
    shared = {"items": [1]}

    def attempt(x: Any) -> int:
        x["items"].append(2)
        return 1

    table = grade(exercise_of(Case("g", "c", 1, lambda a: a(shared), shared)), attempt)
    assert [row.equal for row in table.rows] == [True, False]


def test_what_two_questions_share_is_as_it_was_before_the_first_of_them() -> None:
    shared: dict[str, Any] = {"items": [1]}

    def attempt(x: Any) -> int:
        if len(x["items"]) == 1:
            x["items"].append(2)
        return 1

    cases = [Case("g", f"c{n}", 1, lambda a: a(shared), shared) for n in range(2)]
    table = grade(exercise_of(Case("g", "nothing", 1, lambda a: 1), *cases), attempt)
    [told] = table.rows[-1].comparison.differences
    assert (told.path, told.ours, told.theirs) == ("/c0", "changed what it was handed", "read only")
    assert [row.input for row in table.rows] == ["g", "leaves its inputs alone"]
    assert table.questions == [3, 1]


def test_wrong_answers_are_counted_by_question_and_told_a_line_each() -> None:
    def attempt(x: int) -> dict[str, int] | None:
        return None if x == 3 else {"a": x, "b": 0, "c": 0}

    cases = [Case(f"group {n % 2}", f"number ∕{n}", {"a": n, "b": n, "c": n}, lambda a, n=n: a(n)) for n in range(40)]
    table = grade(exercise_of(*cases), attempt)
    assert table.right == [1, 0, 1]
    assert table.summary == "2 of 41 answers right (4.9 %)"
    first, second, *_, last = table.notes()
    assert first == "wrong: group 0 · number /2, at b: yours is 0, right is 2"
    assert second == "wrong: group 1 · number /1, at b: yours is 0, right is 1"
    assert "wrong: group 1 · number /3: yours is null, right is" in table.notes()[3]
    assert (len(table.notes()), last) == (13, "… and 27 more")


def test_a_question_can_be_looked_at() -> None:
    code, said = lifecycle("host-local", "--show", "a small subnet · history 1")
    shown = json.loads(said)
    assert code == 0
    assert shown["question"][0] == [{"subnet": "10.1.0.0/29"}]
    assert shown["question"][1][0][0] == "add"
    assert shown["answer"][0] == "10.1.0.2/29"
    code, said = lifecycle("rbac", "--show", "jane · get pods in default")
    assert json.loads(said)["question"]["user"] == "jane"
    code, said = lifecycle("rbac", "--show", "nobody asks this")
    assert (code, "rbac has no question named 'nobody asks this'" in said) == (1, True)


def lifecycle(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["check", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def test_the_command_grades_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("mine_slow_start.py").write_text(find_exercise("slow-start").starter)
    code, said = lifecycle("slow-start", "mine_slow_start:slow_start_batch")
    assert code == 1
    assert "every create succeeds" in said
    assert "wrong: every create succeeds · count 2 from 2, at batches/0: yours is 1, right is 2\n" in said
    Path("right.py").write_text("from lifecycle.controllers.replicaset.slow_start_batch import slow_start_batch\n")
    code, said = lifecycle("slow_start", "right.py:slow_start_batch")
    assert code == 0
    assert "100.0 %" in said


def test_the_command_says_what_an_exercise_wants() -> None:
    for exercise in EXERCISES:
        code, said = lifecycle(exercise.stage)
        assert (code, exercise.contract in said) == (0, True)
        assert lifecycle(exercise.stage, "--starter") == (0, exercise.starter)
        assert all(find_exercise(alias) is exercise for alias in exercise.aliases)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("rback",), 2, "did you mean rbac?"),
        (("nonsense",), 2, "there are: create-deployment, resource-words, three-way-merge"),
        (("rbac", "authorize"), 1, "write module:object"),
        (("rbac", "no_such_module_here:f"), 1, "no module 'no_such_module_here' here"),
        (("rbac", "no_such.py:f"), 1, "there is no file no_such.py"),
        (("rbac", "json:nothing"), 1, "json has no 'nothing'"),
        (("rbac", "json:__name__"), 1, "json:__name__ is a str, which cannot be called"),
    ],
)
def test_bad_arguments_get_one_line(arguments: tuple[str, ...], code: int, said: str) -> None:
    got, output = lifecycle(*arguments)
    assert got == code
    assert said in output
    assert len(output.splitlines()) == 1


def test_labels_are_unique_within_an_exercise() -> None:
    for exercise in EXERCISES:
        seen = [(case.group, case.label) for case in islice(exercise.cases(), 500)]
        assert len(seen) == len(set(seen)), exercise.stage
