"""Our answers to what a bare API server was asked in the scenario *flow-control*."""

from __future__ import annotations

from lifecycle.agreements.apiserver.flow_control import flow_control_agreement
from lifecycle.agreements.bare_server import BARE
from lifecycle.inspector import open_recording


def test_every_answer_is_the_recorded_one() -> None:
    table = flow_control_agreement(open_recording(BARE))
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == len(open_recording(BARE).exchanges("flow-control")) > 40


def test_the_first_schema_by_precedence_and_then_by_name_has_the_request() -> None:
    rows = {(row.stage, row.input): row.ours for row in flow_control_agreement(open_recording(BARE)).rows}
    tom = "GET /apis/apps/v1/namespaces/flows/deployments"
    assert rows["tom, a tester", tom] == "a-first-by-name"
    assert rows["tom, a tester, after a change", tom] == "b-second-by-name"
