"""Scenarios as addresses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.playground.scenario import Scenario, ScenarioError, Step, format_scenario, parse_scenario

LINES = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=40).map(str.strip)
SCENARIOS = st.builds(
    Scenario,
    nodes=st.integers(1, 50),
    seed=st.integers(0, 10_000),
    speed=st.sampled_from((0.0, 0.1, 1.0, 60.0)),
    steps=st.lists(st.builds(Step, at=st.integers(0, 86_400).map(float), line=LINES), max_size=5).map(
        lambda steps: tuple(sorted(steps, key=lambda step: step.at))
    ),
)


@given(SCENARIOS)
def test_an_address_says_all_of_a_scenario(scenario: Scenario) -> None:
    assert parse_scenario(format_scenario(scenario)) == scenario


def test_an_empty_address_is_the_usual_cluster() -> None:
    assert parse_scenario("") == Scenario(nodes=3, seed=1, speed=1.0, steps=())


def test_steps_come_in_the_order_of_their_times() -> None:
    assert [step.line for step in parse_scenario("do=5+b&do=1+a").steps] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nodes=0", "nodes: 0 is not between 1 and 50"),
        ("nodes=many", "nodes: 'many' is not a number"),
        ("speed=-1", "speed: -1 is not between 0 and 1000"),
        ("do=soon+kubectl", "do: 'soon' is not a number"),
        ("do=nan+x", "do: nan is not between 0 and 86400"),
        ("color=red", "a scenario has nodes, seed, speed and do; not 'color'"),
        ("do=1+" + "x" * 16_001, "a line of 16001 characters is too long: 16000 at most"),
        ("&".join(["do=1+" + "x" * 12_001] * 4), "48004 characters in all lines are too many: 48000 at most"),
        ("&".join(["do=1+x"] * 201), "201 steps are too many: 200 at most"),
    ],
)
def test_what_is_no_scenario_is_refused_in_a_line(text: str, said: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        parse_scenario(text)
    assert str(refused.value) == said
