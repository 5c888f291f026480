"""The scheduling and binding tables: full agreement with every recorded decision; and a changed rule shows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from lifecycle.agreements.scheduler.binding import binding_agreement
from lifecycle.agreements.scheduler.scheduling import decide_again, logged_scores, scheduling_agreement
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.admission.pod_topology_labels import PodTopologyLabels
from lifecycle.compare import AgreementTable
from lifecycle.compare.freedoms import AMONG_EQUALS, why
from lifecycle.inspector import open_recording
from lifecycle.scheduler import schedule_pod
from lifecycle.scheduler.config import MULTI_POINT_DEFAULTS, Profile
from lifecycle.scheduler.framework.plugins import node_resources_fit
from lifecycle.scheduler.framework.plugins.default_binder import DefaultBinder
from lifecycle.scheduler.framework.plugins.image_locality import ImageLocality
from lifecycle.scheduler.framework.runtime.framework import Framework
from lifecycle.scheduler.profile import new_framework


def different(table: AgreementTable) -> list[str]:
    return [row.input for row in table.rows if not row.equal]


@pytest.mark.parametrize("name", ["kind-1.36.2", "kind-1.36.2-again"])
def test_every_recorded_pod_is_decided_alike(name: str) -> None:
    recording = open_recording(name)
    table = scheduling_agreement(recording)
    assert table.equal, table.unexplained[:3]
    assert len(table.rows) == 30
    assert sum(len(nodes) for scores in logged_scores(recording).values() for nodes in scores.values()) == 118


@pytest.mark.parametrize("name", ["kind-1.36.2", "kind-1.36.2-again"])
def test_refusals_are_worded_as_recorded_the_preemptor_s_too(name: str) -> None:
    recording = open_recording(name)
    refused = {d.name: d for d in decide_again(recording) if d.refusal}
    preemptor = refused.pop("preemptor")
    assert {n: d.refusal for n, d in refused.items()} == {n: d.recorded_refusal for n, d in refused.items()}
    assert sorted(refused) == [
        "affinity-absent", "bad-pvc", "cache-none", "port-3", "selector-none", "too-big", "want-cp", "web-3",
    ]  # fmt: skip
    events = {
        event["reason"]: event["message"]
        for exchange in recording.exchanges("scheduling")
        if exchange.path.endswith("/events")
        for event in exchange.response.get("items") or ()
        if event["involvedObject"]["name"] == "preemptor"
    }
    assert preemptor.refusal == events["FailedScheduling"]
    assert events["Scheduled"].endswith(f"to {preemptor.nominated}")


def scored(name: str) -> dict[str, dict[str, int]]:
    """Pod → node → recorded sum, for the pods whose nodes did not all have the same one."""
    sums: dict[str, dict[str, int]] = {}
    for pod, scores in logged_scores(open_recording(name)).items():
        for of_plugin in scores.values():
            for node, score in of_plugin.items():
                sums.setdefault(pod, {})[node] = sums.get(pod, {}).get(node, 0) + score
    return {pod: nodes for pod, nodes in sums.items() if len(set(nodes.values())) > 1}


@pytest.mark.parametrize("name", ["kind-1.36.2", "kind-1.36.2-again"])
def test_the_node_with_the_lowest_sum_turns_every_pod_red_whose_sums_differ(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule_pod, "best_total", min)
    assert set(different(scheduling_agreement(open_recording(name)))) == set(scored(name)) != set()


@pytest.mark.parametrize("name", ["kind-1.36.2", "kind-1.36.2-again"])
def test_a_node_that_is_not_there_turns_every_scored_pod_red(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule_pod.Algorithm, "_select_host", lambda self, names, totals: "nowhere")
    assert set(different(scheduling_agreement(open_recording(name)))) == set(logged_scores(open_recording(name)))


@pytest.mark.parametrize("turn", [0, -1])
def test_another_node_is_granted_only_among_computed_equals_and_says_how_many(
    turn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule_pod.Algorithm, "_choose", lambda self, equals: equals[turn])
    decisions = {d.name: d for d in decide_again(open_recording())}
    table = scheduling_agreement(open_recording())
    assert table.equal
    tied = {row.input: row for row in table.rows if "with the highest sum" in row.ours}
    assert set(tied) == {"plain", "big"}  # the rest is decided by the sums, or by having no choice
    others = [name for name in tied if decisions[name].host != decisions[name].recorded_host]
    assert table.freedoms == Counter({AMONG_EQUALS: len(others)} if others else {})
    assert why(AMONG_EQUALS)
    assert all(row.ours == f"{decisions[name].host}, one of the 2 with the highest sum, " + row.ours.split(", ")[-1]
               for name, row in tied.items())  # fmt: skip


def test_dice_fell_for_both() -> None:
    """Over the two turns each tie is once the recorded node and once not: the freedom is needed, and seen."""
    granted = 0
    for turn in (0, -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(schedule_pod.Algorithm, "_choose", lambda self, equals, turn=turn: equals[turn])
            granted += scheduling_agreement(open_recording()).freedoms[AMONG_EQUALS]
    assert granted == 2


def test_a_wrong_weight_turns_the_scored_pods_red() -> None:
    def heavier() -> Framework:
        weights = {**dict(MULTI_POINT_DEFAULTS), ImageLocality.name: 3}
        return new_framework(Profile(multi_point=tuple(weights.items())))

    table = scheduling_agreement(open_recording(), heavier)
    assert len(different(table)) == len(
        [s for s in logged_scores(open_recording()).values() if any(s["ImageLocality"].values())]
    )


def test_another_word_turns_the_refusals_red(monkeypatch: pytest.MonkeyPatch) -> None:
    real = node_resources_fit.insufficient_resources
    monkeypatch.setattr(node_resources_fit, "insufficient_resources", lambda *a: [(r.lower(), h) for r, h in real(*a)])
    assert different(scheduling_agreement(open_recording())) == ["too-big"]


def test_every_recorded_binding_is_ours() -> None:
    table = binding_agreement(open_recording())
    assert table.equal, table.unexplained[:3]
    assert [len([r for r in table.rows if r.stage == stage]) for stage in ("request", "effect")] == [15, 21]


def test_a_binding_without_uid_or_without_labels_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    bind = DefaultBinder.bind

    async def by_name_only(self: DefaultBinder, state: Any, pod: Object, node: str) -> None:
        await bind(self, state, {**pod, "metadata": {**pod["metadata"], "uid": ""}}, node)

    monkeypatch.setattr(DefaultBinder, "bind", by_name_only)
    monkeypatch.setattr(PodTopologyLabels, "admit", lambda self, attributes: None)
    rows = binding_agreement(open_recording()).rows
    assert all(not row.equal for row in rows if row.stage == "request")
    assert any(not row.equal for row in rows if row.stage == "effect")
