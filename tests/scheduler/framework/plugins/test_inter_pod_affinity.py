"""Near whom, far from whom: namespaces, all terms at once, the first of a group, and weights worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.plugins.inter_pod_affinity import InterPodAffinity
from lifecycle.scheduler.framework.status import SKIP
from tests.scheduler.cluster_model import make_node, make_pod, snapshot_of

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NODES = [make_node(name, labels={"zone": zone}) for name, zone in (("a1", "a"), ("a2", "a"), ("b1", "b"))]
NODES.append(make_node("nowhere"))
TEAMS = {"blue": {"team": "blue"}, "red": {"team": "red"}, "default": {}}


def term(key: str = "zone", *, app: str = "web", **more: Any) -> Object:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **more}


def pod(name: str, node: str = "", *, namespace: str = "default", app: str = "web", **affinity: Object) -> Object:
    made = make_pod(name, labels={"app": app})
    made["metadata"]["namespace"] = namespace
    if affinity:
        made["spec"]["affinity"] = affinity
    if node:
        made["spec"]["nodeName"] = node
    return made


def fits(new: Object, *placed: Object) -> set[str]:
    plugin, state, info, snapshot = (
        InterPodAffinity(TEAMS.__getitem__),
        CycleState(),
        PodInfo(new),
        snapshot_of(NODES, placed),
    )
    if plugin.pre_filter(state, info, snapshot)[1] == SKIP:
        return {node.name for node in snapshot.node_info_list}
    return {node.name for node in snapshot.node_info_list if plugin.filter(state, info, node) is None}


ALL = {"a1", "a2", "b1", "nowhere"}


@pytest.mark.parametrize(
    ("more", "namespace", "counts"),
    [
        ({}, "default", True),  # by default the pod's own namespace
        ({}, "blue", False),
        ({"namespaces": ["blue"]}, "blue", True),
        ({"namespaces": ["blue"]}, "default", False),
        ({"namespaceSelector": {}}, "red", True),  # an empty selector: every namespace
        ({"namespaceSelector": {"matchLabels": {"team": "blue"}}}, "blue", True),
        ({"namespaceSelector": {"matchLabels": {"team": "blue"}}}, "red", False),
        ({"namespaceSelector": {"matchLabels": {"team": "blue"}}}, "default", False),  # the own one is not added
        ({"namespaceSelector": {"matchLabels": {"team": "blue"}}, "namespaces": ["red"]}, "red", True),  # either
        ({"namespaceSelector": {"matchLabels": {"team": "blue"}}, "namespaces": ["red"]}, "blue", True),
    ],
)
def test_of_whose_pods_a_term_speaks(more: Object, namespace: str, counts: bool) -> None:
    other = pod("other", "a1", namespace=namespace)
    wants = pod("p", app="client", podAffinity={REQUIRED: [term(**more)]})
    assert fits(wants, other) == ({"a1", "a2"} if counts else set())
    avoids = pod("p", app="client", podAntiAffinity={REQUIRED: [term(**more)]})
    assert fits(avoids, other) == ({"b1", "nowhere"} if counts else ALL)
    # and the other way round: one that is there already, and wants nobody of that namespace near
    there = pod("there", "a1", app="client", podAntiAffinity={REQUIRED: [term(**more)]})
    assert fits(pod("p", namespace=namespace), there) == ({"b1", "nowhere"} if counts else ALL)


def test_all_terms_of_an_affinity_are_met_by_one_and_the_same_pod() -> None:
    both = {REQUIRED: [term(), term(app="web", labelSelector={"matchLabels": {"tier": "front"}})]}
    halves = [pod("h1", "a1"), pod("h2", "a1", app="none")]
    halves[1]["metadata"]["labels"]["tier"] = "front"
    assert fits(pod("p", app="client", podAffinity=both), *halves) == set()
    whole = pod("w", "b1")
    whole["metadata"]["labels"]["tier"] = "front"
    assert fits(pod("p", app="client", podAffinity=both), *halves, whole) == {"b1"}


def test_the_first_of_a_group_that_wants_its_own_kind_may_begin_anywhere_with_the_key() -> None:
    wants = {REQUIRED: [term()]}
    assert fits(pod("p", podAffinity=wants)) == {"a1", "a2", "b1"}
    assert fits(pod("p", app="client", podAffinity=wants)) == set()  # it is not of the kind it wants
    assert fits(pod("p", podAffinity=wants), pod("q", "b1")) == {"b1"}
    elsewhere = {REQUIRED: [term(namespaceSelector={"matchLabels": {"team": "blue"}})]}
    assert fits(pod("p", podAffinity=elsewhere)) == set()  # its own namespace is not among those
    assert fits(pod("p", namespace="blue", podAffinity=elsewhere)) == {"a1", "a2", "b1"}


def test_a_host_apart_is_not_a_zone_apart() -> None:
    apart = {REQUIRED: [term("kubernetes.io/hostname")]}
    assert fits(pod("p", podAntiAffinity=apart), pod("q", "a1")) == {"a2", "b1", "nowhere"}


def scores(new: Object, *placed: Object, hard_weight: int = 1) -> list[int] | None:
    """For a1, b1 and nowhere, normalized; None if the plugin has nothing to say."""
    plugin, state, info = InterPodAffinity(TEAMS.__getitem__, hard_weight), CycleState(), PodInfo(new)
    snapshot = snapshot_of(NODES, placed)
    nodes = [snapshot.node_info_map[name] for name in ("a1", "b1", "nowhere")]
    if plugin.pre_score(state, info, nodes, snapshot) == SKIP:
        return None
    return plugin.normalize_score(state, [plugin.score(state, info, node) for node in nodes])


def weighted(weight: int, **more: Any) -> Object:
    return {"weight": weight, "podAffinityTerm": term(**more)}


@pytest.mark.parametrize(
    ("new", "placed", "expected"),
    [
        # own wishes: 2 · 5 in zone a, 1 · 5 in zone b: 100 · (5 - 0) / (10 - 0)
        ({"podAffinity": {PREFERRED: [weighted(5)]}}, [("q1", "a1", {}), ("q2", "a2", {}), ("q3", "b1", {})], [100, 50, 0]),
        # own dislikes: -5 in zone a, 0 elsewhere
        ({"podAntiAffinity": {PREFERRED: [weighted(5)]}}, [("q1", "a1", {})], [0, 100, 100]),
        # others' wishes and dislikes: +8 in a, -2 in b: 100 · (0 + 2) / (8 + 2) = 20 for nowhere
        ({}, [("q1", "a1", {"podAffinity": {PREFERRED: [weighted(8)]}}),
              ("q2", "b1", {"podAntiAffinity": {PREFERRED: [weighted(2)]}})], [100, 0, 20]),
        # others' demands weigh one each
        ({}, [("q1", "a1", {"podAffinity": {REQUIRED: [term()]}})], [100, 0, 0]),
        # everybody's: a: own 3 + their 1, b: own 3 - their 6
        ({"podAffinity": {PREFERRED: [weighted(3)]}},
         [("q1", "a1", {"podAffinity": {REQUIRED: [term()]}}),
          ("q2", "b1", {"podAntiAffinity": {PREFERRED: [weighted(6)]}})], [100, 0, 42]),
        # cancelled out: there is something to say, and it is the same everywhere
        ({"podAffinity": {PREFERRED: [weighted(5)]}, "podAntiAffinity": {PREFERRED: [weighted(5)]}},
         [("q1", "a1", {})], [0, 0, 0]),
        ({}, [("q1", "a1", {})], None),
        ({"podAffinity": {PREFERRED: [weighted(5, app="absent")]}}, [("q1", "a1", {})], None),
    ],
)  # fmt: skip
def test_weights_add_up_per_domain(
    new: Object, placed: list[tuple[str, str, Object]], expected: list[int] | None
) -> None:
    assert scores(pod("p", **new), *(pod(name, node, **affinity) for name, node, affinity in placed)) == expected


@pytest.mark.parametrize(("weight", "expected"), [(0, None), (1, [100, 0, 0]), (9, [100, 0, 0])])
def test_what_a_demand_of_others_weighs_is_the_profiles_choice(weight: int, expected: list[int] | None) -> None:
    there = pod("q", "a1", podAffinity={REQUIRED: [term()]})
    assert scores(pod("p"), there, hard_weight=weight) == expected


@given(
    st.lists(st.sampled_from(["web", "db", "cache"]), max_size=30),
    st.lists(st.sampled_from([None, "In", "NotIn", "Exists"]), max_size=30),
    st.sampled_from(["web", "db", "none"]),
)
def test_no_term_that_matches_is_left_out_of_those_that_may(apps: list[str], words: list[str | None], app: str) -> None:
    terms = [term(app=name) for name in apps]
    for word in words:
        rule = {"key": "app", "operator": word or "In", "values": ["web", "db"] if word != "Exists" else []}
        both = {"matchLabels": {} if word else {"app": "web"}, "matchExpressions": [rule]}
        terms.append({"topologyKey": "zone", "labelSelector": both})
    info, other = PodInfo(pod("p", podAntiAffinity={REQUIRED: terms})), pod("o", app=app)
    expected = [each for each in info.required_anti_affinity_terms if each.matches(other)]
    found = [each for each in info.required_anti_affinity_about(other) if each.matches(other)]
    assert sorted(map(id, found)) == sorted(map(id, expected))


def test_of_two_thousand_terms_about_other_applications_none_is_looked_at() -> None:
    terms = [term(app=f"other-{number}") for number in range(2_000)]
    info = PodInfo(pod("p", podAntiAffinity={REQUIRED: [*terms, term(app="web"), term(app="web", key="host")]}))
    assert [each.topology_key for each in info.required_anti_affinity_about(pod("o"))] == ["zone", "host"]
    asked = 0

    def labels_of(namespace: str) -> dict[str, str]:
        nonlocal asked
        asked += 1
        return {}

    crowd = [pod(f"c{i}", "a1", podAntiAffinity={REQUIRED: terms}) for i in range(5)]
    plugin, snapshot = InterPodAffinity(labels_of), snapshot_of(NODES, crowd)
    assert plugin.pre_filter(CycleState(), PodInfo(pod("new")), snapshot) == (None, SKIP)
    assert asked == 0
