"""What a refused pod is told, word for word, where the recorded scenario does not go."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.failure_handler import NOTE_LENGTH_LIMIT, truncate_message
from lifecycle.scheduler.framework.types import Diagnosis, FitError
from tests.scheduler.cluster_model import Model, make_node, make_pod


def on_node(*names: str, **expressions: Any) -> Object:
    """Affinity as the pods of a DaemonSet have it."""
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]
    terms = [{"matchFields": [field], **expressions} for field in fields]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def test_nodes_that_nobody_looked_at_are_counted_with_the_plugin_that_left_them_out() -> None:
    model = Model([make_node(f"n{i}") for i in range(3)], batch=False)
    pod = make_pod("daemon", requests={"cpu": "64"}, affinity=on_node("n1"))
    assert model.place(pod) == (
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )


def test_a_named_node_that_does_not_exist_leaves_all_nodes_unlooked_at() -> None:
    model = Model([make_node("n0"), make_node("n1")], batch=False)
    assert model.place(make_pod("daemon", affinity=on_node("gone"))) == (
        "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )


def test_no_name_at_all_is_left_when_a_term_names_two_nodes() -> None:
    two = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("n0", "n1")]
    terms = {"nodeSelectorTerms": [{"matchFields": two}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    model = Model([make_node("n0"), make_node("n1")], batch=False)
    assert model.place(make_pod("daemon", affinity=affinity)) == (
        "0/2 nodes are available: pod affinity terms conflict."
    )


def test_a_refusal_without_any_reason_keeps_its_colon() -> None:
    assert str(FitError(2, Diagnosis())) == "0/2 nodes are available:"


@pytest.mark.parametrize(
    ("length", "kept"), [(NOTE_LENGTH_LIMIT, NOTE_LENGTH_LIMIT), (NOTE_LENGTH_LIMIT + 1, NOTE_LENGTH_LIMIT - 4)]
)
def test_an_event_holds_so_much_and_says_if_it_was_more(length: int, kept: int) -> None:
    cut = truncate_message("x" * length)
    assert cut == "x" * kept + (" ..." if kept < length else "")


def test_a_label_without_a_value_is_a_domain_of_its_own() -> None:
    """Nodes without the label are in no domain; they must not be taken for those whose label is empty."""
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "edge"}
    anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    model = Model([make_node("at-the-edge", labels={"edge": ""}), make_node("inside")], batch=False)
    model.cache.add_pod(make_pod("first", labels={"app": "web"}, nodeName="at-the-edge"))
    assert model.place(make_pod("second", labels={"app": "web"}, affinity=anti)) == "inside"


@pytest.mark.parametrize(
    ("weights", "scores"),
    [
        ((10, 60, 35), {"n0": 0, "n1": 200, "n2": 100}),  # the least liked gets nothing, however much it is liked
        ((40, 40, 40), {"n0": 0, "n1": 0, "n2": 0}),
        ((-10, -60, -35), {"n0": 200, "n1": 0, "n2": 100}),
    ],
)
def test_the_score_for_company_runs_from_the_least_to_the_most_liked_node(
    weights: tuple[int, ...], scores: dict[str, int]
) -> None:
    model = Model([make_node(f"n{i}") for i in range(3)], batch=False)
    preferred: dict[str, list[Object]] = {"podAffinity": [], "podAntiAffinity": []}
    for i, weight in enumerate(weights):
        model.cache.add_pod(make_pod(f"friend-{i}", labels={"name": f"f{i}"}, nodeName=f"n{i}"))
        term = {"labelSelector": {"matchLabels": {"name": f"f{i}"}}, "topologyKey": "kubernetes.io/hostname"}
        side = "podAffinity" if weight > 0 else "podAntiAffinity"
        preferred[side].append({"weight": abs(weight), "podAffinityTerm": term})
    affinity = {side: {"preferredDuringSchedulingIgnoredDuringExecution": of} for side, of in preferred.items() if of}
    assert model.decide(make_pod("p", affinity=affinity)).scores["InterPodAffinity"] == scores
