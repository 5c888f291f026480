"""Scenarios: the same from the same seed, shrunk to what fails, and told as a command."""

from __future__ import annotations

import pytest

from tests.chaos import __main__ as command
from tests.chaos.play import play
from tests.chaos.scenario import Scenario
from tests.chaos.shrink import shrink


def test_a_seed_is_a_scenario() -> None:
    assert Scenario.draw(7) == Scenario.draw(7)
    assert Scenario.draw(7) != Scenario.draw(8)


def test_a_scenario_is_played_the_same_twice() -> None:
    first, second = (play(Scenario.draw(5)).history.changes for _ in range(2))
    assert first == second


def test_what_fails_is_shrunk_to_the_parts_that_it_takes() -> None:
    scenario = Scenario.draw(11)
    needed = {"f1", "a2", "a3"}
    small = shrink(scenario, lambda candidate: ["x: y"] if needed <= set(candidate.parts) else [], ["x: z"])
    assert set(small.parts) == needed
    assert small.command() == 'make chaos N=1 SEED=11 KEEP="f1 a2 a3"'
    assert scenario.command() == "make chaos N=1 SEED=11"
    assert Scenario.draw(11).keeping(small.parts) == small


def test_another_problem_does_not_count() -> None:
    scenario = Scenario.draw(11)
    small = shrink(
        scenario, lambda candidate: ["end state: b"] if candidate == scenario else ["tasks left: a"], ["end state: a"]
    )
    assert small == scenario


def test_the_command_says_what_failed_and_how_to_see_it_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "judge", lambda scenario: ["end state: a"] if "f0" in scenario.parts else [])
    assert command.main(["--n", "2", "--seed", "3"]) == 1
    said = capsys.readouterr().out
    assert 'again: make chaos N=1 SEED=3 KEEP="f0"' in said
    assert "2 seeds in" in said
    assert command.main(["--n", "1", "--seed", "3", "--keep", "f9", "a1"]) == 2
    assert "seed 3 has no part f9" in capsys.readouterr().err


def test_the_command_is_content_when_nothing_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "judge", lambda scenario: [])
    assert command.main(["--n", "3"]) == 0
