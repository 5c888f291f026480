"""Every recorded scenario, asked again of an embedded cluster at the recorded pace: codes and fields. And every row can say no."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from lifecycle.cli.compare import COMPUTED
from lifecycle.cluster.agree import agreement_with
from lifecycle.compare import AgreementTable
from lifecycle.compare import replay as replayed
from lifecycle.compare.observations import Observations
from lifecycle.compare.scenarios import compare_exchanges
from lifecycle.inspector import Exchange, open_recording

pytestmark = pytest.mark.xdist_group("agree everywhere")  # each scenario is played once

EXPLAINED: dict[str, dict[str, int]] = {
    "admission": {},
    "authn": {},
    "authz": {},
    "corpus": {},
    "discovery": {},
    "etcd": {},
    "kubelet": {
        "image-id-of-two-names": 6,
        "crash-loop-caught-at-another-turn": 10,
        "crash-loop-a-turn-further": 2,
        "crash-loop-in-managed-fields": 4,
        "crash-loop-told-more-often": 4,
        "mounts-are-tried-a-little-late": 1,
        "programs-do-not-run": 11,
    },
    "objects": {},
    "scheduling": {},
    "services": {},
    "storage": {},
}
"""Scenario → the known disagreements, counted."""


@cache
def played(scenario: str) -> tuple[AgreementTable, Observations, Observations]:
    """The table, and what both sides told."""
    sides: list[Observations] = []
    compare = replayed.compare_observations

    def keep(name: str, ours: Observations, theirs: Observations, *rest: Any, **more: Any) -> AgreementTable:
        sides.extend((ours, theirs))
        return compare(name, ours, theirs, *rest, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replayed, "compare_observations", keep)
        table = agreement_with(open_recording(), scenario)
    return table, sides[0], sides[1]


@pytest.mark.parametrize("scenario", EXPLAINED)
def test_a_scenario_agrees_but_for_what_is_listed(scenario: str) -> None:
    table, _, _ = played(scenario)
    assert [(question, d.path) for question, d in table.unexplained] == []
    assert {known.id: count for known, count in table.known.items()} == EXPLAINED[scenario]
    codes = [d for row in table.rows for d in row.comparison.differences if d.path == "/code"]
    assert codes == []


@pytest.mark.parametrize("scenario", ["admission", "scheduling", "storage", "corpus"])
def test_the_second_recording_agrees_as_well(scenario: str) -> None:
    table = agreement_with(open_recording("kind-1.36.2-again"), scenario)
    assert table.unexplained == []


def spoilt(exchange: Exchange) -> Exchange:
    """The same answer with one thing more to it."""
    answer = exchange.response
    if isinstance(answer, dict):
        return replace(exchange, response={**answer, "spoilt": True})
    forms = {'{"type"': '{"type":"ADDED","object":{"kind":"Spoilt"}}\n', "apiVersion:": "spoilt: true\n"}
    more = next((more for begins, more in forms.items() if str(answer).startswith(begins)), "spoilt")
    return replace(exchange, response=f"{answer}{more}", status=exchange.status + (answer is None))


def red(table: AgreementTable) -> set[int]:
    return {index for index, row in enumerate(table.rows) if row.unexplained}


@pytest.mark.parametrize("scenario", COMPUTED)
def test_a_spoilt_answer_turns_its_row_red_and_no_other(scenario: str) -> None:
    """One half of the answers is spoilt, then the other. What watchers saw, and the audit log, are spoilt in tests/compare."""
    honest, ours, theirs = played(scenario)

    def table(exchanges: Iterable[Exchange]) -> AgreementTable:
        return compare_exchanges(
            scenario, list(exchanges), theirs.exchanges, "ours", "theirs",
            placements=(ours.placements(), theirs.placements()),
        )  # fmt: skip

    before = red(table(ours.exchanges))
    rows = range(len(ours.exchanges))
    assert len(honest.rows) >= len(rows) > 20
    for half in (set(rows[::2]), set(rows[1::2])):
        found = red(table(spoilt(each) if i in half else each for i, each in enumerate(ours.exchanges)))
        assert found - before == half - before
