"""Every recorded scenario, asked again of an embedded cluster at the recorded pace: codes and fields."""

from __future__ import annotations

import pytest

from lifecycle.cluster.agree import agreement_with
from lifecycle.inspector import open_recording

SCENARIOS = {
    "admission": 1.0,
    "authn": 1.0,
    "corpus": 1.0,
    "discovery": 1.0,
    "etcd": 1.0,
    "kubelet": 0.98,
    "objects": 1.0,
    "scheduling": 1.0,
    "services": 0.90,
    "storage": 0.78,
}
"""Scenario → the share of its fields that has to be equal. What is missing of *storage* is the past: see known.yaml."""


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_agrees(scenario: str) -> None:
    table = agreement_with(open_recording(), scenario)
    assert table.fields_equal / table.total >= SCENARIOS[scenario], table.summary
    codes = [d for row in table.rows for d in row.comparison.differences if d.path == "/code"]
    assert codes == []


@pytest.mark.parametrize("scenario", ["admission", "scheduling"])
def test_the_second_recording_agrees_as_well(scenario: str) -> None:
    table = agreement_with(open_recording("kind-1.36.2-again"), scenario)
    assert table.fields_equal / table.total >= 0.98, table.summary  # a preempted pod, chosen among equals
