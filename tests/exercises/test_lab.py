"""What a lab says to an answer: none yet, right, or not yet with a word that helps; and the score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lifecycle.exercises.lab import Lab, Mistake
from lifecycle.exercises.lab_answer import agrees, differing, is_open, spoilt

SOLUTION = """
from lifecycle.exercises.lab import Mistake

your_kind = "Status"
your_order = ["a", "b", "c"]
your_limits = {"least": 3, "most": 4}


def your_double(number):
    return 2 * number


MISTAKES = [
    Mistake("kind", "Binding", "Nothing of that kind is kept."),
    Mistake("order", {0: "b", 1: "a"}, "The first comes first."),
    Mistake("limits", {"least": 2}, "Round down."),
    Mistake("double", abs, "Twice, not once.", seen=lambda came: came == [1, 2]),
    Mistake("double", abs, "Never said.", seen=lambda came: came["no such thing"]),
]
"""


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    (tmp_path / "recordings").mkdir()
    (tmp_path / "labs" / "solutions").mkdir(parents=True)
    (tmp_path / "labs" / "solutions" / "small.py").write_text(SOLUTION)
    monkeypatch.setenv("LIFECYCLE_RECORDINGS", str(tmp_path / "recordings"))
    return Lab("small")


def gap(number: int) -> int:
    raise NotImplementedError


def twice(double: Any) -> list[int]:
    print("played")
    return [double(1), double(2)]


def test_a_gap_is_not_answered_and_nothing_is_played(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    def must_not_be_asked() -> Any:
        raise AssertionError

    lab.check("kind", ..., must_not_be_asked)
    lab.check("order", ["a", ..., "c"], must_not_be_asked)
    lab.check("limits", {"least": ..., "most": 4}, must_not_be_asked)
    lab.check("double", gap, must_not_be_asked, play=lambda _: must_not_be_asked())
    lab.score()
    said = capsys.readouterr().out.splitlines()
    assert said[:4] == [f"{name}: not answered yet" for name in ("kind", "order", "limits", "double")]
    assert said[4:] == ["0 of 4", "still to do: kind, order, limits, double"]


def test_code_that_still_calls_a_gap_is_not_answered(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.check("double", lambda number: gap(number), [2, 4], play=twice)
    assert capsys.readouterr().out == "double: not answered yet\n"


def test_what_a_scene_prints_is_shown_to_whoever_is_right(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    def scene() -> str:
        print("the scene")
        return "Status"

    lab.check("kind", "Pod", scene)
    assert capsys.readouterr().out == "kind: not yet.\n"
    lab.check("kind", "Status", scene)
    lab.check("double", lambda number: 2 * number, [2, 4], play=twice)
    assert capsys.readouterr().out == "kind: right\nthe scene\ndouble: right\nplayed\n"


def test_a_common_mistake_gets_its_word(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.check("kind", "Binding", "Status")
    lab.check("order", ("b", "a", "x"), ["a", "b", "c"])
    lab.check("limits", {"least": 2, "most": 9}, {"least": 3, "most": 4})
    lab.check("double", abs, [2, 4], play=twice)
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "kind: not yet. Nothing of that kind is kept.",
        "order: not yet, 0 of 3; look again at no. 1, no. 2, no. 3. The first comes first.",
        "limits: not yet, 0 of 2; look again at least, most. Round down.",
        "double: not yet, 0 of 2; look again at no. 1, no. 2. Twice, not once.",
    ]


def test_another_mistake_gets_none(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.check("limits", {"least": 3, "most": 9}, {"least": 3, "most": 4})
    lab.check("double", lambda number: 7, [2, 4], play=twice)
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "limits: not yet, 1 of 2; look again at most.",
        "double: not yet, 0 of 2; look again at no. 1, no. 2.",
    ]


def test_code_that_raises_is_told_what(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.check("double", lambda number: number["x"], [2, 4], play=twice)
    assert capsys.readouterr().out.startswith("double: not yet. It raised TypeError: ")


def test_the_score_follows_the_last_check(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.check("kind", "Status", "Status")
    lab.check("limits", {"least": 3.4, "most": 4}, {"least": 3, "most": 4}, within=0.5)
    lab.score()
    lab.check("kind", "Pod", "Status")
    lab.score()
    said = capsys.readouterr().out.splitlines()
    assert said[2:4] == ["2 of 4", "still to do: order, double"]
    assert said[5:] == ["1 of 4", "still to do: kind, order, double"]


def test_many_parts_are_counted_and_four_are_named(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.check("order", list(range(20)), list(range(1, 21)))
    assert "0 of 20; look again at no. 1, no. 2, no. 3, no. 4 and 16 more" in " ".join(capsys.readouterr().out.split())


def test_a_question_that_is_not_asked_is_an_error(lab: Lab) -> None:
    with pytest.raises(KeyError, match="'colour' is none of kind, order, limits, double"):
        lab.check("colour", "red", "red")


def test_a_lab_without_a_solution_is_an_error(lab: Lab) -> None:
    with pytest.raises(FileNotFoundError, match=r"large\.py"):
        Lab("large")


def test_answers_agree_whatever_holds_them() -> None:
    assert agrees([1, (2, 3)], (1, [2, 3]))
    assert agrees({"a": 1.04}, {"a": 1}, within=0.05)
    assert not agrees({"a": 1, "b": 2}, {"a": 1})
    assert not agrees([1, 2], [1])
    assert agrees(None, None)
    assert not agrees(None, "None")
    assert differing([1, 2, 3], [1, 5]) == [1, 2]
    assert differing("x", "y") == [""]


def test_a_gap_is_seen_wherever_it_is() -> None:
    assert is_open({"a": [1, (...,)]})
    assert is_open(gap)
    assert not is_open({"a": None})
    assert not is_open(twice)


def test_a_mistake_of_parts_leaves_the_others_right() -> None:
    assert spoilt([1, 2, 3], {1: 7}) == [1, 7, 3]
    assert spoilt({"a": 1, "b": 2}, {"b": 0}) == {"a": 1, "b": 0}
    assert spoilt("Status", "Pod") == "Pod"
    assert Mistake("q", {1: 7}, "").made_by([0, 7, 3], [1, 2, 3])
    assert not Mistake("q", {1: 7}, "").made_by([0, 2, 3], [1, 2, 3])
    assert Mistake("q", [1, 2], "").made_by((1, 2), [1, 2, 3])
    assert not Mistake("q", [1, 2], "").made_by([1, 7], [1, 2, 3])
